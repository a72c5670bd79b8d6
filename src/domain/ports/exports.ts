// Reading for accountants: whole months, row by row, in pages that nobody holds in memory together.
import { type PaymentRow, type RefundRow } from '../model.js';
import { type LedgerRow, type Span } from './books.js';

/** A payment whose money the MoR took, with the entry that booked it. */
export type CollectedPayment = { readonly entry: LedgerRow; readonly payment: PaymentRow };

/** A refund whose money the MoR gave back, with the entry that booked it. */
export type PaidRefund = { readonly entry: LedgerRow; readonly payment: PaymentRow; readonly refund: RefundRow };

/** Some rows, and how far the whole is, from 0 to 1. */
export type ExportPage<R> = { readonly rows: readonly R[]; readonly part: number };
export type Export<R> = AsyncIterable<ExportPage<R>>;

/**
 * Each is of the stretch of time given; of all time without. Oldest first; entries that were recorded late stand where they belong by
 * their time. What is written while an export runs comes too, as far as it is there when its page is read.
 */
export abstract class Exports {
  /** By when it happened. */
  abstract ledger(span: Span): Export<LedgerRow>;
  /** By when the money was taken: the payments that the trial balance of that time counts, and no others. */
  abstract payments(span: Span): Export<CollectedPayment>;
  /** By when the money was given back. */
  abstract refunds(span: Span): Export<PaidRefund>;
}
