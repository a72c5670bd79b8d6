// The notification that a customer must give another payment method.
import { invoiceFacts, refusedTries } from '../../../core/books/rules/notice-facts.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { type AttemptRow } from '../../../shared/domain/payment-row.js';
import { type Notice } from '../../../shared/domain/notification.js';
import { untriedMethod } from '../../../shared/domain/retry.js';
import { orNull, text } from '../../../shared/domain/notification-fields.js';
import {
  amount,
  brackets,
  declineCode,
  due,
  INVOICE,
  notification,
  paymentId,
  see,
} from '../../../shared/domain/notification-parts.js';

export const retryNotifications = {
  'customer.method_needed': notification(
    "A hard decline: the customer's payment method will not work again, and the customer must give another one",
    {
      ...INVOICE,
      payment_id: paymentId("The MoR's `pay_…` of the declined payment."),
      amount,
      decline_code: declineCode('expired_card'),
      failure_message: orNull(
        text(
          'As the MoR wrote it, for the customer or your support; card numbers are masked.',
          'Your card has expired.',
        ),
      ),
    },
    (d) =>
      `Customer ${d.customer_id ?? 'unknown'} needs another payment method: the payment of invoice ${d.invoice_id} (${due(d)}) was declined for good${brackets(d.decline_code)}.${see(d)}`,
  ),
};

declare module '../../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'customer.method_needed': (typeof retryNotifications)['customer.method_needed'];
  }
}

export const tellRetries = (_before: LaneState, after: LaneState): readonly Notice[] =>
  refusedTries(after).flatMap((attempt) => methodNeeded(after, attempt));

/**
 * Asks the backend for another payment method of the customer: the refused method will not work again. Makes no
 * notification while Crossbill has a newer confirmed method to try.
 */
function methodNeeded(after: LaneState, attempt: AttemptRow): Notice[] {
  const { invoice } = after;
  const refusal = invoice?.retries?.refusal;
  if (
    invoice === null ||
    refusal?.eventId !== attempt.eventId ||
    refusal.kind !== 'hard' ||
    untriedMethod(invoice) !== null
  )
    return [];
  const data = {
    ...invoiceFacts(after),
    payment_id: attempt.paymentId,
    amount: Number(attempt.amount),
    decline_code: attempt.declineCode,
    failure_message: attempt.failureMessage,
  };
  return [{ type: 'customer.method_needed', subject: `${attempt.invoiceId}:attempt:${attempt.eventId}`, data }];
}
