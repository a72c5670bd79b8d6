// Counts refunds in their payment, and looks again at a payment that a refund left parked.
import { type RefundRow, moveMirror } from '../../../shared/domain/refund-row.js';
import { type Lane } from '../../../engine/lane.js';
import { paymentStatus, isOnItsWay } from '../../../shared/domain/status.js';
import { refundPaid } from '../../../shared/domain/postings.js';
import { PARKING } from '../../books/rules/payment-state.js';
import { paymentName } from '../../../shared/domain/payment-name.js';
import { moveMark } from '../../../shared/domain/payment-row.js';

/** Sorts refunds by the MoR's running total. Refunds without a total come last, by age. Arrival order has no effect. */
export function inOrder(one: RefundRow, other: RefundRow): number {
  const total = (refund: RefundRow): bigint => refund.totalAfter ?? 1n << 62n;
  if (total(one) !== total(other)) return total(one) < total(other) ? -1 : 1;
  return one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);
}

/**
 * Counts succeeded refunds while they fit into the payment. Refunds beyond the payment stay uncounted, and an item
 * shows them (`refundGaps`).
 */
export function countRefunds(lane: Lane): void {
  for (const p of lane.payments) {
    if (p.amount === null || p.succeededAt === null) continue; // the refunds wait for their payment
    for (const r of lane.findRefunds(p).toSorted(inOrder)) {
      if (r.status !== 'succeeded' || r.counted || r.currency !== p.currency) continue;
      // A running total above the payment can't be true, even if other refunds are still missing.
      if (p.amountRefunded + r.amount > p.amount || (r.totalAfter ?? 0n) > p.amount) continue;
      p.amountRefunded += r.amount;
      p.status = paymentStatus(p, p.amountRefunded);
      r.counted = true;
      if (r.mirror === 'none') moveMirror(r, 'waiting');
      lane.post(refundPaid(p, r, lane.now, null));
    }
  }
}

/**
 * Handles a parked payment without a full refund: a person chose the refund, but it failed or covered only a part.
 * Crossbill reads the invoice again, and the item opens again.
 */
export function reconsiderParked(lane: Lane): void {
  for (const p of lane.payments) {
    if (p.mark !== 'parked' || lane.invoice === null || (p.amount !== null && p.amountRefunded >= p.amount)) continue;
    const items = lane.reviews.filter((r) => r.paymentRowId === p.id && PARKING.has(r.kind));
    // Crossbill itself closes an item as `cleared`, so `cleared` is no person's choice.
    const chosen = items.findLast((r) => r.resolution !== 'cleared')?.resolution;
    if (chosen !== 'refund' || items.some((r) => r.status === 'open')) continue;
    if (lane.findRefunds(p).some(isOnItsWay)) continue;
    lane.log('decision', `${paymentName(p)} is not fully refunded: Crossbill checks the payment again`, p);
    moveMark(p, 'waiting');
    lane.invoice.readAt = null;
  }
}
