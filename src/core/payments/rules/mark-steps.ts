// The calls of a mark by its stage, and the report of a payment to Stripe.
import { type MadeCall, type CallRow } from '../../../shared/domain/call-row.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { effectName } from '../../../shared/domain/payment-name.js';

export function referenceOf(payment: PaymentRow): string {
  return payment.reference ?? payment.processorChargeId ?? effectName(payment);
}

/** The report of a payment to Stripe. It carries the payment's own times, so a repeat has the same bytes. */
export function reportOf(payment: PaymentRow, amount: bigint, now: Date): MadeCall {
  const at = payment.succeededAt ?? now;
  return {
    kind: 'report_payment',
    invoiceId: payment.invoiceId,
    customerId: payment.customerId,
    paymentId: effectName(payment),
    amount: { minor: amount, currency: payment.currency },
    reference: referenceOf(payment),
    initiatedAt: at,
    guaranteedAt: at,
    presence: payment.origin === 'signup' ? 'on_session' : 'off_session',
  };
}

/** The call for each stage of a mark. */
export const STEPS: Partial<Record<PaymentRow['mark'], CallRow['kind']>> = {
  reporting: 'report_payment',
  attaching: 'attach_payment',
  referencing: 'set_reference',
  paying: 'pay_out_of_band',
};
