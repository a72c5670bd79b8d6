// The fields of enrolment: linked customers with the progress of their move, and invoices left to Stripe.
import { field, fields } from '../../frames/console/fields.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { type LinkedCustomer } from './enrolment.repository.js';

export function linkedCustomerView(linkedCustomer: LinkedCustomer) {
  const {
    customerId: customer_id,
    morCustomerId: mor_customer_id,
    linkedBy: linked_by,
    move,
    reference,
  } = linkedCustomer;
  return { customer_id, mor_customer_id, move, linked_by, reference, linked_at: timeOf(linkedCustomer.linkedAt) };
}

export const linkedCustomerFields = fields<ReturnType<typeof linkedCustomerView>>({
  customer_id: field.customer({ label: 'Customer', phone: 'lead' }),
  move: field.status({ label: 'Progress', phone: 'side' }),
  linked_by: field.text({ label: 'Linked by', phone: 'below' }),
  linked_at: field.time({ label: 'Linked', phone: 'below' }),
  reference: field.text('Your reference'),
  mor_customer_id: field.id('Customer at the MoR'),
});

export function outsideView(invoice: InvoiceRow) {
  return {
    id: invoice.invoiceId,
    number: invoice.number,
    customer_id: invoice.customerId,
    amount_due: amountOf(invoice.amountDue),
    currency: currencyOf(invoice.currency),
    stripe_status: invoice.platformStatus,
    created_at: timeOf(invoice.platformCreatedAt),
  };
}

export const outsideFields = fields<ReturnType<typeof outsideView>>({
  id: field.id('Invoice'),
  amount_due: field.money({ label: 'Due', phone: 'lead', link: 'invoices' }),
  currency: field.currency(),
  stripe_status: field.status({ label: 'On Stripe', phone: 'side' }),
  customer_id: field.customer({ label: 'Customer', phone: 'below' }),
  number: field.text('Number'),
  created_at: field.time({ label: 'Created', phone: 'below', none: 'unknown' }),
});
