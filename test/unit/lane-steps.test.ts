// The small steps that every decision is made of: rows put in place, calls written down under their keys, items opened and closed.
import { aKind, FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/engine/adapter.js';
import {
  addMessage,
  askFor,
  closeReviews,
  type Ctx,
  emptyLane,
  messageKey,
  note,
  openReview,
  openReviewOf,
  putMessage,
  putObject,
  retryAt,
  sendAgain,
  takeCallBack,
} from '../../src/engine/change.js';
import { putPayment, putRefund } from '../support/put-rows.js';
import { callFailed, refusalOf, paymentOf } from '../../src/engine/call.js';
import { moveMark, moveMirror, moveRefund } from '../../src/engine/moves.js';
import { closePayment, findPayment, newPayment, paymentThatCame, withIds } from '../../src/engine/payment.js';
import { effectName } from '../../src/domain/payment-name.js';
import { type LaneState, type OutboxRow, type PaymentRow } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { type CallFailure, said } from '../../src/domain/ports/call.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { aCtx, aPaymentEvent, NOW } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const LATER = new Date(NOW.getTime() + 60_000);
const ctx = aCtx();
const later = aCtx(LATER);
const lane = emptyLane('in_1');
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx, { invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', ...over });
const WIRE = { method: 'POST', path: '/v1/x', body: 'a=1' } as const;
const call = (s: LaneState, over: Partial<Parameters<typeof addMessage>[2]> = {}, of: Ctx = ctx): LaneState =>
  addMessage(s, of, { peer: 'stripe', kind: 'report_payment', subject: 'pay_1', wire: WIRE, ...over });
const first = (s: LaneState): OutboxRow => s.messages[0] ?? never();
const failure = (over: Partial<CallFailure> = {}): CallFailure =>
  ({ ok: false, kind: 'refused', status: 400, code: 'odd', message: 'no', retryAfterMs: null, ...over }) as CallFailure;

describe('a row', () => {
  it('takes the place of the one with its id, and is otherwise the last', () => {
    const [a, b] = [payment({ id: 'a' }), payment({ id: 'b' })];
    const both = putPayment(putPayment(lane, a), b);
    expect(putPayment(both, { ...a, mark: 'waiting' }).payments).toEqual([{ ...a, mark: 'waiting' }, b]);
    expect(both.payments).toEqual([a, b]); // the state before is as it was
    const r = newRefund(ctx, a, 1n, null, 'api');
    const s = putRefund(putRefund(lane, r), { ...r, id: 'ref_other' });
    expect(putRefund(s, { ...r, amount: 2n }).refunds.map((x) => x.amount)).toEqual([2n, 1n]);
    const o = newMorObject(NOW, { id: 'o', kind: 'dispute', invoiceId: 'in_1', status: 'lost' });
    expect(putObject(putObject(lane, o), { ...o, status: 'won' }).objects.map((x) => x.status)).toEqual(['won']);
  });

  it('of the timeline says when, of what lane, and what it is about', () => {
    expect(note(lane, later, 'decision', 'words').journal).toEqual([
      { lane: 'in_1', at: LATER, kind: 'decision', ref: null, text: 'words', detail: null },
    ]);
  });
});

describe('a call', () => {
  it('is written down with its key and bytes, to be sent at once', () => {
    expect(first(call(lane))).toMatchObject({
      ...{ lane: 'in_1', peer: 'stripe', kind: 'report_payment', subject: 'pay_1', generation: 1, wire: WIRE },
      ...{ key: 'crossbill:report_payment:pay_1:1', status: 'pending', attempts: 0, nextTryAt: NOW, createdAt: NOW },
      ...{ firstTriedAt: null, answeredAt: null, lastCode: null, lastMessage: null, replaying: false, asked: null },
    });
  });

  it('is of the next generation for its kind and subject alone', () => {
    const again = call(call(call(lane)), { subject: 'pay_2' });
    expect(again.messages.map((m) => m.generation)).toEqual([1, 2, 1]);
    const other = call(again, { kind: 'attach_payment' });
    expect(other.messages.at(-1)?.generation).toBe(1);
    const named = call(other, { generation: 7, key: 'mine' });
    expect(named.messages.at(-1)).toMatchObject({ generation: 7, key: 'mine' });
    expect(call(named).messages.at(-1)?.generation).toBe(8);
  });

  it('in shadow mode is over before it began', () => {
    const s = call(lane, {}, aCtx(NOW, { shadow: true }));
    expect(first(s)).toMatchObject({ status: 'cancelled', answeredAt: NOW, lastCode: 'shadow_mode' });
    expect(first(s).lastMessage).not.toBeNull();
  });

  it('has a key of at most 255 visible characters; another id is in it as its hash', () => {
    expect(messageKey('report_payment', 'pay_1', 3)).toBe('crossbill:report_payment:pay_1:3');
    const fits = 'x'.repeat(255 - 'crossbill:k::1'.length);
    expect(messageKey('k', fits, 1)).toBe(`crossbill:k:${fits}:1`);
    for (const odd of [`${fits}x`, 'a b', 'ä', 'a\n', '\u007f']) {
      expect(messageKey('k', odd, 1)).toMatch(/^crossbill:k:sha256-[0-9a-f]{64}:1$/);
    }
    expect(messageKey('k', 'a b', 1)).not.toBe(messageKey('k', 'a c', 1));
  });

  it('that is taken back was perhaps heard, if it was tried', () => {
    const s = call(lane);
    const untried = takeCallBack(s, first(s), 'it is paid', later);
    expect(first(untried)).toMatchObject({ status: 'cancelled', answeredAt: LATER });
    expect(untried.journal.at(-1)).toMatchObject({ text: 'report_payment taken back: it is paid', ref: first(s).id });
    const tried = takeCallBack(s, { ...first(s), attempts: 1 }, 'it is paid', later);
    expect(tried.journal.at(-1)?.text).toBe(
      'report_payment taken back: it is paid; it was tried before, without an answer',
    );
  });

  it('is sent again under the same key, and its age counts from the word of the person who wants it', () => {
    const s = call(lane);
    const refused: OutboxRow = {
      ...first(s),
      status: 'refused',
      lastCode: 'odd',
      firstTriedAt: NOW,
      answeredAt: NOW,
      attempts: 3,
    };
    const again = first(sendAgain(putMessage(s, refused), (m) => m.subject === 'pay_1', later));
    expect(again).toEqual({
      ...refused,
      status: 'pending',
      lastCode: null,
      firstTriedAt: null,
      answeredAt: null,
      nextTryAt: LATER,
    });
    const done = putMessage(s, { ...first(s), status: 'done' });
    expect(sendAgain(done, () => true, later)).toBe(done);
    expect(sendAgain(s, () => false, later)).toBe(s);
  });

  it('that asks the MoR for an object is of the object’s kind', () => {
    for (const [kind, sent] of [
      ['proforma', 'create_proforma'],
      ['payment_link', 'create_payment_link'],
    ] as const) {
      const s = askFor(lane, newMorObject(NOW, { id: 'o', kind, invoiceId: 'in_1', status: 'REQUESTED' }), WIRE, ctx);
      expect([s.objects.length, first(s)]).toMatchObject([1, { peer: 'mor', kind: sent, subject: 'o' }] as const);
    }
  });

  it('that waits is tried again within its jitter, a quarter less to a quarter more', () => {
    const wait = (jitter: number, attempts = 3): number =>
      retryAt({ ...ctx, jitter: () => jitter }, attempts, null).getTime() - NOW.getTime();
    expect([wait(0), wait(0.5), wait(0.999_999)].map(Math.round)).toEqual([3_000, 4_000, 5_000]);
    expect(wait(0, 1)).toBe(750);
    expect(wait(0.999_999, 30)).toBe(900_000);
    expect(wait(0, 30)).toBe(675_000);
  });

  it('that failed is said in one line, and refused for good it is an item', () => {
    expect(said(failure())).toBe('400 odd no');
    expect(said(failure({ status: null, code: null, message: 'no answer in time' }))).toBe('no answer in time');
    expect(said(failure({ status: null, code: null, message: 'the token service says no (401)' }))).not.toMatch(
      /no answer/,
    );
    expect(said(failure({ message: '' }))).toBe('400 odd');
    const s = call(lane);
    const fact = { code: 'relay-refused', ...refusalOf(first(s), failure()) } as const;
    expect(fact).toMatchObject({ call: 'report_payment', status: 400, error: 'odd', said: '400 odd no' });
    const item = callFailed(s, first(s), fact, { paymentRowId: 'pmt_1' }, ctx);
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

  it('is about the payment of its subject, and a finalization about the payment that waits for it', () => {
    const [a, b] = [payment({ id: 'a', paymentId: 'pay_1' }), payment({ id: 'b', mark: 'finalizing' })];
    const s = putPayment(putPayment(call(lane), a), b);
    expect(paymentOf(s, first(s))).toBe(a);
    expect(paymentOf(s, { ...first(s), subject: 'a' })).toBe(a); // written before the payment had its name
    expect(paymentOf(s, { ...first(s), subject: 'pay_9' })).toBeUndefined();
    expect(paymentOf(s, { ...first(s), kind: 'finalize_invoice', subject: 'in_1' })).toBe(b);
  });
});

describe('a review item', () => {
  const ITEM = { kind: 'amount_mismatch', subject: 'pmt_1', fact: FACTS.amount_mismatch } as const;
  const MORE = { ...FACTS.amount_mismatch, taken: { minor: 2000n, currency: 'EUR' } } as const;
  const opened = openReview(lane, ctx, { ...ITEM, paymentRowId: 'pmt_1' });
  const closed = (how: Parameters<typeof closeReviews>[3], s = opened): LaneState =>
    closeReviews(s, later, () => true, how);

  it('is opened with a line in the timeline, and once', () => {
    expect(opened.reviews).toMatchObject([
      {
        ...ITEM,
        status: 'open',
        invoiceId: null,
        paymentRowId: 'pmt_1',
        refundId: null,
        dueAt: null,
        createdAt: NOW,
        resolution: null,
      },
    ]);
    expect(opened.journal.map((l) => l.text)).toEqual(['review item amount_mismatch: amount-differs']);
    expect(openReview(opened, later, { ...ITEM, fact: { ...FACTS.amount_mismatch } })).toBe(opened);
    expect(openReview(opened, later, { ...ITEM, subject: 'pmt_2' }).reviews).toHaveLength(2);
    expect(openReview(opened, later, { ...ITEM, ...aKind('dispute') }).reviews).toHaveLength(2);
    expect(openReviewOf(opened, 'amount_mismatch', 'pmt_1')).toBe(opened.reviews[0]);
    expect(openReviewOf(opened, 'amount_mismatch', 'pmt_2')).toBeUndefined();
    expect(openReviewOf(opened, 'dispute', 'pmt_1')).toBeUndefined();
  });

  it('moves with its deadline, with the fact of today', () => {
    const due = openReview(opened, later, { ...ITEM, fact: MORE, dueAt: LATER });
    expect(due.reviews).toMatchObject([{ fact: MORE, dueAt: LATER, createdAt: NOW }]);
    expect(due.journal.at(-1)?.text).toBe('review item amount_mismatch has another deadline: amount-differs');
    expect(openReview(due, later, { ...ITEM, fact: MORE, dueAt: new Date(LATER) })).toBe(due);
  });

  it('has the sums of now while it is open, and is no second one', () => {
    const now = openReview(opened, later, { ...ITEM, fact: MORE });
    expect(now.reviews).toEqual([{ ...opened.reviews[0], fact: MORE }]);
    expect(now.journal.at(-1)?.text).toBe('review item amount_mismatch is now: amount-differs');
    expect(openReview(now, later, { ...ITEM, fact: { ...MORE } })).toBe(now);
  });

  it('keeps a fact of another code', () => {
    const fact = { code: 'rest-due', status: 'open', due: MORE.due } as const;
    expect(openReview(opened, later, { ...ITEM, fact })).toBe(opened);
  });

  it('that a person dismissed stays closed as long as its fact is the same; another fact is news', () => {
    const gone = closed({ by: 'ops', resolution: 'dismiss', note: 'seen' });
    expect(openReviewOf(gone, 'amount_mismatch', 'pmt_1')).toBeUndefined();
    expect(openReview(gone, later, ITEM)).toBe(gone);
    expect(openReview(gone, later, { ...ITEM, fact: MORE }).reviews).toHaveLength(2);
    expect(openReview(gone, later, { ...ITEM, subject: 'pmt_2' }).reviews).toHaveLength(2);
    const cleared = closed({ by: null, resolution: 'cleared', note: null });
    expect(openReview(cleared, later, ITEM).reviews).toHaveLength(2);
    // Stripe says one failed finalization in two wordings.
    const failed = { kind: 'finalization_failed', subject: 'in_1', fact: FACTS.finalization_failed } as const;
    const dismissed = closed({ by: 'ops', resolution: 'dismiss', note: null }, openReview(lane, ctx, failed));
    const reworded = { ...FACTS.finalization_failed, said: 'in other words' };
    expect(openReview(dismissed, later, { ...failed, fact: reworded })).toBe(dismissed);
  });

  it('closed by a person names them and keeps their words out of the timeline; closed by its cause it says why', () => {
    const byOps = closed({ by: 'ops', resolution: 'refund', note: 'private words' });
    expect(byOps.reviews).toMatchObject([
      { status: 'resolved', resolvedAt: LATER, resolvedBy: 'ops', resolution: 'refund', note: 'private words' },
    ]);
    expect(byOps.journal.at(-1)).toMatchObject({
      kind: 'person',
      text: 'review item amount_mismatch closed: refund, by ops',
    });
    const byItself = closed({ by: null, resolution: 'cleared', note: 'the money came' });
    expect(byItself.reviews).toMatchObject([{ resolvedBy: 'crossbill', note: 'the money came' }]);
    expect(byItself.journal.at(-1)).toMatchObject({
      kind: 'decision',
      text: 'review item amount_mismatch closed: the money came',
    });
    expect(closed({ by: null, resolution: 'cleared', note: null }).journal.at(-1)?.text).toBe(
      'review item amount_mismatch closed: cleared',
    );
    expect(closed({ by: null, resolution: 'cleared', note: null }, byOps)).toBe(byOps);
    expect(closeReviews(opened, later, () => false, { by: null, resolution: 'cleared', note: null })).toBe(opened);
  });
});

describe('a payment', () => {
  it('moves as its table says and no other way; what waits again has no mode yet', () => {
    const p = payment({ mark: 'waiting', markMode: 'payment_record' });
    expect(moveMark(p, 'waiting')).toBe(p);
    const reporting = moveMark(p, 'reporting');
    expect(reporting).toMatchObject({ mark: 'reporting', markMode: 'payment_record' });
    expect(moveMark(reporting, 'waiting')).toMatchObject({ mark: 'waiting', markMode: null });
    expect(() => moveMark(payment({ mark: 'confirmed' }), 'waiting')).toThrow(
      'a mark cannot move from confirmed to waiting',
    );
    const r = newRefund(ctx, p, 1n, null, 'api');
    expect(moveRefund(r, 'requested')).toBe(r);
    expect(moveRefund(r, 'succeeded').status).toBe('succeeded');
    expect(() => moveRefund({ ...r, status: 'succeeded' }, 'requested')).toThrow('a refund cannot move');
    expect(moveMirror(r, 'none')).toBe(r);
    expect(() => moveMirror({ ...r, mirror: 'done' }, 'waiting')).toThrow("a refund's twin cannot move");
  });

  it('is found by the MoR’s id first; one without a name by its charge or intent, unless it is a renewal’s', () => {
    const signup = payment({ id: 's', origin: 'signup', processorChargeId: 'ch_1', processorPaymentIntentId: 'pi_9' });
    const named = payment({ id: 'n', paymentId: 'pay_1' });
    const of = (e: Parameters<typeof aPaymentEvent>[0], ...rows: PaymentRow[]): string | undefined =>
      findPayment(rows.reduce(putPayment, lane), aPaymentEvent(e))?.id;
    expect(of({}, signup, named)).toBe('n');
    expect(of({}, signup)).toBe('s');
    expect(of({ processorChargeId: 'ch_2', processorPaymentIntentId: 'pi_9' }, signup)).toBe('s');
    expect(of({ processorChargeId: 'ch_2' }, signup)).toBeUndefined();
    expect(of({ processorChargeId: null }, { ...signup, processorChargeId: null })).toBeUndefined();
    expect(of({}, { ...signup, paymentId: 'pay_2', identifiedBy: 'ops' })).toBe('s'); // whatever people call it
    expect(of({}, { ...signup, paymentId: 'pay_2' })).toBeUndefined();
    expect(of({}, { ...signup, origin: 'renewal' })).toBeUndefined();
  });

  it('gets every id that an event brings, and the MoR’s name in the place of a person’s', () => {
    const known = payment({
      id: 's',
      origin: 'signup',
      processorChargeId: 'ch_1',
      paymentId: 'pay_wrong',
      identifiedBy: 'ops',
    });
    expect(withIds(putPayment(lane, known), aPaymentEvent({ processorPaymentIntentId: 'pi_1' }), ctx)).toMatchObject({
      ...{
        id: 's',
        paymentId: 'pay_1',
        identifiedBy: null,
        processorChargeId: 'ch_1',
        processorPaymentIntentId: 'pi_1',
      },
    });
    const made = withIds(lane, aPaymentEvent({ status: 'failed' }), ctx);
    expect(made).toMatchObject({
      paymentId: 'pay_1',
      invoiceId: 'in_1',
      customerId: 'cus_1',
      currency: 'EUR',
      status: 'failed',
      mark: 'none',
    });
    const own = payment({ paymentId: 'pay_1', processorChargeId: 'ch_own', processorPaymentIntentId: 'pi_own' });
    expect(withIds(putPayment(lane, own), aPaymentEvent(), ctx)).toMatchObject({
      processorChargeId: 'ch_own',
      processorPaymentIntentId: 'pi_own',
    });
  });

  it('that came keeps anybody from charging again, whatever became of it; a refused one does not', () => {
    const refused = payment({ paymentId: 'pay_1', mark: 'none' });
    expect(paymentThatCame(putPayment(lane, refused))).toBeNull();
    expect(paymentThatCame(putPayment(lane, { ...refused, mark: 'parked' }))).toBe('payment pay_1 came');
    expect(effectName(payment({ id: 'pmt_7' }))).toBe('pmt_7');
  });

  it('that will not be marked is closed; never proven, it failed', () => {
    const s = (p: PaymentRow): LaneState['payments'] =>
      decide(putPayment(lane, p), ctx, (l) => closePayment(l.findPayment(p.id) ?? never())).payments;
    expect(s(payment({ mark: 'parked', succeededAt: ctx.now }))).toMatchObject([
      { mark: 'closed', status: 'succeeded' },
    ]);
    expect(s(payment({ mark: 'parked', status: 'processing' }))).toMatchObject([{ mark: 'closed', status: 'failed' }]);
  });
});
