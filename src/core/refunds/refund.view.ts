// A refund in the API's form.
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { type ListedRefund } from '../../engine/read-model.js';
import {
  Amount,
  Currency,
  Example,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeOrNull,
  Word,
} from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';

export const REFUND_STATUSES = ['succeeded', 'pending', 'failed', 'unknown'] as const;

export class RefundView {
  @Example('ref_123') @Text("Crossbill's own id; it never changes.") id!: string;
  @Example('rfnd_123') @TextOrNull("The MoR's `rfnd_…`; null until the MoR sends it.") mor_refund_id!: string | null;
  @Example('pay_123') @Text() payment_id!: string;
  @Example('in_123') @Text() invoice_id!: string;
  @TextOrNull("The invoice's number, as the customer reads it.") invoice_number!: string | null;
  @Example('cus_123') @TextOrNull("The merchant's own id.") customer_id!: string | null;
  @Example(500) @Amount() amount!: number;
  @Currency() currency!: string;
  @Example('succeeded')
  @Text(
    '`succeeded`, `pending`, `failed`, `unknown` (the MoR has not answered yet), or another word of the MoR, counted as `pending`. Until the refund succeeds or fails, its amount stays reserved.',
  )
  status!: string;
  @TextOrNull() reason!: string | null;
  @Example('re_123') @TextOrNull("The refund's id at the processor.") processor_refund_id!: string | null;
  @Word(['api', 'event'], '`api`: requested here. `event`: made elsewhere.') origin!: 'api' | 'event';
  @TextIfAny('How far Stripe shows the refund.') mirror!: string;
  @TextOrNull('The credit note on Stripe.') credit_note_id!: string | null;
  @TextIfAny('Why it failed, as a code.') failure_code?: string | undefined;
  @TextIfAny('Why it failed, as a sentence.') failure_message?: string | undefined;
  @Time() created_at!: string;
  @TimeOrNull() succeeded_at!: string | null;
}

/**
 * The stored statuses behind a public status. The public `unknown` covers two: sent without a reply, and not sent yet.
 */
export function refundStatuses(shown: (typeof REFUND_STATUSES)[number]): readonly RefundRow['status'][] {
  return shown === 'unknown' ? ['requested', 'unknown'] : [shown];
}

/** The public status. A refund without a reply is `unknown`, even if Crossbill has not sent it yet. */
export function shownStatus({ status, morStatus }: Pick<RefundRow, 'status' | 'morStatus'>): string {
  if (morStatus !== null) return morStatus;
  if (status === 'requested') return 'unknown';
  // `joined`: this request and another row turned out to be the same refund. The refund has succeeded, and lists show
  // only the other row.
  return status === 'joined' ? 'succeeded' : status;
}

/** The payment, customer and invoice of a refund. `name`: the payment's public id. */
type Whose = { readonly name: string; readonly customerId: string | null; readonly invoiceNumber: string | null };

export function listedRefundView({ refund, payment, invoiceNumber }: ListedRefund): RefundView {
  return refundView(refund, { name: paymentName(payment), customerId: payment.customerId, invoiceNumber });
}

export function refundView(refund: RefundRow, { name, customerId, invoiceNumber }: Whose): RefundView {
  return {
    id: refund.id,
    mor_refund_id: refund.morRefundId,
    payment_id: name,
    invoice_id: refund.invoiceId,
    invoice_number: invoiceNumber,
    customer_id: customerId,
    amount: amountOf(refund.amount),
    currency: currencyOf(refund.currency),
    status: shownStatus(refund),
    reason: refund.reason,
    processor_refund_id: refund.processorRefundId,
    origin: refund.origin,
    mirror: refund.mirror,
    credit_note_id: refund.creditNoteId,
    failure_code: refund.failure?.code ?? undefined,
    failure_message: refund.failure?.message,
    created_at: timeOf(refund.createdAt),
    succeeded_at: timeOf(refund.succeededAt),
  };
}
