// The lane of one invoice, as plain values: its rows, and one decision's additions. Amounts are smallest units, times UTC.
import { type InvoiceRow } from './invoice-row.js';
import { type RefundRow } from './refund-row.js';
import { type MorObjectRow } from './mor-object.js';
import { type PaymentRow, type AttemptRow } from './payment-row.js';
import { type CallRow } from './call-row.js';
import { type ReviewRow } from './review-row.js';
import { type LedgerEntry } from './ledger-entry.js';

/** One line of an invoice's timeline. */
export type JournalLine = {
  readonly lane: string;
  readonly at: Date;
  readonly kind: 'event' | 'decision' | 'call' | 'person';
  /** The id of the line's event, call, review item or refund. */
  readonly ref: string | null;
  readonly text: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>> | null;
};

/** The rows of a lane, from a state or a draft, for functions that only read them. */
export type LaneRows = Omit<LaneState, 'entries' | 'journal'>;

/** The loaded rows of one lane, and the additions of one decision. */
export type LaneState = {
  readonly lane: string;
  readonly invoice: InvoiceRow | null;
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly RefundRow[];
  /** The MoR's objects for the invoice. */
  readonly objects: readonly MorObjectRow[];
  /** All calls, also calls with a reply: the next key of a call needs the number of its last key. */
  readonly calls: readonly CallRow[];
  /** The review items, open and resolved. */
  readonly reviews: readonly ReviewRow[];
  /** Only new entries. Crossbill never loads old entries. */
  readonly entries: readonly LedgerEntry[];
  readonly journal: readonly JournalLine[];
};
