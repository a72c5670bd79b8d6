// A stored call with the rows behind it, for the rules of calls.
import { paymentOf } from './answer-parts.js';
import { type OutboxRow, type PaymentRow, type RefundRow } from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type Draft, type Lane } from './draft.js';

/** Each row is looked up when a rule asks for it; undefined: the lane has no such row. */
export type Call = {
  readonly row: OutboxRow;
  readonly payment: Draft<PaymentRow> | undefined;
  readonly refund: Draft<RefundRow> | undefined;
  readonly object: Draft<MorObjectRow> | undefined;
};

export function callOf(lane: Lane, row: OutboxRow): Call {
  return {
    row,
    get payment() {
      return lane.findPayment(paymentOf(lane, row)?.id);
    },
    get refund() {
      return refundOf(lane, row);
    },
    get object() {
      return lane.findObject(row.subject);
    },
  };
}

/**
 * The refund of a stored call: its request to the MoR has our id of it, and its calls to Stripe have the reference there. The MoR may have
 * named the refund or its payment since.
 */
export function refundOf<R extends RefundRow>(
  { refunds }: { readonly refunds: readonly R[] },
  { subject, paymentRowId, asked }: OutboxRow,
): R | undefined {
  const reference = asked?.kind === 'report_refund' || asked?.kind === 'issue_credit_note' ? asked.refundId : null;
  const isNamed = (r: R): boolean =>
    reference !== null && [r.id, r.processorRefundId, r.morRefundId].includes(reference);
  return refunds.find((r) => r.id === subject || (r.paymentRowId === paymentRowId && isNamed(r)));
}
