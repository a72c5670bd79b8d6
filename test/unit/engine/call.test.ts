// A stored call: its key and bytes, its end without a send, its second send, and the rows behind it.
import { expect, it } from '@jest/globals';
import { type CallRow } from '../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type CallFailure, said } from '../../../src/shared/domain/ports/call.js';
import { openCallReview, paymentOf, refusalOf } from '../../../src/engine/call.js';
import { type Ctx, emptyLane, callKey } from '../../../src/engine/context.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { aCtx, NOW } from '../../support/builders/channel-lane.js';
import { addCallRow, decide, takeCallBack } from '../../support/rigs/decide.js';
import { never } from '../../support/never.js';
import { putCall, putPayment } from '../../support/builders/put-rows.js';

const LATER = new Date(NOW.getTime() + 60_000);
const ctx = aCtx();
const later = aCtx(LATER);
const lane = emptyLane('in_1');
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx, { invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', ...over });
const WIRE = { method: 'POST', path: '/v1/x', body: 'a=1' } as const;
const call = (state: LaneState, over: Partial<Parameters<typeof addCallRow>[2]> = {}, of: Ctx = ctx): LaneState =>
  addCallRow(state, of, { peer: 'stripe', kind: 'report_payment', subject: 'pay_1', wire: WIRE, ...over });
const first = (state: LaneState): CallRow => state.calls[0] ?? never();
const failure = (over: Partial<CallFailure> = {}): CallFailure =>
  ({ ok: false, kind: 'refused', status: 400, code: 'odd', message: 'no', retryAfterMs: null, ...over }) as CallFailure;

it('Crossbill stores a call with its key and bytes, and the call is due immediately', () => {
  expect(first(call(lane))).toMatchObject({
    ...{ lane: 'in_1', peer: 'stripe', kind: 'report_payment', subject: 'pay_1', generation: 1, wire: WIRE },
    ...{ key: 'crossbill:report_payment:pay_1:1', status: 'pending', attempts: 0, nextTryAt: NOW, createdAt: NOW },
    ...{ firstTriedAt: null, answeredAt: null, lastCode: null, lastMessage: null, replaying: false, asked: null },
  });
});

it('repeated calls of one kind about one payment have numbered keys, from 1 up', () => {
  const again = call(call(call(lane)), { subject: 'pay_2' });
  expect(again.calls.map((m) => m.generation)).toEqual([1, 2, 1]);
  const other = call(again, { kind: 'attach_payment' });
  expect(other.calls.at(-1)?.generation).toBe(1);
  const named = call(other, { generation: 7, key: 'mine' });
  expect(named.calls.at(-1)).toMatchObject({ generation: 7, key: 'mine' });
  expect(call(named).calls.at(-1)?.generation).toBe(8);
});

it('in shadow mode, Crossbill stores a call as cancelled', () => {
  const s = call(lane, {}, aCtx(NOW, { sendsNothing: true }));
  expect(first(s)).toMatchObject({ status: 'cancelled', answeredAt: NOW, lastCode: 'shadow_mode' });
  expect(first(s).lastMessage).not.toBeNull();
});

it('an idempotency key has at most 255 visible ASCII characters: a hash replaces a longer or odd id', () => {
  expect(callKey('report_payment', 'pay_1', 3)).toBe('crossbill:report_payment:pay_1:3');
  const fits = 'x'.repeat(255 - 'crossbill:k::1'.length);
  expect(callKey('k', fits, 1)).toBe(`crossbill:k:${fits}:1`);
  for (const odd of [`${fits}x`, 'a b', 'ä', 'a\n', '\u007f']) {
    expect(callKey('k', odd, 1)).toMatch(/^crossbill:k:sha256-[0-9a-f]{64}:1$/);
  }
  expect(callKey('k', 'a b', 1)).not.toBe(callKey('k', 'a c', 1));
});

it('the timeline of a withdrawn call says whether Crossbill had tried the call', () => {
  const s = call(lane);
  const untried = takeCallBack(s, first(s), 'it is paid', later);
  expect(first(untried)).toMatchObject({ status: 'cancelled', answeredAt: LATER });
  expect(untried.journal.at(-1)).toMatchObject({ text: 'report_payment taken back: it is paid', ref: first(s).id });
  const tried = takeCallBack(putCall(s, { ...first(s), attempts: 1 }), first(s), 'it is paid', later);
  expect(tried.journal.at(-1)?.text).toBe(
    'report_payment taken back: it is paid; it was tried before, without an answer',
  );
});

it('if an operator retries a refused call, the call keeps its key, and the age of the key starts again', () => {
  const s = call(lane);
  const refused: CallRow = {
    ...first(s),
    status: 'refused',
    lastCode: 'odd',
    firstTriedAt: NOW,
    answeredAt: NOW,
    attempts: 3,
  };
  const sendAgain = (of: LaneState, id = first(s).id): LaneState => decide(of, later, (l) => l.sendAgain(id));
  const again = first(sendAgain(putCall(s, refused)));
  expect(again).toEqual({
    ...refused,
    status: 'pending',
    lastCode: null,
    firstTriedAt: null,
    answeredAt: null,
    nextTryAt: LATER,
  });
  const done = putCall(s, { ...first(s), status: 'done' });
  expect(sendAgain(done)).toBe(done);
  expect(sendAgain(s, 'out_9')).toBe(s);
});

it('the refusal of a call becomes one line of text and one review item', () => {
  expect(said(failure())).toBe('400 odd no');
  expect(said(failure({ status: null, code: null, message: 'no answer in time' }))).toBe('no answer in time');
  expect(said(failure({ status: null, code: null, message: 'the token service says no (401)' }))).not.toMatch(
    /no answer/,
  );
  expect(said(failure({ message: '' }))).toBe('400 odd');
  const s = call(lane);
  const fact = { code: 'relay-refused', ...refusalOf(first(s), failure()) } as const;
  expect(fact).toMatchObject({ call: 'report_payment', status: 400, error: 'odd', said: '400 odd no' });
  const item = decide(s, ctx, (l) => openCallReview(l, first(s), fact, { paymentRowId: 'pmt_1' }));
  expect(item.reviews).toMatchObject([
    {
      kind: 'effect_failed',
      subject: 'report_payment:pay_1',
      topic: 'relay-refused',
      fact,
      actions: ['retry', 'dismiss'],
      proposed: 'retry',
      paymentRowId: 'pmt_1',
      refundId: null,
    },
  ]);
});

it('Crossbill finds the payment of a call by the call’s payment id; the payment of a finalization has the mark status `finalizing`', () => {
  const [a, b] = [payment({ id: 'a', paymentId: 'pay_1' }), payment({ id: 'b', mark: 'finalizing' })];
  const s = putPayment(putPayment(call(lane), a), b);
  expect(paymentOf(s, first(s))).toBe(a);
  expect(paymentOf(s, { ...first(s), subject: 'a' })).toBe(a); // written before the payment had its name
  expect(paymentOf(s, { ...first(s), subject: 'pay_9' })).toBeUndefined();
  expect(paymentOf(s, { ...first(s), kind: 'finalize_invoice', subject: 'in_1' })).toBe(b);
});
