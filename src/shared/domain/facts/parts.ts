// Types for several kinds of facts.
import { type Money } from '../money.js';

/** A time in UTC, as ISO 8601. */
export type Time = string;

/** A statement of one source about money. The source is an event, a reply, a read, or the ledger. */
export type Seen = {
  readonly source: 'event' | 'answer' | 'read' | 'books';
  /** The event's id, or the id of the booked payment. Null: the source has no id. */
  readonly id: string | null;
  readonly link?: string;
  readonly payment?: string | null;
  readonly charge?: string | null;
  readonly customer?: string;
  /** The amount. Null: the source gives none. */
  readonly money: Money | null;
  readonly at: Time | null;
};

/**
 * A call refused for good by Stripe, the MoR or the relay. `said`: the words of the refusal. If only these words
 * change, the fact stays the same.
 */
export type Refused = {
  readonly call: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly said: string;
};

/** A payment link or a proforma invoice on which the MoR announced money. `charge`: the charge of the first payment. */
export type OnObject = { readonly object: string; readonly reference: string | null; readonly charge: string | null };

/**
 * The sum of a dispute, from the MoR. `unread`: the MoR's text, if it has two readings ("300" EUR may mean 300.00 or
 * 3.00), so Crossbill takes neither. Both null: the MoR named no sum.
 */
export type Disputed = { readonly amount: Money | null; readonly unread: string | null };

/**
 * Why the payment behind a loss does not settle its invoice. `for-nothing`: the payment paid no invoice.
 * `maybe-for-nothing`: nobody can say if the payment paid an invoice. `not-booked`: the payment is not in the ledger.
 * Null: the payment paid an invoice.
 */
export type Apart = 'for-nothing' | 'maybe-for-nothing' | 'not-booked' | null;

/**
 * Why nothing is due on an invoice that Stripe shows as paid. `credited`: credit notes over all of it. `balance`: the
 * customer's balance. `covered`: both, or unknown which of them. `empty`: a total of zero or less.
 */
export type NothingDue = 'credited' | 'balance' | 'covered' | 'empty';

/** How a person marks the invoice at Stripe, so that Crossbill recognises the payment. */
export type ByHand =
  | { readonly how: 'report'; readonly amount: Money; readonly reference: string }
  | { readonly how: 'attach'; readonly record: string }
  | { readonly how: 'metadata'; readonly payment: string; readonly reference: string }
  | { readonly how: 'out-of-band' };
