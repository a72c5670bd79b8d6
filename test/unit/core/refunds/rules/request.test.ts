// What a refund that was asked for comes to: the MoR's answer, its refusal, its silence, and what a person says of it.
import { FACTS } from '../../../../support/builders/item-facts.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { expect, it } from '@jest/globals';
import { putCall, putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { declares } from '../../../../../src/engine/items.js';
import { createRefundCall, withdrawStale } from '../../../../../src/core/refunds/rules/refund-call.js';
import { stuckRefunds, applyStuckChoice } from '../../../../../src/core/refunds/rules/stuck-refund.js';
import {
  response,
  type Asked,
  asked,
  at,
  byEvent,
  ctx,
  lane,
  payment,
  refusal,
} from '../../../../support/builders/asked-refund.js';
import { open } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { asReview, decide, onStates, openReview } from '../../../../support/rigs/decide.js';

const HOUR = 3_600_000;
const first = (state: LaneState): RefundRow => state.refunds[0] ?? never();
/** The MoR's answer to the request, as the engine gives it to the rule. */
const reply = ({ s, m }: Omit<Asked, 'r'>, over: Parameters<typeof response>[0] = {}, ms = 0): LaneState =>
  onStates(createRefundCall).answered(s, m, { kind: 'create_refund', refund: response(over) }, ctx(ms));
/** What a person is told once the lane is at rest. */
const isIdle = (state: LaneState, ms = 0): LaneState => decide(state, ctx(ms), declares(stuckRefunds));
const items = (state: LaneState) => open(state).map((r) => [r.kind, r.subject]);

const answered = (of: Asked, over: Parameters<typeof response>[0] = {}): LaneState => reply(of, over, 5_000);

it("a successful answer gives the refund its MoR id and the MoR's time, or the time of arrival if the MoR gives no time", () => {
  const done = { status: 'succeeded', morRefundId: 'rfnd_1', processorRefundId: 're_1', failure: null };
  expect(answered(asked(), { createdAt: at(-900) }).refunds).toMatchObject([{ ...done, succeededAt: at(-900) }]);
  const dull = answered(asked());
  expect(dull.refunds).toMatchObject([{ ...done, succeededAt: at(5_000) }]);
  expect(open(dull)).toEqual([]);
  expect(answered(asked(), { status: 'pending' }).refunds).toMatchObject([
    { ...done, status: 'pending', succeededAt: null },
  ]);
  const empty = lane(payment());
  expect(reply({ ...asked(), s: empty })).toBe(empty);
});

it('a failed answer ends the refund and opens a review item, unless an event already reported success', () => {
  const failed = answered(asked(), { status: 'failed' });
  expect(first(failed)).toMatchObject({
    status: 'failed',
    failure: { status: null, code: 'refund_failed', message: 'the MoR reported a failure' },
  });
  expect(open(isIdle(failed))).toMatchObject([
    {
      ...{ kind: 'refund_stuck', topic: 'refund-failed', refundId: first(failed).id },
      fact: { code: 'refund-failed', refund: 'rfnd_1', said: 'the MoR reported a failure' },
    },
  ]);
  const notified = asked({ status: 'succeeded', morRefundId: 'rfnd_1', succeededAt: at(-1) });
  const late = answered(notified, { status: 'failed', createdAt: at(1) });
  expect(late.refunds).toMatchObject([
    { status: 'succeeded', succeededAt: at(-1), processorRefundId: 're_1', failure: null },
  ]);
  expect(open(late)).toEqual([]);
  expect(answered(notified, { createdAt: at(1) }).refunds).toMatchObject([{ succeededAt: at(-1) }]);
});

it("if the MoR's answer names another refund than the event, Crossbill keeps two refunds", () => {
  const other = asked({ status: 'succeeded', morRefundId: 'rfnd_9', processorRefundId: 're_9' });
  const two = answered(other);
  expect(two.refunds.map((r) => [r.morRefundId, r.origin, r.amount])).toEqual([
    ['rfnd_9', 'api', 1000n],
    ['rfnd_1', 'api', 1000n],
  ]);
  const byCharge = asked({ status: 'succeeded', processorRefundId: 're_9' });
  expect(answered(byCharge).refunds.map((r) => r.processorRefundId)).toEqual(['re_9', 're_1']);
  expect(answered(byCharge, { processorRefundId: null }).refunds).toMatchObject([{ morRefundId: 'rfnd_1' }]);
  const twin = { ...asked().r, id: 'ref_twin' };
  const paired = reply({ ...other, s: putRefund(other.s, twin) });
  expect(paired.refunds.map((r) => [r.id, r.morRefundId])).toEqual([
    [other.r.id, 'rfnd_9'],
    ['ref_twin', 'rfnd_1'],
  ]);
  const elsewhere = reply({ ...other, s: putRefund(other.s, { ...twin, paymentRowId: 'pmt_2' }) });
  expect(elsewhere.refunds).toHaveLength(3);
});

it.each([
  ['amount', { amountMinor: 999n }, 'rfnd_1', { answered: eur(999n) }],
  ['currency', { currency: 'USD' }, 'rfnd_1', { answered: { minor: 1000n, currency: 'USD' } }],
  ['payment', { paymentId: 'pay_9' }, null, { answeredFor: 'pay_9' }],
])(
  "if the MoR's answer names another %s than requested, the refund stays `unknown` and a refund_gap item opens",
  (_, over, name, said) => {
    const s = answered(asked(), over);
    expect(s.refunds).toMatchObject([{ status: 'unknown', morRefundId: name }]);
    const fact = { code: 'answer-differs', payment: 'pay_1', asked: eur(1000n), ...said };
    const { id } = first(s);
    expect(open(s)).toMatchObject([{ kind: 'refund_gap', subject: id, paymentRowId: 'pmt_1', refundId: id, fact }]);
    expect(answered(asked({ status: 'pending' }), over).refunds).toMatchObject([{ status: 'pending' }]);
    const taken = asked();
    const known = putRefund(taken.s, byEvent({ morRefundId: 'rfnd_1' }));
    expect(first(reply({ ...taken, s: known }, over)).morRefundId).toBeNull();
  },
);

it("the MoR's answer to a refund of a missing payment changes nothing", () => {
  const of = asked();
  const s = { ...of.s, payments: [] };
  expect(reply({ ...of, s })).toBe(s);
});

const joined = (known: RefundRow, over: Parameters<typeof response>[0] = {}, of = asked(), more: RefundRow[] = []) =>
  reply({ ...of, s: [known, ...more].reduce(putRefund, of.s) }, over);
const statuses = (state: LaneState) => state.refunds.map((r) => r.status);

it("if the MoR's answer names a known refund, Crossbill merges the request into that refund, and the refund takes both ids", () => {
  for (const name of [{ morRefundId: 'rfnd_1' }, { processorRefundId: 're_1' }]) {
    const s = joined(byEvent(name), {}, asked({ reason: 'goodwill' }));
    const [ours, known] = s.refunds;
    expect([ours?.status, known?.status]).toEqual(['joined', 'succeeded']);
    expect(known).toMatchObject({
      ...{ morRefundId: 'rfnd_1', processorRefundId: 're_1', origin: 'api', askedAs: ours?.id, reason: 'goodwill' },
    });
    expect(s.journal.at(-1)?.text).toBe(`${ours?.id ?? ''} and the recorded refund rfnd_1 are the same refund`);
  }
  expect(joined(byEvent({ morRefundId: 'rfnd_1', reason: 'theirs' })).refunds[1]?.reason).toBe('theirs');
  const held = byEvent({ id: 'ref_held', morRefundId: 'rfnd_2', processorRefundId: 're_1' });
  expect(joined(byEvent({ morRefundId: 'rfnd_1' }), {}, asked(), [held]).refunds[1]?.processorRefundId).toBeNull();
});

it.each([
  ['has another amount', byEvent({ morRefundId: 'rfnd_1', amount: 999n })],
  ['has another currency', byEvent({ morRefundId: 'rfnd_1', currency: 'USD' })],
  ['has not succeeded', byEvent({ morRefundId: 'rfnd_1', status: 'pending' })],
  ['was joined to an earlier request', byEvent({ morRefundId: 'rfnd_1', askedAs: 'ref_before' })],
])(
  "the MoR's answer to a refund request changes nothing if the answer names a known refund, and that refund %s",
  (_, known) => {
    const of = asked();
    const s = putRefund(of.s, known);
    expect(reply({ ...of, s })).toBe(s);
  },
);

it("the MoR's answer changes nothing while the refund named in the answer still waits for an answer to its own request", () => {
  const of = asked();
  const waits = putCall(putRefund(of.s, byEvent({ morRefundId: 'rfnd_1' })), {
    ...of.m,
    ...{ id: 'out_2', subject: 'ref_event' },
  });
  expect(reply({ ...of, s: waits })).toBe(waits);
  const done = putCall(waits, { ...of.m, id: 'out_2', subject: 'ref_event', status: 'done' });
  expect(statuses(reply({ ...of, s: done }))).toEqual(['joined', 'succeeded']);
});

it('a refund request and an event without ids become one refund only if the MoR made the refund before that event', () => {
  const bare = byEvent();
  expect(statuses(joined(bare, { createdAt: at(999) }))).toEqual(['joined', 'succeeded']);
  const apart = ['succeeded', 'succeeded'];
  expect(statuses(joined(bare, { createdAt: at(1_000) }))).toEqual(apart);
  expect(statuses(joined(bare))).toEqual(apart);
  const strangers: Partial<RefundRow>[] = [
    { origin: 'api', status: 'succeeded' },
    { askedAs: 'ref_before' },
    { morRefundId: 'rfnd_2' },
    { processorRefundId: 're_2' },
    { amount: 999n },
    { currency: 'USD' },
    { succeededAt: null },
    { paymentRowId: 'pmt_2' },
  ];
  for (const over of strangers) {
    expect(statuses(joined(byEvent(over), { createdAt: at(0) }))).toEqual(apart);
  }
  const named = asked({ morRefundId: 'rfnd_1', status: 'unknown' });
  expect(statuses(joined(bare, { createdAt: at(0) }, named))).toEqual(apart);
});

const refused = ({ s, m }: Asked, over: Parameters<typeof refusal>[0] = {}, ms = 0): LaneState => {
  const f = refusal(over);
  const last = { lastStatus: f.status, lastCode: f.code, lastMessage: f.message };
  const tried = { ...m, attempts: m.attempts + 1, ...last };
  const sent = putCall(s, { ...tried, status: 'refused', answeredAt: at(ms) });
  return isIdle(onStates(createRefundCall).refused(sent, tried, f, ctx(ms)), ms);
};

it('a refusal at the first try fails the refund without a review item, since the caller gets the refusal', () => {
  const s = refused(asked());
  expect(s.refunds).toMatchObject([
    { status: 'failed', failure: { status: 422, code: 'not_refundable', message: 'no' } },
  ]);
  expect([items(s), s.payments[0]?.paymentId]).toEqual([[], 'pay_1']);
});

it('a refusal of a repeated refund, or of a key in use, leaves the refund `unknown` and opens a refund_stuck item', () => {
  for (const [of, over] of [
    [asked({ status: 'unknown' }, { attempts: 1 }), {}],
    [asked(), { status: 409 }],
  ] as const) {
    const s = refused(of, over);
    expect(s.refunds).toMatchObject([{ status: 'unknown', failure: null }]);
    expect(open(s)).toMatchObject([
      {
        ...{ kind: 'refund_stuck', subject: of.r.id, paymentRowId: 'pmt_1', refundId: of.r.id },
        fact: { code: 'refund-waits', refused: { status: over.status ?? 422, error: 'not_refundable' } },
      },
    ]);
  }
});

it('if the MoR refuses an idempotency key as used with another body, the refund stays `unknown` and a refund_stuck item opens', () => {
  const s = refused(asked(), { status: 409, code: 'idempotency_conflict' });
  expect(s.refunds).toMatchObject([{ status: 'unknown', failure: { status: 409, code: 'idempotency_conflict' } }]);
  expect(open(s)).toMatchObject([{ kind: 'refund_stuck', fact: { refused: { error: 'idempotency_conflict' } } }]);
});

it(`the MoR's "payment not found" removes a payment id that an operator typed, and fails the refund`, () => {
  const missing = { status: 404, code: 'payment_not_found' };
  const byHand = payment({ identifiedBy: 'ada' });
  const s = refused(asked({ status: 'unknown' }, { attempts: 1 }, byHand), missing);
  expect(s.refunds).toMatchObject([{ status: 'failed' }]);
  expect(s.payments).toMatchObject([{ paymentId: null, identifiedBy: null }]);
  expect(open(s)).toMatchObject([{ topic: 'refund-failed', refundId: first(s).id }]);
  expect(s.journal.some((l) => l.text.includes('pay_1: Crossbill removed this id, entered by ada'))).toBe(true);
  const unnamed = asked({ status: 'unknown' }, {}, byHand);
  const before = putPayment(unnamed.s, { ...byHand, paymentId: null });
  expect(refused({ ...unnamed, s: before }, missing).refunds).toMatchObject([{ status: 'failed' }]);
  const otherReason = refused(asked({}, {}, byHand), { status: 404, code: 'gone' });
  expect(otherReason.payments).toMatchObject([{ paymentId: 'pay_1', identifiedBy: 'ada' }]);
  const ownName = refused(asked(), missing);
  expect([ownName.refunds[0]?.status, ownName.payments[0]?.paymentId]).toEqual(['failed', 'pay_1']);
  expect(refused(asked({ status: 'unknown' }), missing).refunds).toMatchObject([{ status: 'unknown' }]);
});

it('if the MoR refuses a refund already completed by an equal event, the refund stays succeeded and a refund_gap item opens', () => {
  const done = asked({ status: 'succeeded' }, { attempts: 1 });
  const s = refused(done);
  expect([s.refunds, s.payments, s.entries]).toEqual([done.s.refunds, done.s.payments, done.s.entries]);
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'refund_gap', subject: `${done.r.id}:refused`, paymentRowId: 'pmt_1', refundId: done.r.id },
      fact: { code: 'request-refused', nothingMade: false, status: 422, error: 'not_refundable' },
    },
  ]);
  const named = refused(asked({ status: 'succeeded', processorRefundId: 're_9' }));
  expect(open(named)[0]?.fact).toMatchObject({ code: 'request-refused', other: 're_9', nothingMade: true });
});

