// The fields of a refund, for the page, the CSV and the export.
import { field, fields } from '../../frames/console/fields.js';
import { invoiceNumberLink, shownOnStripe } from '../../frames/console/show.js';
import { type RefundView } from './refund.view.js';

export const refundFields = fields<RefundView>({
  id: field.id('Refund'),
  invoice_number: field.text({ label: 'Invoice', cell: (r) => invoiceNumberLink(r.invoice_id, r.invoice_number) }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  amount: field.money({ label: 'Amount', phone: 'lead', link: 'refunds' }),
  currency: field.currency(),
  status: field.status({ label: 'Status', phone: 'side' }),
  mirror: field.status({ label: 'Shown on Stripe', cell: (r) => shownOnStripe(r.mirror) }),
  reason: field.word('Reason'),
  created_at: field.time({ label: 'Recorded', phone: 'below' }),
  succeeded_at: field.time(),
  payment_id: field.id(),
  invoice_id: field.id(),
  mor_refund_id: field.id(),
  processor_refund_id: field.id(),
  credit_note_id: field.id(),
  origin: field.word(),
});
