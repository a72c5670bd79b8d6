// What several notifications share: groups of fields, and parts of a sentence. Every id in a sample ends in `_sample`.
import { money, showMoney } from './money.js';
import { count, type Data, type Fields, flag, none, orNull, text, time } from './notification-fields.js';

/** When Crossbill sends the notification, its fields with schema and sample, and its sentence for Slack. */
export const notification = <F extends Fields>(summary: string, fields: F, sentence: (data: Data<F>) => string) => ({
  summary,
  fields,
  sentence,
});

export const page = (sample: string) => text('The path of the page in the console of this daemon.', sample);
export const invoicePageField = page('/console/invoices/in_sample');
export const invoiceId = text('`in_…`', 'in_sample');
export const customerId = text('`cus_…`', 'cus_sample');
export const amount = count('Smallest units of the currency, as Stripe counts them.', 2990);
export const currency = text('ISO 4217, lower case.', 'eur');
export const amountOrNull = orNull(count('Smallest units; null: not known.', 2990));
export const currencyOrNull = orNull(text('ISO 4217, lower case; null: not known.', 'eur'));
export const paymentId = (about = "The MoR's `pay_…`; until it is known, Crossbill's own id.") =>
  text(about, 'pay_sample');
export const chargeId = orNull(text('The charge at the processor.', 'ch_sample'));
export const declineCode = (sample: string) =>
  orNull(text("The processor's decline code, if the MoR gave one.", sample));
export const soon = (about: string) => orNull(time(about, '2026-12-01T12:00:00.000Z'));

/** Whose money it is. Every notification about an invoice, payment, refund or dispute has both ids. */
export const CUSTOMER = {
  customer_id: orNull(text('`cus_…`; null: Stripe names none.', 'cus_sample')),
  subscription_id: orNull(text('`sub_…`; null: Stripe names none.', 'sub_sample')),
};
export const amountLeftField = (sample: number) =>
  orNull(
    count(
      'What is left of the money for the invoice after all refunds and losses, in smallest units. 0: nothing, so its customer has not paid. Null: not known, or other money paid the invoice.',
      sample,
    ),
  );

export const INVOICE = {
  invoice_id: invoiceId,
  ...CUSTOMER,
  status: text('As in `GET /v1/invoices`.', 'open'),
  amount_due: amountOrNull,
  currency: currencyOrNull,
  console: invoicePageField,
};
export const PAYMENT = {
  payment_id: paymentId(),
  processor_charge_id: chargeId,
  amount,
  currency,
};
export const REFUND = {
  refund_id: text("Crossbill's id of the refund; it never changes.", 'ref_sample'),
  mor_refund_id: orNull(text('`rfnd_…`', 'rfnd_sample')),
  processor_refund_id: orNull(text("The processor's id of the refund.", 're_sample')),
  payment_id: paymentId(),
  invoice_id: invoiceId,
  ...CUSTOMER,
  amount: { ...amount, sample: 500 },
  currency,
  amount_left: amountLeftField(2490),
  made_elsewhere: flag("True: somebody made the refund outside Crossbill, for example in the MoR's portal.", false),
  console: page('/console/refunds/ref_sample'),
};
export const REVIEW = {
  review_id: text('`rev_…`: `GET /v1/reviews` has the facts and the proposal, in words.', 'rev_sample'),
  kind: text('As in `GET /v1/reviews`.', 'dispute'),
  invoice_id: orNull(text('`in_…`; null: the item is about no invoice.', 'in_sample')),
  ...CUSTOMER,
  refund_id: none(text("Crossbill's id of the refund.", '')),
  due_at: soon('The deadline for a person to act; null: there is none.'),
  console: page('/console/reviews/rev_sample'),
};

export type InvoiceFacts = Data<typeof INVOICE>;
export type PaymentFacts = Data<typeof PAYMENT>;
export type RefundFacts = Data<typeof REFUND>;
export type CustomerFacts = Data<typeof CUSTOMER>;
export type ReviewFacts = Data<typeof REVIEW>;

export const see = (data: { readonly console: string }): string => ` See ${data.console} in the console.`;
export const brackets = (code: string | null): string => (code === null ? '' : ` (${code})`);
export const item = (review: ReviewFacts): string =>
  review.kind.replaceAll('_', ' ') + (review.invoice_id === null ? '' : `, invoice ${review.invoice_id}`);
export const ofInvoice = (data: { readonly invoice_id: string } & CustomerFacts): string =>
  ` (invoice ${data.invoice_id}${data.customer_id === null ? '' : `, customer ${data.customer_id}`})`;
export const due = (invoice: InvoiceFacts): string => sum({ amount: invoice.amount_due, currency: invoice.currency });

export function sum(data: { readonly amount: number | null; readonly currency: string | null }): string {
  const isKnown = data.amount !== null && data.currency !== null;
  return isKnown ? showMoney(money(BigInt(data.amount), data.currency)) : 'amount not known';
}
