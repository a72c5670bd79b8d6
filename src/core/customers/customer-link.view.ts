// The link between a Stripe customer and a MoR customer, in the form of the API and the command line.
import { type CustomerLink } from '../../shared/domain/customer-link.js';
import { type PaymentMethod } from './payment-methods.repository.js';
import { Example, Flag, Many, Text, TextOrNull, Time } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { methodView, PaymentMethodView } from './payment-method.view.js';

export class CustomerLinkView {
  @Example('cus_123') @Text("The merchant's own id.") customer_id!: string;
  @Example('mc_123') @Text("The MoR's customer.") mor_customer_id!: string;
  @Flag('The current payment method belongs to this link.') current!: boolean;
  @Many(PaymentMethodView, 'All methods of the customer, newest first.') payment_methods!: PaymentMethodView[];
  @Example('moved in November') @TextOrNull('Your reference; null: you gave none.') reference!: string | null;
  @TextOrNull('The signup behind the link; null: the link was made elsewhere.') signup_id!: string | null;
  @Example('backend') @Text('`signup`, the name of an API key, or a person at the command line.') linked_by!: string;
  @Time() linked_at!: string;
}

export function linkView(customerLink: CustomerLink, methods: readonly PaymentMethod[]): CustomerLinkView {
  return {
    customer_id: customerLink.customerId,
    mor_customer_id: customerLink.morCustomerId,
    current: methods.some((m) => m.current && m.morCustomerId === customerLink.morCustomerId),
    payment_methods: methods.map(methodView),
    reference: customerLink.reference,
    signup_id: customerLink.signupId,
    linked_by: customerLink.linkedBy,
    linked_at: timeOf(customerLink.linkedAt),
  };
}
