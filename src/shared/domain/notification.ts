// Defines every notification to the merchant's backend: when Crossbill sends it, its fields with schema and sample, and
// its sentence for Slack. A notification has ids, amounts, statuses and times. Since a chat room may receive it, it has
// no secret and no text written by a person, Stripe or the MoR, except the MoR's failure message. The sentence for
// Slack leaves this message out. Every id in a sample ends in `_sample`.
import { money, showMoney } from './money.js';
import {
  count,
  counts,
  type Data,
  type Fields,
  flag,
  listOf,
  none,
  orNull,
  sampleOfFields,
  text,
  time,
  word,
} from './notification-fields.js';
import { REFUSALS, whatToCheck } from './refusal.js';

const page = (sample: string) => text('The path of the page in the console of this daemon.', sample);
const invoicePage = page('/console/invoices/in_sample');
const invoiceId = text('`in_…`', 'in_sample');
const customerId = text('`cus_…`', 'cus_sample');
const amount = count('Smallest units of the currency, as Stripe counts them.', 2990);
const currency = text('ISO 4217, lower case.', 'eur');
const amountOrNull = orNull(count('Smallest units; null: not known.', 2990));
const currencyOrNull = orNull(text('ISO 4217, lower case; null: not known.', 'eur'));
const paymentId = (about = "The MoR's `pay_…`; until it is known, Crossbill's own id.") => text(about, 'pay_sample');
const chargeId = orNull(text('The charge at the processor.', 'ch_sample'));
const declineCode = (sample: string) => orNull(text("The processor's decline code, if the MoR gave one.", sample));
const soon = (about: string) => orNull(time(about, '2026-12-01T12:00:00.000Z'));

/** Whose money it is. Every notification about an invoice, payment, refund or dispute has both ids. */
const CUSTOMER = {
  customer_id: orNull(text('`cus_…`; null: Stripe names none.', 'cus_sample')),
  subscription_id: orNull(text('`sub_…`; null: Stripe names none.', 'sub_sample')),
};
const amountLeft = (sample: number) =>
  orNull(
    count(
      'What is left of the money for the invoice after all refunds and losses, in smallest units. 0: nothing, so its customer has not paid. Null: not known, or other money paid the invoice.',
      sample,
    ),
  );

const INVOICE = {
  invoice_id: invoiceId,
  ...CUSTOMER,
  status: text('As in `GET /v1/invoices`.', 'open'),
  amount_due: amountOrNull,
  currency: currencyOrNull,
  console: invoicePage,
};
const PAYMENT = {
  payment_id: paymentId(),
  processor_charge_id: chargeId,
  amount,
  currency,
};
const REFUND = {
  refund_id: text("Crossbill's id of the refund; it never changes.", 'ref_sample'),
  mor_refund_id: orNull(text('`rfnd_…`', 'rfnd_sample')),
  processor_refund_id: orNull(text("The processor's id of the refund.", 're_sample')),
  payment_id: paymentId(),
  invoice_id: invoiceId,
  ...CUSTOMER,
  amount: { ...amount, sample: 500 },
  currency,
  amount_left: amountLeft(2490),
  made_elsewhere: flag("True: somebody made the refund outside Crossbill, for example in the MoR's portal.", false),
  console: page('/console/refunds/ref_sample'),
};
const DISPUTE = {
  dispute_id: text(
    "The MoR's id of the dispute; where it gave none, the id of the payment or of the event.",
    'dp_sample',
  ),
  payment_id: orNull(paymentId("The MoR's `pay_…` of the disputed payment; null: not known.")),
  processor_charge_id: chargeId,
  invoice_id: invoiceId,
  ...CUSTOMER,
  amount: orNull(count('The disputed amount in smallest units; null: not known.', 2990)),
  currency: currencyOrNull,
  console: page('/console/disputes/obj_sample'),
};
const REVIEW = {
  review_id: text('`rev_…`: `GET /v1/reviews` has the facts and the proposal, in words.', 'rev_sample'),
  kind: text('As in `GET /v1/reviews`.', 'dispute'),
  invoice_id: orNull(text('`in_…`; null: the item is about no invoice.', 'in_sample')),
  ...CUSTOMER,
  refund_id: none(text("Crossbill's id of the refund.", '')),
  due_at: soon('The deadline for a person to act; null: there is none.'),
  console: page('/console/reviews/rev_sample'),
};

