// A ledger entry in the API's form.
import { Amount, Currency, Example, Text, TextIfAny, Time } from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { type LedgerRow } from './ledger.repository.js';

export class LedgerEntryView {
  @Example('id_123') @Text() id!: string;
  @Example('mor_receivable') @Text() debit_account!: string;
  @Example('unmarked_payments') @Text() credit_account!: string;
  @Amount() amount!: number;
  @Currency() currency!: string;
  @Example('payment_collected') @Text('Why the money moved.') reason!: string;
  @TextIfAny("The merchant's own id.") customer_id?: string | undefined;
  @TextIfAny("The MoR's customer, by the newest link.") mor_customer_id?: string | undefined;
  @Example('in_123') @Text() invoice_id!: string;
  @TextIfAny("The invoice's number, as the customer reads it.") invoice_number?: string | undefined;
  @Example('pay_123') @Text('`pay_…`, or our own id until the MoR or a person names it.') payment_id!: string;
  @TextIfAny() processor_charge_id?: string | undefined;
  @TextIfAny("Stripe's `pr_…`.") payment_record_id?: string | undefined;
  @TextIfAny('Ours and permanent.') refund_id?: string | undefined;
  @TextIfAny("The MoR's `rfnd_…`.") mor_refund_id?: string | undefined;
  @TextIfAny("The refund's id at the processor.") processor_refund_id?: string | undefined;
  @TextIfAny('The credit note on Stripe.') credit_note_id?: string | undefined;
  @TextIfAny('The event behind the entry; left out if a call or a person caused it.') event_id?: string | undefined;
  @Time("When the money moved, by the MoR's own time. It decides the month of the entry (UTC).")
  moved_at!: string;
  @Time('When Crossbill made the entry.') recorded_at!: string;
}

export function entryView(ledger: LedgerRow): LedgerEntryView {
  return {
    id: ledger.id,
    debit_account: ledger.debit,
    credit_account: ledger.credit,
    amount: amountOf(ledger.amount),
    currency: currencyOf(ledger.currency),
    reason: ledger.reason,
    customer_id: ledger.customerId ?? undefined,
    mor_customer_id: ledger.morCustomerId ?? undefined,
    invoice_id: ledger.invoiceId,
    invoice_number: ledger.invoiceNumber ?? undefined,
    payment_id: ledger.paymentId,
    processor_charge_id: ledger.processorChargeId ?? undefined,
    payment_record_id: ledger.paymentRecordId ?? undefined,
    refund_id: ledger.refundId ?? undefined,
    mor_refund_id: ledger.morRefundId ?? undefined,
    processor_refund_id: ledger.processorRefundId ?? undefined,
    credit_note_id: ledger.creditNoteId ?? undefined,
    event_id: ledger.eventId ?? undefined,
    moved_at: timeOf(ledger.movedAt),
    recorded_at: timeOf(ledger.at),
  };
}
