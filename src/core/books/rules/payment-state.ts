// How a payment ends without a mark, and whether a payment may have brought money.
import { type Mutable } from '../../../shared/domain/row.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { effectName } from '../../../shared/domain/payment-name.js';

/** While a payment has an open item of one of these kinds, Crossbill does not mark its invoice. */
export const PARKING: ReadonlySet<string> = new Set([
  'amount_mismatch',
  'currency_mismatch',
  'customer_mismatch',
  'invoice_not_payable',
  'double_payment',
  'partial_transfer',
  'effect_failed',
  'signup_unproven',
]);

/** Closes a payment without a mark. Stripe does not show the payment's refunds (core/refunds/rules/mirror.ts). */
export function closePayment(payment: Mutable<PaymentRow>): void {
  moveMark(payment, 'closed');
  if (payment.succeededAt === null) payment.status = 'failed'; // as far as Crossbill knows, the MoR took no money
}

/**
 * Why Crossbill must not request another charge: a payment arrived, or a refund arrived for a payment not reported
 * yet. Null: nothing speaks against a charge.
 */
export function paymentThatCame(lane: Pick<LaneState, 'payments' | 'refunds'>): string | null {
  const taken = lane.payments.find(mayBringMoney);
  if (taken !== undefined) return `payment ${effectName(taken)} came`;
  return lane.refunds.length > 0 ? 'money was given back for it, so some was taken' : null;
}

/**
 * True for a closed payment that brought no money, as far as Crossbill knows: its charge has no proof, or the ledger
 * has its charge for another invoice (`setAside`).
 */
export function saysNothing(payment: PaymentRow): boolean {
  return payment.mark === 'closed' && payment.succeededAt === null;
}

/** True if the payment's money has arrived or may be on its way. */
export function mayBringMoney(payment: PaymentRow): boolean {
  return payment.mark !== 'none' && !saysNothing(payment);
}
