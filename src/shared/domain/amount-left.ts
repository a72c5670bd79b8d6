// What the merchant still has of the money for an invoice.
import { type LaneRows } from './model.js';
import { type PaymentRow } from './payment-row.js';
import { type MorObjectRow } from './mor-object.js';

/**
 * The money of the invoice's payments, less refunds and less money taken back by banks, in smallest units. Null: not
 * known, or other money paid the invoice.
 */
export function amountLeft(lane: Pick<LaneRows, 'invoice' | 'payments' | 'objects'>): bigint | null {
  const taken = lane.payments.filter((p) => p.succeededAt !== null || isRefunded(p));
  const isPaidOtherwise = lane.invoice?.platformStatus === 'paid' && !lane.payments.some((p) => p.mark === 'confirmed');
  if (taken.length === 0 || isPaidOtherwise || new Set(taken.map((p) => p.currency)).size > 1) return null;
  let sum = 0n;
  for (const p of taken) {
    const left = leftOf(p, lane.objects);
    if (left === null) return null;
    sum += left;
  }
  // A loss outside the ledger has no clear amount or payment (features/losses/returns/rules/loss.ts).
  return sum > 0n && lane.objects.some((o) => isUnbooked(o, lane)) ? null : sum;
}

// A refund may arrive before its payment, and Document 3 gives it the payment's status.
const isRefunded = ({ status }: PaymentRow): boolean => status === 'refunded' || status === 'partially_refunded';

function leftOf(payment: PaymentRow, objects: readonly MorObjectRow[]): bigint | null {
  if (payment.amount === null) return payment.status === 'refunded' ? 0n : null;
  // The MoR's running total may count refunds before their events arrive.
  const reported = payment.refundedTotal ?? 0n;
  const lost = objects.reduce(
    (sum, { detail: { loss } }) => sum + (loss?.of === payment.id ? BigInt(loss.minor) : 0n),
    0n,
  );
  const gone = (reported > payment.amountRefunded ? reported : payment.amountRefunded) + lost;
  return gone >= payment.amount ? 0n : payment.amount - gone;
}

function isUnbooked(object: MorObjectRow, { payments, objects }: Pick<LaneRows, 'payments' | 'objects'>): boolean {
  if (object.kind !== 'dispute' || object.status !== 'lost' || BigInt(object.detail.loss?.minor ?? 0) > 0n)
    return false;
  const p = payments.find((x) => x.id === object.paymentRowId);
  return p === undefined || leftOf(p, objects) !== 0n;
}
