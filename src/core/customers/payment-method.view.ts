// A customer's payment methods in the API's form. Only the reply to a new setup has the client secret.
import { METHOD_ORIGINS, type PaymentMethod } from './payment-methods.repository.js';
import { type IntentReply } from '../../shared/domain/ports/payment-gateway.js';
import { type SignupRow } from '../../shared/domain/signup.js';
import { Example, Flag, Many, Text, TextOrNull, Time, TimeOrNull, Word } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { InvoiceView } from '../invoices/invoice.view.js';

export class PaymentMethodMadeView {
  @Example('id_123') @Text('Ours, `met_…`.') id!: string;
  @Example('seti_123_secret_456') @Text("For the customer's browser, once. It is not kept.") client_secret!: string;
  @Text() setup_intent_id!: string;
  @Example('mc_123') @Text("The customer's id at the MoR.") mor_customer_id!: string;
  @Example('requires_payment_method') @Text("The MoR's first status of the intent.") status!: string;
}

export class PaymentMethodView {
  @TextOrNull('Ours: `sup_…` of a signup, `met_…` of a later setup; null: its link was made elsewhere.') id!:
    string | null;
  @TextOrNull('Null: a payment intent saved it, or it was saved elsewhere.') setup_intent_id!: string | null;
  @TextOrNull('Null: a setup intent saved it, or it was saved elsewhere.') payment_intent_id!: string | null;
  @Text("The customer's id at the MoR.") mor_customer_id!: string;
  @Word(METHOD_ORIGINS, '`change`: `POST /v1/customers/{id}/payment-method`; `import`: a link that was made elsewhere.')
  origin!: string;
  @Flag('The last confirmed one, or the newest if none is confirmed.') current!: boolean;
  @Time() created_at!: string;
  @TimeOrNull('When Crossbill learned of its confirmation; null: not yet.') confirmed_at!: string | null;
  @TextOrNull('`charge`: a charge succeeded; else who reported it, or who linked it.') confirmed_by!: string | null;
}

export class ConfirmedMethodView {
  @Example('cus_123') @Text("The merchant's own id.") customer_id!: string;
  @Text('Our id of the confirmed setup.') payment_method_id!: string;
  @Time('When the confirmation was first reported.') reported_at!: string;
  @Many(
    InvoiceView,
    "The customer's open refused renewals, newest first, at most 100. Crossbill tries each of them again.",
  )
  data!: InvoiceView[];
}

export function methodMadeView(signup: SignupRow, intent: IntentReply): PaymentMethodMadeView {
  return {
    id: signup.id,
    client_secret: intent.clientSecret,
    setup_intent_id: intent.intentId,
    mor_customer_id: intent.morCustomerId,
    status: intent.status,
  };
}

export function methodView(method: PaymentMethod): PaymentMethodView {
  return {
    id: method.id,
    setup_intent_id: method.setupIntentId,
    payment_intent_id: method.paymentIntentId,
    mor_customer_id: method.morCustomerId,
    origin: method.origin,
    current: method.current,
    created_at: timeOf(method.createdAt),
    confirmed_at: timeOf(method.confirmedAt),
    confirmed_by: method.confirmedBy,
  };
}
