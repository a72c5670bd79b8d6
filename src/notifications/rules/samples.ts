// A sample of each kind, for `crossbill trigger`, the reference and the tests. Every id of it ends in `_sample`.
import { type NotificationType, type Told } from '../../domain/notification.js';
import { whatToCheck } from '../../domain/refusal.js';

const invoice = {
  invoice_id: 'in_sample',
  customer_id: 'cus_sample',
  subscription_id: 'sub_sample',
  status: 'open',
  amount_due: 2990,
  currency: 'eur',
  console: '/console/invoices/in_sample',
};
const payment = { payment_id: 'pay_sample', processor_charge_id: 'ch_sample', amount: 2990, currency: 'eur' };
const refund = {
  refund_id: 'ref_sample',
  mor_refund_id: 'rfnd_sample',
  processor_refund_id: 're_sample',
  payment_id: 'pay_sample',
  invoice_id: 'in_sample',
  amount: 500,
  currency: 'eur',
  made_elsewhere: false,
  console: '/console/refunds/ref_sample',
};
const review = {
  review_id: 'rev_sample',
  kind: 'dispute',
  invoice_id: 'in_sample',
  refund_id: null,
  due_at: '2026-12-01T12:00:00.000Z',
  console: '/console/reviews/rev_sample',
};

const SAMPLES: { readonly [T in NotificationType]: Extract<Told, { type: T }>['data'] } = {
  'invoice.paid': { ...invoice, status: 'paid', payments: [payment] },
  'invoice.left_open': {
    ...invoice,
    why: 'payment_failed',
    payment_id: 'pay_sample',
    decline_code: 'insufficient_funds',
    review_id: null,
    next_try_at: '2026-11-25T12:00:00.000Z',
  },
  'invoice.action_required': { ...invoice, payment_id: 'pay_sample', processor_payment_intent_id: 'pi_sample' },
  'customer.method_needed': {
    ...invoice,
    payment_id: 'pay_sample',
    amount: 2990,
    decline_code: 'expired_card',
    failure_message: 'Your card has expired.',
  },
  'payment_link.created': {
    payment_link_id: 'pl_sample',
    invoice_id: 'in_sample',
    customer_id: 'cus_sample',
    url: 'https://pay.example/pl_sample',
    amount: 2990,
    currency: 'eur',
    expires_at: '2026-12-01T12:00:00.000Z',
    automatic: true,
    console: '/console/invoices/in_sample',
  },
  'refund.succeeded': refund,
  'refund.failed': { ...refund, failure_code: 'refund_declined' },
  'signup.completed': {
    signup_id: 'sup_sample',
    invoice_id: 'in_sample',
    customer_id: 'cus_sample',
    ...payment,
    console: '/console/invoices/in_sample',
  },
  'review.opened': review,
  'review.due_soon': review,
  'verify.differences': {
    run_id: 'ver_sample',
    differences: 1,
    by_kind: { no_verdict: 1 },
    console: '/console/verify',
  },
  'webhooks.refusing': {
    endpoint: 'mor_payments',
    reason: 'signature_mismatch',
    check: whatToCheck('mor_payments', 'signature_mismatch'),
    refused: 1,
    since: '2026-11-22T09:00:00.000Z',
    console: '/console/deliveries',
  },
};

/** `subject` tells one sample from another, so that each has an id of its own. */
export function sampleOf(type: NotificationType, subject: string): Told {
  // The table has the data of each type under its own name.
  return { type, subject, data: SAMPLES[type] } as Told;
}
