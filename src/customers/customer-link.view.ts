// The link between a customer and its customer at the MoR, as the API and the command line show it.
import { type CustomerLink } from '../domain/ports/customer-links.js';
import { Text, TextOrNull, Time } from '../api/http/docs.js';
import { timeOf } from '../api/http/values.js';

export class CustomerLinkView {
  @Text("The merchant's own id.") customer_id!: string;
  @Text("The MoR's customer.") mor_customer_id!: string;
  @TextOrNull('Your own word for it; null: none was given.') reference!: string | null;
  @TextOrNull('The signup that linked them; null: the link was made elsewhere.') signup_id!: string | null;
  @Text('`signup`, the name of an API key, or a person at the command line.') linked_by!: string;
  @Time() linked_at!: string;
}

export function linkView(l: CustomerLink): CustomerLinkView {
  return {
    customer_id: l.customerId,
    mor_customer_id: l.morCustomerId,
    reference: l.reference,
    signup_id: l.signupId,
    linked_by: l.linkedBy,
    linked_at: timeOf(l.linkedAt),
  };
}
