// The notifications of the core: when Crossbill sends each, its fields with schema and sample, and its sentence for Slack.
import { count, listOf, none, orNull, text, time, word } from './notification-fields.js';
import {
  amountLeftField,
  brackets,
  customerId,
  CUSTOMER,
  declineCode,
  due,
  INVOICE,
  invoiceId,
  invoicePageField,
  item,
  notification,
  page,
  PAYMENT,
  paymentId,
  REFUND,
  REVIEW,
  see,
  sum,
} from './notification-parts.js';
import { REFUSALS, whatToCheck } from './refusal.js';

const LEFT_OPEN_WHY = ['payment_failed', 'no_verdict', 'review'] as const;

/** In the order of the reference. */
export const CORE_NOTIFICATIONS = {
  'invoice.paid': notification(
    'An invoice with an amount due is paid, and Stripe shows it as paid',
    {
      ...INVOICE,
      status: { ...INVOICE.status, sample: 'paid' },
      payments: listOf(PAYMENT, "The MoR's payments of the invoice; empty: other money paid the invoice."),
      amount_left: amountLeftField(2990),
    },
    (d) => `Invoice ${d.invoice_id} is paid (${due(d)}).${see(d)}`,
  ),
  'invoice.left_open': notification(
    'An invoice was not paid and stays open',
    {
      ...INVOICE,
      why: word(
        LEFT_OPEN_WHY,
        '`no_verdict`: the MoR sent no verdict in time; `review`: the payment waits for a person.',
        'payment_failed',
      ),
      payment_id: orNull(paymentId('The payment that failed or waits.')),
      decline_code: declineCode('insufficient_funds'),
      review_id: none(text('The review item, where there is one.', '')),
      next_try_at: orNull(time('When Crossbill tries again; null: it does not.', '2026-11-25T12:00:00.000Z')),
    },
    (d) => `Invoice ${d.invoice_id} (${due(d)}) is left open: ${leftOpenWhy(d)}.${see(d)}`,
  ),
  'invoice.action_required': notification(
    'The customer must authenticate a payment of an invoice',
    {
      ...INVOICE,
      payment_id: paymentId("The MoR's `pay_…`"),
      processor_payment_intent_id: orNull(text('The payment intent at the processor.', 'pi_sample')),
    },
    (d) => `Invoice ${d.invoice_id} (${due(d)}) waits for its customer to authenticate the payment.${see(d)}`,
  ),
  'refund.succeeded': notification(
    'A refund succeeded at the MoR',
    REFUND,
    (d) => `Refund ${d.refund_id} of ${sum(d)} succeeded.${see(d)}`,
  ),
  'refund.failed': notification(
    'A refund failed; its amount can be refunded again',
    { ...REFUND, failure_code: orNull(text("The MoR's error code, where it gave one.", 'refund_declined')) },
    (d) => `Refund ${d.refund_id} of ${sum(d)} failed${brackets(d.failure_code)}.${see(d)}`,
  ),
  'signup.completed': notification(
    'The first payment of a signup is proven',
    {
      signup_id: text('`sup_…`', 'sup_sample'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      customer_id: customerId,
      ...PAYMENT,
      console: invoicePageField,
    },
    (d) => `Customer ${d.customer_id} has signed up and paid ${sum(d)} (invoice ${d.invoice_id}).${see(d)}`,
  ),
  'review.opened': notification(
    'A review item waits for a person',
    REVIEW,
    (d) => `A review item waits for a person: ${item(d)}.${see(d)}`,
  ),
  'review.due_soon': notification(
    'A review item is due within a day',
    REVIEW,
    (d) => `A review item is due by ${d.due_at ?? 'an unknown time'}: ${item(d)}.${see(d)}`,
  ),
  'webhooks.refusing': notification(
    'A webhook endpoint refuses deliveries: sent at once for the first refusal after a start, later at most once an hour',
    {
      endpoint: word(['stripe', 'mor_payments', 'mor_events'], 'The endpoint.', 'mor_payments'),
      reason: word(REFUSALS, 'The code of the newest refusal.', 'signature_mismatch'),
      check: text('Advice for a person.', whatToCheck('mor_payments', 'signature_mismatch')),
      refused: count('The number of refusals since the last notification, counted by one replica.', 1),
      since: time('The time of the first of these refusals.', '2026-11-22T09:00:00.000Z'),
      console: page('/console/deliveries'),
    },
    (d) =>
      `The webhook endpoint ${d.endpoint} refuses deliveries: ${d.reason} (${d.refused} since ${d.since}). ${d.check}${see(d)}`,
  ),
};

function leftOpenWhy(data: {
  readonly why: (typeof LEFT_OPEN_WHY)[number];
  readonly decline_code: string | null;
}): string {
  if (data.why === 'no_verdict') return 'the Merchant of Record has not said whether it was paid';
  if (data.why === 'review') return 'its payment waits for a person';
  return `the payment failed${brackets(data.decline_code)}`;
}
