// A signup in the API's form. Only the reply to its creation has the client secret.
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type IntentReply } from '../../shared/domain/ports/payment-gateway.js';
import { type SignupRow } from '../../shared/domain/signup.js';
import {
  AmountOrNull,
  Example,
  Many,
  Part,
  PartIfAny,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
} from '../../frames/api/http/docs.js';
import { FieldProblem } from '../../frames/api/http/problem.view.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { PaymentView, proofView, ProofView } from '../payments/payment.view.js';
import { SIGNUP_KINDS, type SignupKind } from './signup.dto.js';

class SignupIds {
  @Example('sup_123') @Text('Ours, `sup_…`.') id!: string;
  @Word(SIGNUP_KINDS) kind!: SignupKind;
  @Example('completed')
  @Text(
    "`requested`: no answer of the MoR yet. `refused`: the MoR refused. Then the MoR's first status of the intent. `completed`: its charge is proven, or a trial's payment method confirmed.",
  )
  status!: string;
  @TextIfAny('For a payment.') payment_intent_id?: string | undefined;
  @TextIfAny('For a trial.') setup_intent_id?: string | undefined;
  @Example('mc_123') @TextOrNull("The customer's id at the MoR.") mor_customer_id!: string | null;
  @TextIfAny() tax_calculation_id?: string | undefined;
}

export class SignupMadeView extends SignupIds {
  @Example('requires_payment_method') override status!: string;
  @Example(2990)
  @AmountOrNull('What the shopper pays, with tax, in smallest units; null for a trial.')
  amount_total!: number | null;
  @Example('pi_123_secret_456') @Text("For the customer's browser, once. It is not kept.") client_secret!: string;
}

export class SignupView extends SignupIds {
  @Example('cus_123') @Text("The merchant's own id.") customer_id!: string;
  @Example(2990) @AmountOrNull('Smallest units; null for a trial.') amount!: number | null;
  @Example('eur') @TextOrNull('ISO 4217, lower case; null for a trial.') currency!: string | null;
  @TextIfAny('Once completed.') invoice_id?: string | undefined;
  @TextIfAny('Once completed.') charge_id?: string | undefined;
  @TextIfAny('Once completed: `pay_…`, or an id of ours until the MoR named the payment.') payment_id?:
    string | undefined;
  @TextIfAny('How far the mark of its payment on the invoice has come.') mark?: string | undefined;
  @PartIfAny(ProofView, 'While its charge is not proven.') proof?: ProofView | undefined;
  @Time() created_at!: string;
  @TimeOrNull() completed_at!: string | null;
}

export class CompletedSignupView extends SignupView {
  @Part(PaymentView) payment!: PaymentView;
  @Many(
    FieldProblem,
    'What this completion left out, and how to add it later; empty: nothing. `payment_id`: a refund of this payment is refused until somebody names it.',
  )
  missing!: FieldProblem[];
}

function ids(signup: SignupRow): Omit<SignupIds, 'id' | 'status' | 'mor_customer_id'> {
  const intent = signup.intentId ?? undefined;
  return {
    kind: signup.kind === 'payment' ? 'payment' : 'trial',
    ...(signup.kind === 'payment' ? { payment_intent_id: intent } : { setup_intent_id: intent }),
    tax_calculation_id: signup.taxCalculationId ?? undefined,
  };
}

export function signupMadeView(signup: SignupRow, intent: IntentReply): SignupMadeView {
  return {
    id: signup.id,
    ...ids({ ...signup, intentId: intent.intentId }),
    amount_total: amountOf(signup.amount),
    client_secret: intent.clientSecret,
    mor_customer_id: intent.morCustomerId,
    status: intent.status,
  };
}

/** What a completion left out. Document 3 lets nobody look up the `pay_…` of a charge, so a refund would be refused. */
export function missingParts(payment: PaymentRow): FieldProblem[] {
  if (payment.paymentId !== null) return [];
  const ways = `Send this request again with payment_id (the MoR's pay_…), or name it with POST /v1/payments/${payment.id}/identify.`;
  return [
    { field: 'payment_id', message: `Until the payment has its id, a refund gets 409 payment_not_identified. ${ways}` },
  ];
}

/**
 * A signup for the API.
 * @param payment null before the completion
 * @param proven true for a proven charge, or for a trial with a confirmed method (`SignupsRepository.proven`)
 */
export function signupView(
  signup: SignupRow,
  payment: { name: string; row: PaymentRow | null } | null,
  proven: boolean,
): SignupView {
  return {
    id: signup.id,
    ...ids(signup),
    customer_id: signup.customerId,
    status: proven ? 'completed' : signup.status,
    mor_customer_id: signup.morCustomerId,
    amount: amountOf(signup.amount),
    currency: currencyOf(signup.currency),
    invoice_id: signup.invoiceId ?? undefined,
    charge_id: signup.chargeId ?? undefined,
    payment_id: payment?.name,
    mark: payment?.row?.mark,
    proof: payment?.row ? proofView(payment.row) : undefined,
    created_at: timeOf(signup.createdAt),
    completed_at: timeOf(signup.completedAt),
  };
}
