// The fields of a dispute or an alert, for the page and the CSV.
import { field, fields } from '../../../frames/console/fields.js';
import { html } from '../../../frames/console/html.js';
import { amount, headed, invoiceNumberLink, time } from '../../../frames/console/show.js';
import { amountOf, currencyOf } from '../../../frames/api/http/values.js';
import { type DisputeView, disputeView } from '../../../core/mor-objects/mor-object.view.js';
import { disputePath } from '../../../core/mor-objects/dispute-link.view.js';
import { disputed, isOver } from './dispute-page.js';
import { type DisputeItem } from './disputes.repository.js';

/** A dispute in the API's form, with invoice and customer. Its `amount` is the disputed amount (dispute-page.ts). */
export type ListedDispute = DisputeView & {
  readonly invoice_id: string;
  readonly invoice_number: string | null;
  readonly customer_id: string | null;
  readonly path: string;
  readonly isOver: boolean;
};

export function listedDispute(item: DisputeItem): ListedDispute {
  const { dispute: o, payment: p, customerId, invoiceNumber } = item;
  const { minor, currency } = disputed(item);
  return {
    ...disputeView(o, new Map(p === null ? [] : [[p.id, p.paymentId ?? p.id]])),
    amount: amountOf(minor),
    currency: currencyOf(currency),
    invoice_id: o.invoiceId,
    invoice_number: invoiceNumber,
    customer_id: customerId,
    path: disputePath(o),
    isOver: isOver(o),
  };
}

export const disputeFields = fields<ListedDispute>({
  id: field.id('Dispute'),
  invoice_number: field.text({ label: 'Invoice', cell: (d) => invoiceNumberLink(d.invoice_id, d.invoice_number) }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  amount: field.money({
    label: 'Amount',
    phone: 'lead',
    cell: (d) =>
      html`<a href="${d.path}" title="${d.id}"
        >${amount(d.amount === null ? null : BigInt(d.amount), d.currency?.toUpperCase() ?? null)}<span class="unseen">
          ${d.id}</span
        ></a
      >`,
  }),
  currency: field.currency(),
  status: field.status({ label: 'Status', phone: 'side' }),
  kind: field.word('Kind'),
  deadline: field.time({
    label: 'Due by',
    phone: 'below',
    cell: (d) => (d.deadline === null || d.isOver ? '' : headed('due', time(new Date(d.deadline)))),
  }),
  outcome: field.text(),
  created_at: field.time('First seen'),
  invoice_id: field.id(),
  payment_id: field.id(),
});
