// A returned debit in the API's form.
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { Amount, Currency, Example, Text, TextOrNull, Time, TimeOrNull, Word } from '../../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../../frames/api/http/values.js';
import { paymentName } from '../../../shared/domain/payment-name.js';

const STATUSES = ['returned', 'undone'] as const;

export class ReturnView {
  @Example('id_123') @Text("Crossbill's own id, `ret_…`; it never changes.") id!: string;
  @Example('pay_123') @Text() payment_id!: string;
  @Example('in_123') @Text() invoice_id!: string;
  @Amount('What the bank took back, in smallest units: the rest after earlier refunds and losses.') amount!: number;
  @Currency() currency!: string;
  @Word(STATUSES, '`undone`: somebody undid the record, and the ledger reversed the loss.') status!: string;
  @Example('bank statement, line 12') @TextOrNull('Where the caller saw the return.') reference!: string | null;
  @Time() created_at!: string;
  @TimeOrNull() undone_at!: string | null;
}

export function returnView(row: MorObjectRow, payment: PaymentRow): ReturnView {
  return {
    id: row.id,
    payment_id: paymentName(payment),
    invoice_id: row.invoiceId,
    amount: amountOf(row.amount ?? 0n),
    currency: currencyOf(row.currency ?? payment.currency),
    status: row.status,
    reference: row.number,
    created_at: timeOf(row.createdAt),
    undone_at: row.status === 'undone' ? timeOf(row.updatedAt) : null,
  };
}
