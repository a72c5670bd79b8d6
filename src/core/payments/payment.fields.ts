// The fields of a payment, for the page, the CSV, the export and the command line's table.
import { field, fields } from '../../frames/console/fields.js';
import { html } from '../../frames/console/html.js';
import { amount, invoiceNumberLink, time } from '../../frames/console/show.js';
import { type PaymentView } from './payment.view.js';

export const paymentFields = fields<PaymentView>({
  id: field.id('Payment'),
  invoice_number: field.text({ label: 'Invoice', cell: (p) => invoiceNumberLink(p.invoice_id, p.invoice_number) }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  amount: field.money({ label: 'Amount', phone: 'lead', link: 'payments' }),
  currency: field.currency(),
  amount_refunded: field.money({
    label: 'Refunded',
    cell: (p) => (p.amount_refunded === 0 ? '' : amount(BigInt(p.amount_refunded), p.currency.toUpperCase())),
  }),
  status: field.status({ label: 'Status', phone: 'side' }),
  succeeded_at: field.time({
    label: 'Taken',
    phone: 'below',
    cell: (p) =>
      p.succeeded_at === null
        ? html`tried ${time(new Date(p.verdict_at ?? p.created_at))}`
        : time(new Date(p.succeeded_at)),
  }),
  created_at: field.time(),
  invoice_id: field.id(),
  mor_customer_id: field.id(),
  processor_charge_id: field.id(),
  processor_payment_intent_id: field.id(),
  payment_record_id: field.id(),
  reference: field.text(),
  origin: field.word(),
  mark: field.status(),
  decline_code: field.text(),
  verdict_at: field.time(),
});
