// What becomes of a stored call: it is done, refused, or sent again under its key; and what a look for its effect changes.
import { expect, it } from '@jest/globals';
import { type Ctx } from '../../../src/engine/context.js';
import { type CallKind, type CallRow } from '../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type CallFailure } from '../../../src/shared/domain/ports/call.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { isFirstTry } from '../../../src/engine/calls.js';
import { applyObjectRead } from '../../support/rigs/object-calls.js';
import { refusal } from '../../support/builders/asked-refund.js';
import { LINK, NOW, open, PROFORMA } from '../../support/builders/channel-lane.js';
import {
  aLink,
  announced,
  aProforma,
  asking,
  linkFacts,
  proformaFacts,
  withObjects,
} from '../../support/builders/channel-object.js';
import { never } from '../../support/never.js';
import { at, ctx as on, lane, payment } from '../../support/builders/waiting-payment.js';
import { addCallRow, applyReply, applyCheck } from '../../support/rigs/decide.js';
import { putCall, putObject } from '../../support/builders/put-rows.js';

const HOUR_MS = 3_600_000;
const later = on({}, 5_000);
const texts = (state: LaneState) => state.journal.map((l) => l.text);

/** A stored call about the payment of 29.90 EUR, which is where the call leaves it. */
function stored(kind: CallKind, over: Partial<CallRow> = {}, invoice: Partial<InvoiceFacts> = {}) {
  const mark = kind === 'report_payment' ? 'reporting' : 'attaching';
  const peer = kind === 'relay_event' ? 'relay' : 'stripe';
  const wire = { method: 'POST', path: '/x', body: 'a=b' } as const;
  const s = addCallRow(lane(invoice, payment({ mark })), on(), { peer, kind, subject: 'pay_1', wire });
  const m: CallRow = { ...(s.calls[0] ?? never()), ...over };
  const other = addCallRow(s, on(), { peer, kind, subject: 'pay_0', wire });
  return { s: putCall({ ...other, calls: other.calls.toReversed() }, m), m };
}
const row = (state: LaneState, call: CallRow): CallRow => state.calls.find((x) => x.id === call.id) ?? never();
const done = <const T>(value: T) => ({ ok: true, value, status: 200, requestId: 'req_1' }) as const;

it('a successful call keeps its reply and the time of the reply, and the timeline shows the reply', () => {
  const { s, m } = stored('relay_event', { lastCode: 'x', lastMessage: 'y' });
  const state = applyReply(s, m.id, done({ kind: 'relay_event' }), later);
  expect(row(state, m)).toMatchObject({
    ...{ status: 'done', attempts: 1, firstTriedAt: at(5_000), answeredAt: at(5_000), lastStatus: 200 },
    ...{ lastRequestId: 'req_1', lastCode: null, lastMessage: null },
  });
  expect(state.journal).toMatchObject([
    {
      ...{ kind: 'call', text: 'relay_event done', ref: m.id },
      detail: { call: 'relay_event', key: m.key, attempt: 1, status: 200, requestId: 'req_1' },
    },
  ]);
  expect(state.calls.filter((x) => x.id !== m.id)).toEqual(s.calls.filter((x) => x.id !== m.id));
  const again = stored('relay_event', { attempts: 2, firstTriedAt: NOW });
  const second = row(applyReply(again.s, again.m.id, done({ kind: 'relay_event' }), later), again.m);
  expect(second).toMatchObject({ attempts: 3, firstTriedAt: NOW });
});

it('after Stripe replies with a new payment record, Crossbill attaches the record to the invoice', () => {
  const { s, m } = stored('report_payment');
  const state = applyReply(s, m.id, done({ kind: 'report_payment', paymentRecordId: 'inpay_1' }), later);
  expect(state.payments).toMatchObject([{ mark: 'attaching', paymentRecordId: 'inpay_1' }]);
  expect(state.calls.at(-1)).toMatchObject({ kind: 'attach_payment', status: 'pending' });
});

it('a reply to a finished or unknown call changes nothing', () => {
  const { s, m } = stored('relay_event', { status: 'done' });
  for (const id of [m.id, 'out_9']) expect(applyReply(s, id, done({ kind: 'relay_event' }), later)).toBe(s);
});

const failed = (over: Partial<CallFailure>, call: Partial<CallRow> = {}, kind: CallKind = 'relay_event') => {
  const { s, m } = stored(kind, call);
  const state = applyReply(
    s,
    m.id,
    refusal({ kind: 'unknown', status: 502, code: 'x', requestId: 'req_2', ...over }),
    later,
  );
  return { state, m: row(state, m) };
};

