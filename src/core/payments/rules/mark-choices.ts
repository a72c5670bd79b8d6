// Carries out a person's choice for a payment with an item.
import { type Mutable } from '../../../shared/domain/row.js';
import { type Lane } from '../../../engine/lane.js';
import { moveMark, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Choice, type Refusal, refuse } from '../../../engine/commanded.js';
import { isSurplus } from '../../../shared/domain/surplus.js';
import { askAgain, requireRead } from '../../books/rules/invoice-facts.js';
import { closePayment, saysNothing } from '../../books/rules/payment-state.js';
import { awaitVerdict } from '../../books/rules/awaited-verdict.js';
import { surplusToRefund } from './surplus.js';

type Payment = Mutable<PaymentRow>;

const NOT_PROVEN =
  'Crossbill does not know yet whether this charge is real. Wait for the proof before you dismiss this, or complete the signup again with the right amount.';

/** Carries out a person's choice for a payment with an item: apply, retry or dismiss. `chooseRefund` makes refunds. */
export function chooseMark(lane: Lane, item: ReviewRow, { resolution }: Choice): Refusal | null {
  const p = lane.findPayment(item.paymentRowId);
  // Crossbill does not know yet if the MoR took any money for the signup. If a person dismissed the item now, the later
  // proof would start or drop the mark without asking.
  if (resolution === 'dismiss' && p?.mark === 'proving' && item.subject === p.signupId)
    return refuse(409, 'resolution_not_available', NOT_PROVEN, 'resolution');
  // Stripe already shows the payment on the invoice. `retry` reads the invoice again and checks each item.
  if (resolution === 'retry' && (isSurplus(item) || p?.mark === 'confirmed')) askAgain(lane);
  // For an unproven signup this choice settles only the amount. Another item asks a person if the MoR knows the charge.
  if (p === undefined || (item.kind === 'amount_mismatch' && p.mark === 'parked' && p.succeededAt === null))
    return null;
  if (resolution === 'dismiss') {
    if (p.mark !== 'parked') return null;
    closePayment(p);
    // The event of the dismissed payment named another invoice's charge. So the MoR may still give a verdict on this
    // invoice. If no verdict follows, an item opens.
    if (saysNothing(p) && lane.invoice?.retries?.waitingSince === null) awaitVerdict(lane, lane.now);
    return null;
  }
  if (resolution === 'apply' && p.mark === 'parked') {
    // with a choice about a signup's amount, the person does not accept a difference from the amount due
    if (item.subject !== p.signupId) p.waived = findWaived(lane, item, p);
  } else if (resolution === 'retry' && (p.mark === 'parked' || p.mark === 'held')) p.markTries = 0;
  else return null;
  moveMark(p, 'waiting');
  requireRead(lane);
  return null;
}

/**
 * The differences a person accepts by applying a payment. A part of a bank transfer always differs from the amount due.
 */
function findWaived(lane: Lane, { kind }: ReviewRow, payment: Payment): Payment['waived'] {
  const due = lane.invoice?.amountRemaining ?? null;
  const isMore = due !== null && payment.amount !== null && payment.amount > due;
  // If a person applies a payment above the amount due, the person accepts the surplus as a sale. If the payment has a
  // refund, the surplus is no sale, although Stripe credits it to the customer. So an item after the mark asks about
  // the surplus.
  const isRefunded = lane.findRefunds(payment).some((x) => x.status !== 'failed');
  const waived = [
    ...payment.waived.filter((x) => x !== 'surplus'),
    kind === 'partial_transfer' ? 'amount_mismatch' : kind,
  ];
  return isMore && !isRefunded ? [...waived, 'surplus'] : waived;
}

/**
 * Refunds a payment because a person chose so in an item. `amount` is in smallest units. Null: the rest of the payment.
 */
export type GiveBack = (
  lane: Lane,
  item: ReviewRow,
  payment: PaymentRow | undefined,
  wish: { readonly amount: bigint | null; readonly by: string },
) => Refusal | null;

const NOTHING_LEFT = 'The surplus is refunded, or its refund is under way. Nothing of it is left to refund.';

/** Refunds the payment, or the rest of a surplus, by a person's choice. */
export function chooseRefund(lane: Lane, item: ReviewRow, by: string, giveBack: GiveBack): Refusal | null {
  const surplus = surplusToRefund(lane, item);
  if (surplus === 0n) return refuse(409, 'resolution_not_available', NOTHING_LEFT, 'resolution');
  return giveBack(lane, item, lane.findPayment(item.paymentRowId), { amount: surplus, by });
}