it("a refusal of the idempotency key changes nothing after the refund's event, or if the refund is missing", () => {
  const done = asked({ status: 'succeeded' });
  const busy = refused(done, { status: 409, code: 'idempotency_conflict' });
  expect([busy.refunds, open(busy)]).toEqual([done.s.refunds, []]);
  const unknown = refused({ ...asked(), s: lane(payment()) });
  expect([unknown.refunds, open(unknown)]).toEqual([[], []]);
});

it('if the MoR does not answer, the refund becomes `unknown`, unless the request certainly did not reach the MoR', () => {
  const silent = ({ s, m }: Asked, kind: 'unknown' | 'retry') =>
    onStates(createRefundCall).silent(s, m, refusal({ kind, status: null }), ctx()) ?? never();
  expect(silent(asked(), 'unknown').refunds).toMatchObject([{ status: 'unknown' }]);
  const retry = asked();
  expect(silent(retry, 'retry')).toBe(retry.s);
  const known = asked({ status: 'pending' });
  expect(silent(known, 'unknown')).toBe(known.s);
});

const about = (state: LaneState, refund: RefundRow): ReviewRow =>
  openReview(state, ctx(), { kind: 'refund_stuck', subject: refund.id, refundId: refund.id, fact: FACTS.refund_stuck })
    .reviews[0] ?? never();
