// What facts of several kinds have in common.
import { type Money } from '../money.js';

/** UTC, as ISO 8601. */
export type Time = string;

/** One event, answer, read or entry of the books that speaks of money. */
export type Seen = {
  readonly source: 'event' | 'answer' | 'read' | 'books';
  /** The event's id, or the name of the payment in the books; null: it has none. */
  readonly id: string | null;
  readonly link?: string;
  readonly payment?: string | null;
  readonly charge?: string | null;
  readonly customer?: string;
  /** Null: it names no amount. */
  readonly money: Money | null;
  readonly at: Time | null;
};

/** A call that was refused for good. `said`: the peer's own words, which are no news when only they differ. */
export type Refused = {
  readonly call: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly said: string;
};

/** A link or proforma invoice at the MoR that money was announced on. `charge`: of its first payment. */
export type OnObject = { readonly object: string; readonly reference: string | null; readonly charge: string | null };

/** A sum that the MoR named, or wrote in a way that can be read as two. Both null: it named none. */
export type Disputed = { readonly amount: Money | null; readonly unread: string | null };

/** Money that no mark has joined to its invoice, or that is not in the books; null: it was marked. */
export type Apart = 'for-nothing' | 'maybe-for-nothing' | 'not-booked' | null;

/** How a person marks the invoice so that Crossbill finds this payment on it. */
export type ByHand =
  | { readonly how: 'report'; readonly amount: Money; readonly reference: string }
  | { readonly how: 'attach'; readonly record: string }
  | { readonly how: 'metadata'; readonly payment: string; readonly reference: string }
  | { readonly how: 'out-of-band' };
