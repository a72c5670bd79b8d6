// Requests for a refund that Crossbill refuses because the customer might get the money twice.
import { describe, expect, it } from '@jest/globals';
import { type MorObjectRow, newMorObject } from '../../../../src/shared/domain/mor-object.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type RefundRequest } from '../../../../src/core/refunds/rules/request.js';
import { askRefund } from '../../../support/rigs/ask-refund.js';
import { asked, ctx, lane, payment, WISH } from '../../../support/builders/asked-refund.js';
import { NOW } from '../../../support/builders/channel-lane.js';
import { putObject } from '../../../support/builders/put-rows.js';

/** The amount of the refund, or the code of the refusal. */
const request = (state: LaneState, over: Partial<RefundRequest>) => {
  const done = askRefund(state, 'pmt_1', { ...WISH, ...over }, ctx(1));
  return done.ok ? done.value.amount : done.code;
};

describe('a refund request without a key of the caller', () => {
  const again = (state: LaneState, amount: bigint | null) => request(state, { amount, unlessWaiting: true });

  it('is refused while an equal refund waits for its sending or for the answer of the MoR', () => {
    for (const status of ['requested', 'unknown'] as const)
      expect(again(asked({ status }).s, 1000n)).toBe('refund_waiting');
    expect(again(asked({ amount: 2990n }).s, null)).toBe('refund_waiting');
  });

  it('is a further refund if the amounts differ, or if the earlier refund has an answer or came from elsewhere', () => {
    expect(again(asked().s, 999n)).toBe(999n);
    expect(again(asked().s, null)).toBe(1990n);
    expect(again(asked({ status: 'pending' }).s, 1000n)).toBe(1000n);
    expect(again(asked({ status: 'failed' }).s, 1000n)).toBe(1000n);
    expect(again(asked({ origin: 'event' }).s, 1000n)).toBe(1000n);
  });
});

describe('a refund request for a disputed payment', () => {
  const beside = (over: Partial<MorObjectRow>): LaneState =>
    putObject(
      lane(payment()),
      newMorObject(NOW, {
        ...{ id: 'dsp_1', kind: 'dispute', invoiceId: 'in_1', paymentRowId: 'pmt_1', status: 'action_needed' },
        ...over,
      }),
    );

  it('is refused while the dispute is undecided, unless the request names the dispute', () => {
    for (const status of ['action_needed', 'revision_requested', 'decided']) {
      expect(request(beside({ status }), {})).toBe('payment_disputed');
      expect(request(beside({ status }), { despiteDispute: true })).toBe(1000n);
    }
  });

  it('is refused next to a dispute of an unknown payment of the invoice, and next to a loss of an unclear sum', () => {
    expect(request(beside({ paymentRowId: null }), {})).toBe('payment_disputed');
    const unread = { said: '300', at: NOW.toISOString() };
    expect(request(beside({ status: 'lost', detail: { unread } }), {})).toBe('payment_disputed');
  });

  it('is accepted after a win, next to a dispute of another payment, and next to an alert', () => {
    expect(request(beside({ status: 'won' }), {})).toBe(1000n);
    expect(request(beside({ status: 'lost' }), {})).toBe(1000n);
    expect(request(beside({ paymentRowId: 'pmt_2' }), {})).toBe(1000n);
    expect(request(beside({ kind: 'alert', status: 'received' }), {})).toBe(1000n);
  });
});
