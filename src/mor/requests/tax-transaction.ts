// The requests for a tax transaction and for its refund (Document 2).
import { type BrokenCondition, type Checked, checkRequest } from './check.js';
import { About, DecimalText, Filled, isDay, Nested, NestedList, OneOf, Optional, Text, Uuid } from './rules.js';

export class TransactionPayment {
  @Optional() @Text(255) processor?: string;
  @Optional() @Text(255) paymentReference?: string;
}

export class TaxTransactionRequest {
  @Uuid() taxCalculationId!: string;
  @About('Also the idempotency key.')
  @Filled(255)
  merchantTransactionReference!: string;
  @Optional() @Nested(() => TransactionPayment) payment?: TransactionPayment;
}

export class TaxRefundLineRequest {
  @Filled(255) lineItemId!: string;
  @Filled(255) refundLineItemReference!: string;
  @Filled() refundReason!: string;
  @About('Left out: everything that remains of the line.')
  @Optional()
  @DecimalText()
  amount?: string;
}

export class TaxRefundRequest {
  @About('Also the idempotency key.')
  @Filled(255)
  merchantRefundReference!: string;
  @About('As 2026-01-31T12:00:00Z.')
  @Optional()
  @Filled(32)
  refundDate?: string;
  @Optional() @OneOf(['EXCLUSIVE', 'INCLUSIVE']) taxBehavior?: string;
  @NestedList(() => TaxRefundLineRequest, 1) refundLineItems!: TaxRefundLineRequest[];
}

export function checkTaxTransaction(body: unknown): Checked<TaxTransactionRequest> {
  return checkRequest(TaxTransactionRequest, body, 'invalid_argument');
}

/** `now` is the moment of the request: a refund is not dated later than today. */
export function checkTaxRefund(body: unknown, now: Date): Checked<TaxRefundRequest> {
  return checkRequest(TaxRefundRequest, body, 'invalid_argument', ({ refundDate }): BrokenCondition[] => {
    if (refundDate === undefined) return [];
    const day = refundDate.slice(0, 10);
    const wellFormed = /^[^T]{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(refundDate) && isDay(day);
    if (!wellFormed) return [{ field: 'refundDate', message: 'must be written as yyyy-MM-ddTHH:mm:ssZ' }];
    const late = day > now.toISOString().slice(0, 10);
    return late ? [{ field: 'refundDate', message: 'must not be later than today' }] : [];
  });
}
