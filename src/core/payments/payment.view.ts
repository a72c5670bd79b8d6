// A payment in the API's form, with its refunds and the state of its mark. Until the MoR gives the payment an id, the
// API shows our own id.
import { paymentName } from '../../shared/domain/payment-name.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type PaymentView as PaymentFacts } from '../../engine/read-model.js';
import {
  Amount,
  AmountOrNull,
  Currency,
  Example,
  Many,
  PartIfAny,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
} from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { RefundView, refundView } from '../refunds/refund.view.js';

/**
 * The statuses of Document 3 ("Payment status as delivered in events"). Crossbill adds `processing`: a signup's charge
 * without a proof.
 */
export const PAYMENT_STATUSES = [
  'processing',
  'succeeded',
  'failed',
  'requires_action',
  'partially_refunded',
  'refunded',
] as const;

/** The search for the proof of a signup's charge. Crossbill marks the invoice only after the proof. */
export class ProofView {
  @Word(
    ['asking', 'waiting_for_settlement'],
    '`waiting_for_settlement`: the MoR knows the charge and has not settled it; a bank debit takes days.',
  )
  status!: 'asking' | 'waiting_for_settlement';
  @Time('When the MoR first knew the charge; for `asking`: when the search began.') since!: string;
  @TimeOrNull('When Crossbill asks the MoR next.') next_look_at!: string | null;
}

export class PaymentView {
  @Example('pay_123') @Text('`pay_…`, or our own id until the MoR or a person names it.') id!: string;
  @Example('in_123') @Text() invoice_id!: string;
  @TextOrNull("The invoice's number, as the customer reads it.") invoice_number!: string | null;
  @Example('cus_123') @Text() customer_id!: string;
  @Example('mc_123') @TextOrNull() mor_customer_id!: string | null;
  @Example(2990) @AmountOrNull('Smallest units; null while only a refund of it is known.') amount!: number | null;
  @Currency() currency!: string;
  @Example('succeeded') @Word(PAYMENT_STATUSES) status!: (typeof PAYMENT_STATUSES)[number];
  @Example('ch_123') @TextOrNull() processor_charge_id!: string | null;
  @Example('pi_123') @TextOrNull() processor_payment_intent_id!: string | null;
  @Example('ch_123') @TextOrNull("The payment's reference on Stripe.") reference!: string | null;
  @Example(0) @Amount('The refunded sum, in smallest units.') amount_refunded!: number;
  @Example('pr_123') @TextOrNull("Stripe's `pr_…`.") payment_record_id!: string | null;
  @Many(RefundView) refunds!: RefundView[];
  @PartIfAny(ProofView, "Only while a signup's charge is not proven.") proof?: ProofView | undefined;
  @Example('confirmed')
  @Text('The stage of its mark on the invoice; `confirmed`: Stripe shows the payment there.')
  mark!: string;
  @Word(['renewal', 'signup', 'proforma', 'payment_link']) origin!: string;
  @TextIfAny() signup_id?: string | undefined;
  @TextIfAny() failure_message?: string | undefined;
  @TextIfAny() decline_code?: string | undefined;
  @TimeOrNull('When the MoR took the money.') succeeded_at!: string | null;
  @Time() created_at!: string;
  @TimeOrNull('When the MoR reported that it took no money; null: it did not report so.') verdict_at!: string | null;
}

/** Undefined: the payment needs no proof, has its proof, or waits for a person's decision. */
export function proofView(payment: PaymentRow): ProofView | undefined {
  if (payment.mark !== 'proving') return undefined;
  const status = payment.pendingSince === null ? 'asking' : 'waiting_for_settlement';
  return {
    status,
    since: timeOf(payment.pendingSince ?? payment.recordedAt),
    next_look_at: timeOf(payment.proveDueAt),
  };
}

export function paymentView(found: Omit<PaymentFacts, 'lost' | 'disputes'>): PaymentView {
  const { payment: p, morCustomerId, refunds, invoiceNumber } = found;
  const whose = { name: paymentName(p), customerId: p.customerId, invoiceNumber };
  return {
    id: paymentName(p),
    invoice_id: p.invoiceId,
    invoice_number: invoiceNumber,
    customer_id: p.customerId,
    mor_customer_id: morCustomerId,
    amount: amountOf(p.amount),
    currency: currencyOf(p.currency),
    status: p.status,
    processor_charge_id: p.processorChargeId,
    processor_payment_intent_id: p.processorPaymentIntentId,
    reference: p.reference,
    amount_refunded: amountOf(p.amountRefunded),
    payment_record_id: p.paymentRecordId,
    refunds: refunds.map((r) => refundView(r, whose)),
    mark: p.mark,
    proof: proofView(p),
    origin: p.origin,
    signup_id: p.signupId ?? undefined,
    failure_message: p.failureMessage ?? undefined,
    decline_code: p.declineCode ?? undefined,
    succeeded_at: timeOf(p.succeededAt),
    created_at: timeOf(p.recordedAt),
    verdict_at: timeOf(p.verdictAt),
  };
}
