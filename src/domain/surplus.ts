// What was paid for an invoice beyond the amount due, and how much of a refund gives that back.
import { type LaneRows, type PaymentRow, type RefundRow, type ReviewRow } from './model.js';

export type Overpaid = {
  readonly minor: bigint;
  readonly by: readonly PaymentRow[];
  /** Stripe put it on the customer's balance. */
  readonly credited: boolean;
};

/** What was paid beyond the amount due, whatever was given back of it since. */
export function overpaid(s: Pick<LaneRows, 'invoice' | 'payments'>): Overpaid | null {
  const i = s.invoice;
  const by = s.payments
    .filter((p) => p.mark === 'confirmed' && p.amount !== null)
    .toSorted((a, b) => (a.succeededAt?.getTime() ?? 0) - (b.succeededAt?.getTime() ?? 0) || (a.id < b.id ? -1 : 1));
  // Whoever applied a payment of more than was due has decided already.
  if (i === null || by.some((p) => p.waived.includes('surplus'))) return null;
  const credited = i.amountOverpaid ?? 0n;
  const minor = credited > 0n ? credited : notShown(s, by);
  return minor > 0n ? { minor, by, credited: credited > 0n } : null;
}

/**
 * Out of band Stripe takes what is due for paid, whatever was taken. Event shapes of before 2025-03-31 count such money as nothing
 * paid, which tells nothing.
 */
function notShown({ invoice }: Pick<LaneRows, 'invoice'>, by: readonly PaymentRow[]): bigint {
  const shown = invoice?.amountPaid ?? 0n;
  if (invoice?.platformStatus !== 'paid' || shown <= 0n || !by.some((p) => p.markMode === 'out_of_band')) return 0n;
  const taken = by.reduce((sum, p) => sum + (p.amount ?? 0n), 0n);
  return taken > shown ? taken - shown : 0n;
}

/** How much of a refund that is about to be shown on Stripe gives a surplus back; nothing, once a person left that to the customer. */
export function surplusIn(s: LaneRows, refund: RefundRow): bigint {
  const paid = overpaid(s);
  if (paid === null || !paid.by.some((p) => p.id === refund.paymentRowId)) return 0n;
  const kept = (r: ReviewRow): boolean => r.resolution === 'apply' || r.resolution === 'dismiss';
  if (s.reviews.some((r) => isSurplus(r) && kept(r))) return 0n;
  const before = s.refunds.reduce((sum, r) => (r.id === refund.id ? sum : sum + r.surplus), 0n);
  const left = paid.minor - before;
  return left <= 0n ? 0n : left < refund.amount ? left : refund.amount;
}

/** What a refund takes off the sale: all of it but a surplus. */
export function saleOf(r: RefundRow): bigint {
  return r.amount - r.surplus;
}

/** What was given back of a surplus so far. */
export function surplusRefunded(refunds: readonly RefundRow[]): bigint {
  return refunds.reduce((sum, r) => (r.counted ? sum + r.surplus : sum), 0n);
}

export function isSurplus({ topic }: ReviewRow): boolean {
  return topic === 'overpaid';
}