const choose = ({ s, r }: Asked, resolution: 'apply' | 'retry' | 'dismiss', note: string | null = null) =>
  asReview(applyStuckChoice)(s, about(s, r), { resolution, note, by: 'ada' }, ctx());

it('a retry of a stuck refund sends the same request; a retry of a failed refund sends nothing', () => {
  const stuck = asked({ status: 'unknown' }, { status: 'refused' });
  expect(choose(stuck, 'retry')).toMatchObject({ ok: true, state: { calls: [{ status: 'pending' }] } });
  expect(choose(stuck, 'dismiss')).toMatchObject({ ok: true, state: stuck.s });
  const failed = asked({ status: 'failed' }, { status: 'refused' });
  expect(choose(failed, 'retry')).toMatchObject({ ok: true, state: failed.s });
});

it('Crossbill refuses to retry a refund whose request bytes were erased', () => {
  const wire = { method: 'POST', path: '/', body: null } as const;
  const gone = asked({ status: 'unknown' }, { status: 'refused', wire });
  expect(choose(gone, 'retry')).toMatchObject({ ok: false, status: 409, code: 'request_erased' });
});

it('Crossbill refuses to retry a refund that the MoR already answered', () => {
  const wire = { method: 'POST', path: '/', body: null } as const;
  const answered = asked({ status: 'pending' }, { status: 'done', wire });
  expect(choose(answered, 'retry')).toMatchObject({ ok: false, status: 409, code: 'refund_answered' });
});

