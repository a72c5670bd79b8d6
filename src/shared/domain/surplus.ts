// The surplus of an invoice: payments beyond the amount due. A refund may return a part of it.
import { type LaneRows } from './model.js';
import { type PaymentRow } from './payment-row.js';
import { type RefundRow } from './refund-row.js';
import { type ReviewRow } from './review-row.js';

export type Overpaid = {
  readonly minor: bigint;
  readonly by: readonly PaymentRow[];
  /** True: Stripe credited the surplus to the customer's balance. */
  readonly credited: boolean;
};

/** The surplus of an invoice, including money already refunded. Null: there is no surplus. */
export function overpaid(lane: Pick<LaneRows, 'invoice' | 'payments'>): Overpaid | null {
  const i = lane.invoice;
  const by = lane.payments
    .filter((p) => p.mark === 'confirmed' && p.amount !== null)
    .toSorted((a, b) => (a.succeededAt?.getTime() ?? 0) - (b.succeededAt?.getTime() ?? 0) || (a.id < b.id ? -1 : 1));
  // A person accepted a payment above the amount due, so the surplus is settled.
  if (i === null || by.some((p) => p.waived.includes('surplus'))) return null;
  const credited = i.amountOverpaid ?? 0n;
  const minor = credited > 0n ? credited : notShown(lane, by);
  return minor > 0n ? { minor, by, credited: credited > 0n } : null;
}

/**
 * The overpaid amount that Stripe does not show. If an invoice is paid "out of band", Stripe shows only the amount due
 * as paid, even if the customer paid more. In API versions before 2025-03-31 Stripe's amount paid leaves out money paid
 * out of band, so an amount paid of zero proves nothing.
 */
function notShown({ invoice }: Pick<LaneRows, 'invoice'>, by: readonly PaymentRow[]): bigint {
  const shown = invoice?.amountPaid ?? 0n;
  if (invoice?.platformStatus !== 'paid' || shown <= 0n || !by.some((p) => p.markMode === 'out_of_band')) return 0n;
  const taken = by.reduce((sum, p) => sum + (p.amount ?? 0n), 0n);
  return taken > shown ? taken - shown : 0n;
}

/**
 * The part of a refund that returns the surplus. Crossbill computes it when it shows the refund on Stripe. Zero if a
 * person left the surplus to the customer.
 */
export function surplusIn(lane: LaneRows, refund: RefundRow): bigint {
  const paid = overpaid(lane);
  if (paid === null || !paid.by.some((p) => p.id === refund.paymentRowId)) return 0n;
  const kept = (item: ReviewRow): boolean => item.resolution === 'apply' || item.resolution === 'dismiss';
  if (lane.reviews.some((r) => isSurplus(r) && kept(r))) return 0n;
  const before = lane.refunds.reduce((sum, r) => (r.id === refund.id ? sum : sum + r.surplus), 0n);
  const left = paid.minor - before;
  return left <= 0n ? 0n : left < refund.amount ? left : refund.amount;
}

/** The part of a refund with a credit note: everything except a returned surplus and what the invoice cannot take. */
export function saleOf(refund: RefundRow): bigint {
  return refund.amount - refund.surplus - (refund.beyondSale ?? 0n);
}

/** The part of the surplus already refunded. */
export function surplusRefunded(refunds: readonly RefundRow[]): bigint {
  return refunds.reduce((sum, r) => (r.counted ? sum + r.surplus : sum), 0n);
}

export function isSurplus({ topic }: ReviewRow): boolean {
  return topic === 'overpaid';
}
