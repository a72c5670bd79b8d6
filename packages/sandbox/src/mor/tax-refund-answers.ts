// Refunds of tax transactions, as the sandbox keeps them and as the MoR sends them (Document 2, "Refund on a
// transaction").
import { decimalFromMinor } from '../kernel/money.js';
import { showRate } from './decimals.js';

/** The part of a refund on one line, in smallest units: `base` before tax, and the tax. The rate is in millionths. */
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
  /** The transaction, lines and amounts as sent. A repeated request must have the same fingerprint. */
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