it('Crossbill repeats a failed call automatically, with the same key and bytes, after a growing pause', () => {
  const { state, m } = failed({});
  expect(m).toMatchObject({
    ...{ status: 'pending', attempts: 1, firstTriedAt: at(5_000), nextTryAt: at(6_000), answeredAt: null },
    ...{ lastStatus: 502, lastCode: 'x', lastMessage: 'no', lastRequestId: 'req_2', replaying: false },
    ...{ key: 'crossbill:relay_event:pay_1:1', wire: { method: 'POST', path: '/x', body: 'a=b' } },
  });
  expect(state.journal).toMatchObject([
    { text: 'relay_event: 502 x', detail: { attempt: 1, status: 502, requestId: 'req_2' } },
  ]);
  expect(failed({}, { attempts: 2 }).m.nextTryAt).toEqual(at(9_000));
  expect(failed({ retryAfterMs: 60_000 }).m.nextTryAt).toEqual(at(65_000));
  expect(failed({ kind: 'stopped', status: 401 }).m.nextTryAt).toEqual(at(65_000));
});

it('the timeline shows the first four failed tries of a call, and always the final refusal', () => {
  const noted = (attempts: number, over: Partial<CallFailure> = {}) => texts(failed(over, { attempts }).state).length;
  expect([noted(3), noted(4)]).toEqual([1, 0]);
  expect(texts(failed({ kind: 'refused' }, { attempts: 9 }).state)[0]).toBe('relay_event: 502 x');
});

it('if Stripe replays a 5xx reply, Crossbill knows that Stripe stored the error under the call’s key', () => {
  expect(failed({ replayed: true, status: 500 }).m.replaying).toBe(true);
  for (const over of [
    { replayed: true, status: 499 },
    { replayed: true, status: null },
    { replayed: false, status: 500 },
  ])
    expect(failed(over).m.replaying).toBe(false);
});

it('if the MoR finally refuses a relayed event, Crossbill ends the call and opens a review item', () => {
  const { state, m } = failed({ kind: 'refused', status: 400 });
  expect(m).toMatchObject({ status: 'refused', answeredAt: at(5_000), attempts: 1, lastStatus: 400 });
  expect(open(state)).toMatchObject([{ kind: 'effect_failed', subject: 'relay_event:pay_1' }]);
});

it('while the MoR gives no reply to a payment link’s request, the link shows as unanswered', () => {
  const { s, m } = asking(lane(), aLink({ status: 'REQUESTED', morId: null }));
  const silent = applyReply(s, m.id, refusal({ kind: 'unknown', status: null }), later);
  expect(silent.objects).toMatchObject([{ detail: { unanswered: true } }]);
  expect(silent.calls).toMatchObject([{ status: 'pending', attempts: 1 }]);
});

const absent = done({ done: false });
const tooLong = refusal({ kind: 'retry', status: null, code: 'list_too_long', message: 'too many' });
const tried = { firstTriedAt: at(-HOUR_MS), attempts: 2, replaying: true, createdAt: at(-HOUR_MS) };
const probed = (
  outcome: Parameters<typeof applyCheck>[2],
  over: Partial<CallRow> = tried,
  kind: CallKind = 'report_payment',
  invoice: Partial<InvoiceFacts> = {},
  of: Ctx = later,
) => {
  const { s, m } = stored(kind, over, invoice);
  const state = applyCheck(s, m.id, outcome, of);
  return { s, before: m, state, m: row(state, m) };
};

it('if Crossbill finds the effect of a call on Stripe, the call is done', () => {
  const reply = { kind: 'report_payment', paymentRecordId: 'inpay_1' } as const;
  const { state, m } = probed(done({ done: true, reply }));
  expect([m.status, state.payments[0]?.mark, texts(state)]).toEqual(['done', 'attaching', ['report_payment done']]);
});

it('if Crossbill finds no effect of a call on Stripe, Crossbill sends the call immediately under the next key', () => {
  const { state, m } = probed(absent);
  const key = 'crossbill:report_payment:pay_1:2';
  expect(m).toMatchObject({
    ...{ generation: 2, key, attempts: 0, firstTriedAt: at(5_000), replaying: false, status: 'pending' },
    ...{ nextTryAt: at(5_000), createdAt: at(5_000), wire: { body: 'a=b' } },
  });
  expect(texts(state)).toEqual([`report_payment had no effect under its key; next key ${key}`]);
});

it('if Crossbill searches Stripe before the first try of a call and finds nothing, the call keeps its key', () => {
  const { m, before, state } = probed(absent, {});
  expect(m).toEqual({ ...before, firstTriedAt: at(5_000) });
  expect(state.journal).toEqual([]);
});

it('if Crossbill finds no effect of an attach call and the invoice is void, Crossbill withdraws the call', () => {
  const { state, m } = probed(absent, tried, 'attach_payment', { status: 'void' });
  expect([m.status, m.answeredAt, state.payments[0]?.mark]).toEqual(['cancelled', at(5_000), 'waiting']);
  expect(texts(state)).toEqual(['attach_payment withdrawn: it had no effect, and the invoice can no longer be paid']);
  expect(probed(absent, tried, 'attach_payment').m).toMatchObject({ status: 'pending', generation: 2 });
  expect(probed(absent, tried, 'report_payment', { status: 'void' }).m).toMatchObject({ generation: 2 });
  const gone = stored('attach_payment', { ...tried, subject: 'pay_9' }, { status: 'void' });
  expect(row(applyCheck(gone.s, gone.m.id, absent, later), gone.m)).toMatchObject({ generation: 2 });
});