it('an operator can end a refund as failed only with a note and without a request under way', () => {
  const stuck = asked({ status: 'unknown' }, { status: 'refused' });
  for (const note of [null, ' '])
    expect(choose(stuck, 'apply', note)).toMatchObject({ ok: false, status: 400, field: 'note' });
  expect(choose(asked({ status: 'unknown' }), 'apply', 'Ada')).toMatchObject({
    ok: false,
    code: 'refund_being_sent',
  });
  const ended = choose(stuck, 'apply', ' Ada of the MoR ');
  expect(ended).toMatchObject({
    ok: true,
    state: {
      refunds: [
        {
          status: 'failed',
          failure: { code: 'told_by_person', message: 'ada says that it failed: Ada of the MoR' },
        },
      ],
    },
  });
  for (const status of ['succeeded', 'failed'] as const) {
    const over = asked({ status });
    expect(choose(over, 'apply')).toEqual({ ok: true, state: over.s, value: null });
  }
});

const watch = (state: LaneState, ms: number) => {
  const polls: (Date | null)[] = [];
  const on = new Lane(state, ctx(ms), (when) => void polls.push(when));
  for (const rule of [withdrawStale, declares(stuckRefunds)]) rule(on);
  return { s: on.toState(), looks: polls };
};

it.each([
  ['unknown', 24],
  ['pending', 240],
] as const)('a refund_stuck item opens after a refund has been `%s` for %d hours', (status, hours) => {
  const { s } = asked({ status }, { status: 'done' });
  expect(watch(s, hours * HOUR - 1)).toEqual({ s, looks: [at(hours * HOUR)] });
  const late = watch(s, hours * HOUR).s;
  expect(open(late)).toMatchObject([{ kind: 'refund_stuck', refundId: s.refunds[0]?.id, paymentRowId: 'pmt_1' }]);
  const fact = { code: 'refund-waits', amount: eur(1000n), status, withdrawn: false, refused: null };
  expect(open(late)[0]).toMatchObject({ fact });
});

