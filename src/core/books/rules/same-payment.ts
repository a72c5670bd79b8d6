// Whether two reports are one payment: two rows, or a row and the ids of a charge.
import { type LaneRows, type LaneState } from '../../../shared/domain/model.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { whyNothingDue } from '../../../shared/domain/nothing-due.js';
import { ownIdOf } from '../../../shared/domain/payment-name.js';
import { isSameMoney } from '../../../shared/domain/mor-object.js';

/**
 * True if this payment may have paid its invoice although Crossbill did not mark the invoice for it: a person marked
 * the invoice by hand, or the MoR reported this payment twice and Crossbill marked the invoice for the other report.
 */
export function mayHaveSettled(lane: LaneRows, payment: PaymentRow): boolean {
  const others = lane.payments.filter((x) => x.id !== payment.id && x.mark === 'confirmed');
  if (others.length === 0) return lane.invoice?.platformStatus === 'paid' && whyNothingDue(lane.invoice) === null;
  return others.some((x) => maybeOne(x, payment));
}

/**
 * True if both rows may be one payment. If both rows have a charge, their charges decide. Otherwise three things must
 * hold: one row is on a payment link and has no charge, both amounts are equal, and the MoR has not given the rows two
 * different ids.
 */
export function maybeOne(left: PaymentRow, right: PaymentRow): boolean {
  if (left.processorChargeId !== null && right.processorChargeId !== null)
    return left.processorChargeId === right.processorChargeId;
  const isOnLink = [left, right].some((p) => p.origin === 'payment_link' && p.processorChargeId === null);
  const [one, other] = [ownIdOf(left), ownIdOf(right)];
  const areTwo = one !== null && other !== null && one !== other;
  return isOnLink && !areTwo && left.amount === right.amount && left.currency === right.currency;
}

/** The booked payment with this charge or this `pay_…` id. */
export function bookedAs(
  { payments }: Pick<LaneState, 'payments'>,
  names: { readonly charge: string | null; readonly paymentId: string | null },
): PaymentRow | undefined {
  const isOf = (payment: PaymentRow): boolean =>
    isSameMoney({ charge: payment.processorChargeId, paymentId: ownIdOf(payment) }, names);
  return payments.find((p) => p.succeededAt !== null && isOf(p));
}
