// The common part of several kinds of facts.
import { type Money } from '../money.js';

/** UTC, as ISO 8601. */
export type Time = string;

/** One event, answer, read or entry of the books about money. */
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

/** A finally refused call. `said`: the peer's own words, no news if only they differ. */
export type Refused = {
  readonly call: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly said: string;
};

/** A link or proforma invoice at the MoR with announced money. `charge`: of its first payment. */
export type OnObject = { readonly object: string; readonly reference: string | null; readonly charge: string | null };

/** The MoR's sum, or its text with two possible readings. Both null: it named none. */
export type Disputed = { readonly amount: Money | null; readonly unread: string | null };

/** Money without a mark on its invoice, or outside the books; null: marked. */
export type Apart = 'for-nothing' | 'maybe-for-nothing' | 'not-booked' | null;

/** How a person marks the invoice so Crossbill finds this payment on it. */
export type ByHand =
  | { readonly how: 'report'; readonly amount: Money; readonly reference: string }
  | { readonly how: 'attach'; readonly record: string }
  | { readonly how: 'metadata'; readonly payment: string; readonly reference: string }
  | { readonly how: 'out-of-band' };
