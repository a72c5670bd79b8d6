// The state machines: each is asked at every move, and stops what cannot be.
import { expect, it } from '@jest/globals';
import { newPayment } from '../../../../src/core/books/rules/payment-rows.js';
import { markMoves, type MarkStage, moveMark } from '../../../../src/shared/domain/payment-row.js';
import {
  mirrorMoves,
  type MirrorStage,
  refundMoves,
  type RefundStatus,
  moveMirror,
  moveRefund,
} from '../../../../src/shared/domain/refund-row.js';
import { newRefund } from '../../../../src/core/refunds/rules/refund.js';
import { aCtx } from '../../../support/builders/channel-lane.js';

const PAYMENT = newPayment(aCtx(), { invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR' });
const REFUND = newRefund(aCtx(), PAYMENT, { amount: 1000n, reason: null, origin: 'api' });

function allows<T extends string>(
  moves: Readonly<Record<T, readonly string[]>>,
  move: (from: T, to: T) => string,
): void {
  const stages = Object.keys(moves) as T[];
  for (const from of stages) {
    for (const to of stages) {
      if (from === to || moves[from].includes(to)) expect(move(from, to)).toBe(to);
      else expect(() => move(from, to)).toThrow(`cannot move from ${from} to ${to}`);
    }
  }
}

it('the mark status of a payment changes only as the table of allowed changes says, and a confirmed mark stays confirmed', () => {
  allows<MarkStage>(markMoves, (mark, to) => {
    const p = { ...PAYMENT, mark };
    moveMark(p, to);
    return p.mark;
  });
  expect(() => moveMark({ ...PAYMENT, mark: 'confirmed' }, 'waiting')).toThrow('a mark cannot move');
});

it('the status of a refund changes only as the table of allowed changes says, and a succeeded refund stays succeeded', () => {
  allows<RefundStatus>(refundMoves, (status, to) => {
    const r = { ...REFUND, status };
    moveRefund(r, to);
    return r.status;
  });
  expect(() => moveRefund({ ...REFUND, status: 'succeeded' }, 'failed')).toThrow('a refund cannot move');
});

it('the status of a refund’s report to Stripe changes only as the table of allowed changes says, and a finished report is final', () => {
  allows<MirrorStage>(mirrorMoves, (mirror, to) => {
    const r = { ...REFUND, mirror };
    moveMirror(r, to);
    return r.mirror;
  });
  expect(() => moveMirror({ ...REFUND, mirror: 'done' }, 'reporting')).toThrow("a refund's twin cannot move");
});
