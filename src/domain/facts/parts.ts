// Common parts of several kinds of facts.
import { type Money } from '../money.js';

/** A time in UTC, as ISO 8601. */
export type Time = string;

/** One source's report on money: an event, an answer, a read, or the books. */
export type Seen = {
  readonly source: 'event' | 'answer' | 'read' | 'books';
  /** The event's id, or the name of the payment in the books. Null: the source has no name. */
  readonly id: string | null;
  readonly link?: string;
  readonly payment?: string | null;
  readonly charge?: string | null;
  readonly customer?: string;
  /** Null: the source names no amount. */
  readonly money: Money | null;
  readonly at: Time | null;
};

/**
 * A call with a final refusal. `said`: the peer's own words. A fact with only these words changed counts as the same
 * fact.
 */
export type Refused = {
  readonly call: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly said: string;
};

/** A link or a proforma invoice at the MoR, with money the MoR announced on it. `charge`: of the first payment. */
export type OnObject = { readonly object: string; readonly reference: string | null; readonly charge: string | null };

/**
 * The disputed sum from the MoR. `unread`: the MoR's text, if the text has two possible readings. Both null: the MoR
 * named no sum.
 */
export type Disputed = { readonly amount: Money | null; readonly unread: string | null };

/**
 * Why a lost payment is not marked on its invoice. `for-nothing`: it settled nothing there. `not-booked`: the books do
 * not hold it for this invoice. Null: it is marked.
 */
export type Apart = 'for-nothing' | 'maybe-for-nothing' | 'not-booked' | null;

/** How a person marks the invoice at Stripe, so Crossbill recognises the payment there. */
export type ByHand =
  | { readonly how: 'report'; readonly amount: Money; readonly reference: string }
  | { readonly how: 'attach'; readonly record: string }
  | { readonly how: 'metadata'; readonly payment: string; readonly reference: string }
  | { readonly how: 'out-of-band' };