it('Crossbill withdraws a refund request 23 hours after it was made, since the MoR may have forgotten the key', () => {
  for (const tried of [null, at(0), at(22 * HOUR)])
    for (const status of ['requested', 'unknown'] as const) {
      const { s, m } = asked({ status }, { firstTriedAt: tried, nextTryAt: at(99 * HOUR) });
      expect(watch(s, 23 * HOUR - 1).s).toBe(s);
      const { s: over } = watch(s, 23 * HOUR);
      expect(over.calls).toMatchObject([{ status: 'refused', lastCode: 'key_too_old', answeredAt: at(23 * HOUR) }]);
      expect(over.refunds[0]?.status).toBe('unknown');
      expect(open(over)[0]?.fact).toMatchObject({ code: 'refund-waits', withdrawn: true });
      expect(over.journal.some((l) => l.text.includes(`key ${m.key} by now: Crossbill does not repeat`))).toBe(true);
    }
  const settled = asked({ status: 'succeeded' }, { firstTriedAt: at(0) });
  expect(watch(settled.s, 23 * HOUR).s.calls[0]?.status).toBe('cancelled');
  const done = asked({ status: 'unknown' }, { firstTriedAt: at(0), status: 'done' });
  expect(watch(done.s, 23 * HOUR).s.calls[0]?.status).toBe('done');
});

it("an operator's retry keeps a refund request valid for another 23 hours", () => {
  const { s } = asked({ status: 'unknown' }, {});
  const [item] = open(watch(s, 23 * HOUR).s);
  const retried = (resolution: 'retry' | 'dismiss'): LaneState => ({
    ...s,
    reviews: [{ ...(item ?? never()), status: 'resolved', resolution, resolvedAt: at(30 * HOUR) }],
  });
  const sent = (state: LaneState, hours: number) => watch(state, hours * HOUR - 1).s.calls[0]?.status;
  expect([sent(retried('retry'), 53), sent(retried('retry'), 54)]).toEqual(['pending', 'refused']);
  expect(sent(retried('dismiss'), 53)).toBe('refused');
});

it('the refund_stuck item of a waiting refund closes when the refund ends, and a failure opens a new item', () => {
  const { s } = asked({ status: 'pending' });
  const waiting = watch(s, 240 * HOUR).s;
  const end = (over: Partial<RefundRow>) =>
    watch(putRefund(waiting, { ...(waiting.refunds[0] ?? never()), ...over }), 241 * HOUR).s;
  expect(end({ status: 'succeeded' }).reviews).toMatchObject([{ status: 'resolved' }]);
  expect(end({ status: 'joined' }).reviews).toMatchObject([{ status: 'resolved' }]);
  const failed = end({ status: 'failed', morRefundId: 'rfnd_1' });
  expect(failed.reviews.map((r) => [r.status, r.topic])).toEqual([
    ['resolved', 'refund-waits'],
    ['open', 'refund-failed'],
  ]);
  expect(open(failed)).toMatchObject([{ fact: { code: 'refund-failed', refund: 'rfnd_1', said: null } }]);
  const [row = never()] = failed.refunds;
  expect(open(watch(putRefund(failed, { ...row, status: 'succeeded' }), 242 * HOUR).s)).toEqual([]);
  expect(open(watch(failed, 242 * HOUR).s)).toHaveLength(1);
  const refused = { status: 422, code: 'x', message: 'no' };
  const quiet = asked(
    { status: 'failed', failure: refused },
    { status: 'refused', attempts: 1, answeredAt: at(11_999) },
  );
  expect(watch(quiet.s, 0).s).toBe(quiet.s);
});