const LEFT_OPEN_WHY = ['payment_failed', 'no_verdict', 'review'] as const;

const notification = <F extends Fields>(summary: string, fields: F, sentence: (data: Data<F>) => string) => ({
  summary,
  fields,
  sentence,
});

/**
 * Every notification, in the order of the reference. To add a notification, add a row: the API document, the client and
 * the command line read this list.
 */
export const NOTIFICATIONS = {
  'invoice.paid': notification(
    'An invoice with an amount due is paid, and Stripe shows it as paid',
    {
      ...INVOICE,
      status: { ...INVOICE.status, sample: 'paid' },
      payments: listOf(PAYMENT, "The MoR's payments of the invoice; empty: other money paid the invoice."),
      amount_left: amountLeft(2990),
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
  'payment_link.created': notification(
    'A payment link for an invoice can be sent to its customer',
    {
      payment_link_id: text("The MoR's id of the payment link.", 'pl_sample'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      url: text(
        'The page for the payment. Anybody with this address can pay: give it to the customer only.',
        'https://pay.example/pl_sample',
      ),
      amount: amountOrNull,
      currency: currencyOrNull,
      expires_at: soon('The last moment to pay by the link.'),
      automatic: flag('True: Crossbill made it after a failed renewal.', true),
      console: invoicePage,
    },
    (d) => `Invoice ${d.invoice_id} has a payment link of ${sum(d)}: ${d.url}`,
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
  'dispute.opened': notification(
    'The bank of a customer disputes a payment, or goes on with the dispute after an outcome',
    { ...DISPUTE, due_at: soon('The deadline for evidence; null: the MoR gave none.') },
    (d) => `A bank disputes ${disputed(d)}.${d.due_at === null ? '' : ` The evidence is due by ${d.due_at}.`}${see(d)}`,
  ),
  'dispute.closed': notification(
    'A dispute is decided. A later decision is another notification',
    {
      ...DISPUTE,
      outcome: word(['won', 'lost'], "`lost`: the customer's bank took the amount.", 'lost'),
      amount_left: amountLeft(0),
    },
    (d) => `The dispute about ${disputed(d)} is ${d.outcome}.${see(d)}`,
  ),
  'debit.returned': notification(
    'A person recorded that a bank returned a settled debit, or undid this record',
    {
      return_id: text('`ret_…`: the record in `GET /v1/payments/{id}/returned`.', 'ret_sample'),
      status: word(['returned', 'undone'], '`undone`: the record was a mistake, the money is there.', 'returned'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      ...PAYMENT,
      amount_left: amountLeft(0),
      console: invoicePage,
    },
    (d) =>
      d.status === 'returned'
        ? `A bank returned the debit of payment ${d.payment_id}: ${sum(d)}${ofInvoice(d)}.${see(d)}`
        : `The return of payment ${d.payment_id} (${sum(d)}) was recorded by mistake${ofInvoice(d)}.${see(d)}`,
  ),
  'signup.completed': notification(
    'The first payment of a signup is proven',
    {
      signup_id: text('`sup_…`', 'sup_sample'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      customer_id: customerId,
      ...PAYMENT,
      console: invoicePage,
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
  'verify.differences': notification(
    'A verify run found differences without an open review item',
    {
      run_id: text('The id of the verify run; `GET /v1/verify` has the newest run.', 'ver_sample'),
      differences: count('The number of differences.', 1),
      by_kind: counts('The number of differences of each kind.', { no_verdict: 1 }),
      console: page('/console/verify'),
    },
    (d) =>
      `Verify found ${d.differences} difference${d.differences === 1 ? '' : 's'} without an open review item.${see(d)}`,
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

export type NotificationType = keyof typeof NOTIFICATIONS;
export type DataOf<T extends NotificationType> = Data<(typeof NOTIFICATIONS)[T]['fields']>;
export type InvoiceFacts = Data<typeof INVOICE>;
export type PaymentFacts = Data<typeof PAYMENT>;
export type RefundFacts = Data<typeof REFUND>;
export type DisputeFacts = Data<typeof DISPUTE>;
export type CustomerFacts = Data<typeof CUSTOMER>;
export type ReviewFacts = Data<typeof REVIEW>;

/** One notification. `subject` identifies it for good: the same type and subject are the same notification. */
export type Notice<T extends NotificationType = NotificationType> = {
  [K in T]: { readonly type: K; readonly subject: string; readonly data: DataOf<K> };
}[T];

export const NOTIFICATION_TYPES = Object.keys(NOTIFICATIONS) as readonly NotificationType[];

/** A sample notification. Each `subject` gives the sample another id. */
export function sampleOf(type: NotificationType, subject: string): Notice {
  // `NOTIFICATIONS` pairs each type with its own data. The compiler cannot see this, so a cast says it.
  return { type, subject, data: sampleOfFields(NOTIFICATIONS[type].fields) } as Notice;
}

const SENTENCES: { readonly [T in NotificationType]: { readonly sentence: (dataOf: DataOf<T>) => string } } =
  NOTIFICATIONS;

/**
 * The notification in one sentence for people, in the form an incoming webhook of Slack takes.
 * @param consoleUrl the console's address, for a whole link; null: the sentence has the path alone
 */
export function inWords<T extends NotificationType>(
  notice: { readonly type: T; readonly data: DataOf<T> },
  consoleUrl: string | null,
): string {
  // Slack reads `<…>` as a link or a mention and `&` as an entity ("Formatting text for app surfaces", "Escaping
  // text").
  const data = { ...notice.data, console: `${consoleUrl ?? ''}${notice.data.console}` };
  const sentence = SENTENCES[notice.type].sentence(data);
  return sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function leftOpenWhy(data: {
  readonly why: (typeof LEFT_OPEN_WHY)[number];
  readonly decline_code: string | null;
}): string {
  if (data.why === 'no_verdict') return 'the Merchant of Record has not said whether it was paid';
  if (data.why === 'review') return 'its payment waits for a person';
  return `the payment failed${brackets(data.decline_code)}`;
}

const see = (data: { readonly console: string }): string => ` See ${data.console} in the console.`;
const brackets = (code: string | null): string => (code === null ? '' : ` (${code})`);
const item = (review: ReviewFacts): string =>
  review.kind.replaceAll('_', ' ') + (review.invoice_id === null ? '' : `, invoice ${review.invoice_id}`);
const ofInvoice = (data: { readonly invoice_id: string } & CustomerFacts): string =>
  ` (invoice ${data.invoice_id}${data.customer_id === null ? '' : `, customer ${data.customer_id}`})`;
const disputed = (dispute: DisputeFacts): string =>
  `${dispute.payment_id === null ? 'a payment' : `payment ${dispute.payment_id}`} of ${sum(dispute)}${ofInvoice(dispute)}`;
const due = (invoice: InvoiceFacts): string => sum({ amount: invoice.amount_due, currency: invoice.currency });

function sum(data: { readonly amount: number | null; readonly currency: string | null }): string {
  const isKnown = data.amount !== null && data.currency !== null;
  return isKnown ? showMoney(money(BigInt(data.amount), data.currency)) : 'amount not known';
}

export type NotifyFormat = 'standard' | 'slack';

/** How a receiver wants its notifications: two of the settings. */
export type NotifyAs = { readonly notifyFormat: NotifyFormat; readonly consoleUrl: string | null };

/** A stored notification. Every try sends the same body. */
export type NewNotification = {
  /** The `webhook-id` header. */
  readonly id: string;
  readonly type: NotificationType;
  readonly subject: string;
  /** Null: the notification is about no invoice. */
  readonly invoiceId: string | null;
  readonly format: NotifyFormat;
  readonly body: string;
  /** When the event happened, or when Crossbill noticed it. */
  readonly at: Date;
};
