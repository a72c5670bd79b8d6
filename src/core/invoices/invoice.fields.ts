// The fields of an invoice, for the page, the CSV and the command line's table.
import { field, fields } from '../../frames/console/fields.js';
import { html, type Html } from '../../frames/console/html.js';
import { billingReason, invoiceNumberLink, status, words } from '../../frames/console/show.js';
import { type InvoiceListView } from './invoice.view.js';

export const invoiceFields = fields<InvoiceListView>({
  id: field.id('Invoice'),
  number: field.text({ label: 'Number', phone: 'below', cell: numberOrId }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  amount_due: field.money({ label: 'Due', phone: 'lead', link: 'invoices' }),
  currency: field.currency(),
  status: field.status({
    label: 'Status',
    phone: 'side',
    cell: ({ ignored_because: why, status: word }) =>
      html`${status(word)}${why === 'not_enrolled' && html` <span class="dim whole">${words(why)}</span>`}`,
  }),
  billing_reason: field.word({
    label: 'Reason',
    cell: (i) => html`<span class="whole">${billingReason(i.billing_reason)}</span>`,
  }),
  created_at: field.time({ label: 'Created', phone: 'below', none: 'unknown' }),
  amount_paid: field.money(),
  amount_remaining: field.money(),
  stripe_status: field.status(),
  mor_customer_id: field.id(),
  subscription_id: field.id(),
});

/**
 * The invoice's number, or its id. On a phone the amount is the link, so an invoice without a number shows no id there.
 */
function numberOrId({ id, number }: InvoiceListView): Html {
  const shown = invoiceNumberLink(id, number);
  return typeof number === 'string' ? shown : html`<span class="on-wide">${shown}</span>`;
}
