// Refunds on tax transactions as kept and as on the wire (Document 2, "Refund on a transaction").
import { decimalFromMinor } from '../kernel/money.js';
import { showRate } from './decimals.js';

/** One line's part of a refund: `base` before tax, and its tax, in smallest units; the rate in millionths. */
export type TaxRefundLine = {
  readonly lineItemId: string;
  readonly reference: string;
  readonly reason: string;
  readonly base: bigint;
  readonly tax: bigint;
  readonly rate: bigint;
};

export type TaxRefund = {
  readonly id: string;
  readonly reference: string;
  readonly refundDate: string;
  readonly createdAt: string;
  readonly currency: string;
  readonly lines: readonly TaxRefundLine[];
  /** The transaction, lines and amounts as sent: a retry must be the same. */
  readonly fingerprint: string;
};

export function showRefund(refund: TaxRefund): Record<string, unknown> {
  const { currency } = refund;
  const amount = (minor: bigint): string => decimalFromMinor(minor, currency);
  const sum = (of: (line: TaxRefundLine) => bigint): bigint =>
    refund.lines.reduce((total, line) => total + of(line), 0n);
  return {
    refundTransactionId: refund.id,
    merchantRefundReference: refund.reference,
    refundDate: refund.refundDate,
    refundLineItems: refund.lines.map((line) => ({
      lineItemId: line.lineItemId,
      refundLineItemReference: line.reference,
      refundReason: line.reason,
      refundItemSubTotalAmount: amount(line.base),
      refundItemTotalAmount: amount(line.base + line.tax),
      refundTax: { rate: showRate(line.rate), taxAmount: amount(line.tax), currency },
    })),
    createdAt: refund.createdAt,
    currency,
    subTotalAmount: amount(sum((line) => line.base)),
    taxAmount: amount(sum((line) => line.tax)),
    totalAmount: amount(sum((line) => line.base + line.tax)),
  };
}