it('Crossbill repeats a failed search for a call’s effect later, and does not send the call', () => {
  const { m, state } = probed(refusal({ kind: 'retry', status: 500, retryAfterMs: 60_000 }));
  expect(m).toMatchObject({
    status: 'pending',
    attempts: 3,
    nextTryAt: at(65_000),
    key: 'crossbill:report_payment:pay_1:1',
  });
  expect(probed(refusal({ kind: 'retry', status: 500 })).m.nextTryAt).toEqual(at(9_000));
  expect(open(state)).toEqual([]);
});

it('if Stripe has too many payment records to search, a review item asks whether an already sent report succeeded', () => {
  const { state, m } = probed(tooLong);
  expect([m.status, m.answeredAt, state.payments[0]?.mark]).toEqual(['refused', at(5_000), 'parked']);
  expect(open(state)).toMatchObject([
    {
      kind: 'effect_failed',
      fact: { code: 'mark-untraceable', payment: 'pay_1', reference: 'pay_1', why: 'too many' },
    },
  ]);
  const first = probed(tooLong, {});
  expect(first.m).toEqual({ ...first.before, firstTriedAt: at(5_000) });
  expect(probed(tooLong, tried, 'attach_payment').m).toMatchObject({ status: 'pending', attempts: 3 });
});

it('the result of a search for a finished or unknown call changes nothing', () => {
  const { s, m } = stored('report_payment', { status: 'done' });
  for (const id of [m.id, 'out_9']) expect(applyCheck(s, id, absent, later)).toBe(s);
});

it('Crossbill sends an untried call without a search while its key is younger than 23 hours', () => {
  const { m } = stored('report_payment');
  const first = (over: Partial<CallRow>, ms = 0) => isFirstTry({ ...m, ...over }, on({}, ms));
  expect([first({}), first({}, 23 * HOUR_MS - 1), first({}, 23 * HOUR_MS)]).toEqual([true, true, false]);
  expect([first({ firstTriedAt: NOW }), first({ replaying: true })]).toEqual([false, false]);
});

const ok = <const T>(value: T) => ({ ok: true, value, status: 200, requestId: null }) as const;
const link = aLink({ id: 'lnk_0', morId: 'link_0', readDueAt: NOW });
const read = (values: ReturnType<typeof aLink>, outcome: Parameters<typeof applyObjectRead>[2], id = values.id) =>
  applyObjectRead(withObjects(lane(), link, values), id, outcome, later).objects.at(-1);

it('each read of a proforma invoice updates its status; each read of a captured, unconfirmed payment link is counted', () => {
  const shown = { kind: 'proforma', proforma: proformaFacts({ status: 'SETTLED' }) } as const;
  expect(read(aProforma({ readDueAt: NOW }), ok(shown))).toMatchObject({
    morId: PROFORMA,
    status: 'SETTLED',
    readDueAt: null,
  });
  const detail = { observed: [announced()] };
  const of = { kind: 'payment_link', link: linkFacts() } as const;
  expect(read(aLink({ readDueAt: NOW, readAttempts: 2, detail }), ok(of))).toMatchObject({
    ...{ morId: LINK, readAttempts: 3, readDueAt: at(9_000) },
  });
});

it('Crossbill shows a payment link unknown to the MoR as deleted, and reads it no more', () => {
  expect(read(aLink({ readDueAt: NOW, readAttempts: 2 }), ok(null))).toMatchObject({
    ...{ status: 'DELETED', readDueAt: null, readAttempts: 0 },
  });
});

it.each([
  ['retry', 7_000],
  ['unknown', 7_000],
  ['stopped', 65_000],
  ['refused', 65_000],
] as const)('Crossbill repeats a failed read of a payment link at the MoR (outcome %s) %i ms later', (kind, ms) => {
  const o = aLink({ readDueAt: NOW, readAttempts: 1 });
  expect(read(o, refusal({ kind, status: 500 }))).toEqual({
    ...o,
    ...{
      readAttempts: 2,
      readDueAt: at(ms),
      detail: {
        silent: {
          since: at(5_000).toISOString(),
          answer: '500 not_refundable',
          passes: kind === 'retry' || kind === 'unknown',
        },
      },
    },
  });
  expect(read(o, refusal({ kind, status: 500, retryAfterMs: 90_000 }))?.readDueAt).toEqual(at(95_000));
});

it('the reply to a read of an unknown or finished payment link changes nothing', () => {
  const s = putObject(lane(), aLink());
  expect(applyObjectRead(s, 'lnk_9', ok(null), later)).toBe(s);
  expect(applyObjectRead(s, 'lnk_1', refusal({ kind: 'retry' }), later)).toBe(s);
});
