// The fields of a customer's link to the MoR, for the page and the CSV.
import { field, fields } from '../../frames/console/fields.js';
import { type CustomerLinkView } from './customer-link.view.js';

export const customerFields = fields<CustomerLinkView>({
  customer_id: field.customer({ label: 'Customer', phone: 'lead' }),
  reference: field.text('Your reference'),
  linked_at: field.time({ label: 'Linked', phone: 'below' }),
  linked_by: field.text({ label: 'Linked by', phone: 'side' }),
  mor_customer_id: field.id('Customer at the MoR'),
  signup_id: field.id(),
});
