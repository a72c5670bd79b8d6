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
      return lane.refunds.find((r) => r.id === row.subject);
    },
    get object() {
      return lane.findObject(row.subject);
    },
  };
}
