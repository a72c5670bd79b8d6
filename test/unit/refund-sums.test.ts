// What refunds come to: which of them count, what the MoR's totals say, who may ask for how much, and when a person is told that one
// takes too long.
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { putObject, putPayment, putRefund } from '../../src/engine/change.js';
import { type PaymentEvent } from '../../src/engine/event.js';
import { type LaneState, type RefundRow } from '../../src/domain/model.js';
import { newMorObject } from '../../src/domain/mor-object.js';
import { gapItems, settleRefunds as countRefunds } from '../../src/refunds/rules/count-refunds.js';
import { decide } from '../../src/engine/adapter.js';
import { declares } from '../../src/engine/items.js';
import { applyRefunded } from '../../src/refunds/rules/refund-event.js';
import { refundForReview, requestRefund, reviewScope } from '../../src/refunds/rules/request-refund.js';
import { isToldFailed, watchRefunds } from '../../src/refunds/rules/stuck-refund.js';
import { asked, at, byEvent, ctx, lane, payment, WISH } from '../support/asked-refund.js';
import { aPaymentEvent, NOW, open } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const HOUR = 3_600_000;
const summaries = (s: LaneState) => open(s).map((r) => wordsOf(r).summary);
const settleRefunds: typeof countRefunds = (s, on) => decide(countRefunds(s, on), on, declares(gapItems));
const withRefunds = (s: LaneState, ...refunds: RefundRow[]): LaneState => refunds.reduce(putRefund, s);
const part = (n: number, amount: bigint, over: Partial<RefundRow> = {}): RefundRow =>
  byEvent({ id: `ref_${n}`, morRefundId: `rfnd_${n}`, amount, ...over });

describe('refunds at rest', () => {
  const settled = (...refunds: RefundRow[]) => settleRefunds(withRefunds(lane(payment()), ...refunds), ctx());
  const counted = (s: LaneState) => s.refunds.filter((r) => r.counted).map((r) => r.id);

  it('count as long as they fit into the payment: by the running total, else the older first', () => {
    const s = settled(part(1, 1000n), part(2, 1990n));
    expect([counted(s), s.payments[0]?.amountRefunded, s.payments[0]?.status]).toEqual([
      ['ref_1', 'ref_2'],
      2990n,
      'refunded',
    ]);
    expect(s.entries.map((e) => e.amount.minor)).toEqual([1000n, 1990n]);
    expect(settleRefunds(s, ctx()).entries).toEqual(s.entries);
    const byTotal = settled(part(1, 2000n, { totalAfter: 2500n }), part(2, 1000n, { totalAfter: 1000n }));
    expect(counted(byTotal)).toEqual(['ref_2']);
    const byAge = settled(part(1, 2000n), part(2, 1000n, { createdAt: at(-1) }));
    expect(counted(byAge)).toEqual(['ref_2']);
    expect(counted(settled(part(2, 1000n), part(1, 2000n)))).toEqual(['ref_1']);
    expect(counted(settled(part(1, 2000n), part(2, 1000n, { totalAfter: 1000n })))).toEqual(['ref_2']);
  });

  it('do not count in another currency, before they succeeded, beyond the payment, or before its amount is known', () => {
    expect(counted(settled(part(1, 1n, { currency: 'USD' })))).toEqual([]);
    expect(counted(settled(part(1, 1n, { status: 'pending' })))).toEqual([]);
    expect(counted(settled(part(1, 1n, { totalAfter: 2991n })))).toEqual([]);
    expect(counted(settled(part(1, 1n, { totalAfter: 2990n })))).toEqual(['ref_1']);
    expect(counted(settled(part(1, 1n, { paymentRowId: 'pmt_2' })))).toEqual([]);
    for (const unknown of [payment({ amount: null }), payment({ succeededAt: null })]) {
      expect(counted(settleRefunds(withRefunds(lane(unknown), part(1, 1n)), ctx()))).toEqual([]);
    }
  });

  it('that a twin on Stripe was started for keep it', () => {
    expect(settled(part(1, 1n, { mirror: 'done' })).refunds).toMatchObject([{ counted: true, mirror: 'done' }]);
  });

  it('are a person’s to look into when they are more than the payment, and never when they add up', () => {
    expect(summaries(settled(part(1, 2990n), part(2, 1n)))).toEqual([
      'refunds of 29.91 EUR are known for payment pay_1 of 29.90 EUR',
    ]);
    expect(summaries(settled(part(1, 2990n)))).toEqual([]);
    expect(summaries(settled(part(1, 1n, { status: 'pending' })))).toEqual([]);
    expect(summaries(settled(part(1, 1n, { currency: 'USD' })))).toHaveLength(1);
    const unnamed = settleRefunds(withRefunds(lane(payment({ paymentId: null })), part(1, 2991n)), ctx());
    expect(summaries(unnamed)[0]).toContain('payment pmt_1');
  });

  it('miss an event when the MoR’s total is more than their sum; the item closes itself when it adds up', () => {
    const told = (total: bigint | null, ...refunds: RefundRow[]) =>
      settleRefunds(withRefunds(lane(payment({ refundedTotal: total })), ...refunds), ctx());
    const gap = told(1001n, part(1, 1000n));
    expect(summaries(gap)).toEqual([
      'the MoR says 10.01 EUR of payment pay_1 was refunded; events for 10.00 EUR have come',
    ]);
    expect(summaries(told(1n))).toHaveLength(1);
    expect([...summaries(told(1000n, part(1, 1000n))), ...summaries(told(null))]).toEqual([]);
    const closed = settleRefunds(putRefund(gap, part(2, 1n)), ctx());
    expect(closed.reviews).toMatchObject([{ status: 'resolved', resolution: 'cleared', note: 'the refunds add up' }]);
  });

  it('are told with the sums of now in the one open item, and no longer as an event that is missing once they exceed the payment', () => {
    const of = (total: bigint | null) => payment({ refundedTotal: total });
    const gap = settleRefunds(withRefunds(lane(of(1500n)), part(1, 1000n)), ctx());
    const more = settleRefunds(withRefunds(putPayment(gap, of(2500n)), part(1, 1000n)), ctx());
    expect(open(more).map((r) => [r.id, wordsOf(r).summary])).toEqual([
      [open(gap)[0]?.id, 'the MoR says 25.00 EUR of payment pay_1 was refunded; events for 10.00 EUR have come'],
    ]);
    const beyond = settleRefunds(putRefund(more, part(2, 2000n)), ctx());
    expect(withWords(open(beyond))).toMatchObject([
      {
        summary: 'refunds of 30.00 EUR are known for payment pay_1 of 29.90 EUR',
        proposal: expect.stringContaining('Ask the MoR which refunds are real'),
      },
    ]);
  });

  it('whose running totals overlap are shown to a person', () => {
    const totals = (...pairs: [bigint, bigint | null][]) =>
      summaries(settled(...pairs.map(([amount, totalAfter], n) => part(n, amount, { totalAfter }))));
    expect(totals([300n, 300n], [400n, 600n])).toEqual([
      'the running totals of the refunds of payment pay_1 do not add up at 6.00 EUR',
    ]);
    expect(totals([300n, 200n])).toHaveLength(1);
    expect(totals([400n, 700n], [300n, 300n])).toEqual([]);
    expect(totals([300n, 300n], [400n, null])).toEqual([]);
  });
});

describe('the event of a refund', () => {
  const told = (over: Partial<PaymentEvent> = {}): PaymentEvent =>
    aPaymentEvent({
      ...{ eventId: 'evt_r', type: 'payment.refunded', status: 'partially_refunded', amount: 1000n, at: at(7) },
      ...{ refundId: 'rfnd_1', processorRefundId: 're_1', amountRefundedTotal: 1000n, reason: 'theirs', ...over },
    });
  const heard = (s: LaneState, over: Partial<PaymentEvent> = {}) => applyRefunded(s, told(over), ctx());

  it('makes a row of what was given back elsewhere, and keeps the largest total', () => {
    const { state, verdict } = heard(lane(payment()));
    expect(state.refunds).toMatchObject([
      {
        ...{ origin: 'event', status: 'succeeded', amount: 1000n, morRefundId: 'rfnd_1', processorRefundId: 're_1' },
        ...{ totalAfter: 1000n, succeededAt: at(7), reason: 'theirs', failure: null },
      },
    ]);
    expect(verdict).toMatchObject({ reason: '10.00 EUR was refunded, refund rfnd_1' });
    expect(state.payments).toMatchObject([{ refundedTotal: 1000n, status: 'succeeded' }]);
    for (const [before, total, after] of [
      [2000n, 1000n, 2000n],
      [500n, 1000n, 1000n],
      [500n, null, 500n],
    ] as const) {
      const s = heard(lane(payment({ refundedTotal: before })), { amountRefundedTotal: total }).state;
      expect(s.payments[0]?.refundedTotal).toBe(after);
    }
  });

  it('that overtakes its payment leaves the amount open, and a refused try before it says nothing any more', () => {
    const refused = {
      ...({ failureMessage: 'no', declineCode: 'x', status: 'failed', succeededAt: null } as const),
      verdictAt: NOW,
    };
    const s = heard(lane(payment({ ...refused, mark: 'none' }))).state;
    expect(s.payments).toMatchObject([
      { amount: null, failureMessage: null, declineCode: null, status: 'partially_refunded' },
    ]);
    const marked = heard(lane(payment({ ...refused, mark: 'proving' }))).state;
    expect(marked.payments).toMatchObject([{ amount: 2990n, failureMessage: 'no' }]);
    const all = heard(lane(payment({ ...refused, status: 'refunded', mark: 'none' }))).state;
    expect(all.payments[0]?.status).toBe('refunded');
  });

  it('told again fills in what was not known; with another amount or total it is not applied', () => {
    const known = byEvent({ morRefundId: 'rfnd_1', totalAfter: null });
    const again = heard(withRefunds(lane(payment()), known));
    expect(again.state.refunds).toMatchObject([{ processorRefundId: 're_1', totalAfter: 1000n }]);
    expect(again.verdict).toMatchObject({ reason: 'this refund is already recorded' });
    const noTotal = heard(withRefunds(lane(payment()), byEvent({ morRefundId: 'rfnd_1', totalAfter: 7n })), {
      amountRefundedTotal: null,
    });
    expect([summaries(noTotal.state), noTotal.state.refunds[0]?.totalAfter]).toEqual([[], 7n]);
    for (const over of [{ amount: 999n }, { currency: 'USD' }, { totalAfter: 7n }]) {
      const other = heard(withRefunds(lane(payment()), byEvent({ morRefundId: 'rfnd_1', ...over })));
      expect(summaries(other.state)).toEqual(['event evt_r gives refund rfnd_1 another amount or total than recorded']);
      expect(other.state.refunds).toMatchObject([over]);
      expect(other.verdict).toMatchObject({ reason: 'differs from the record: not applied' });
    }
    const pending = byEvent({ morRefundId: 'rfnd_1', status: 'pending', amount: 999n });
    expect(heard(withRefunds(lane(payment()), pending)).state.refunds).toMatchObject([{ status: 'pending' }]);
  });

  it('under another id of the MoR’s and the processor’s id of one that is known is not swallowed: a person is asked', () => {
    for (const status of ['succeeded', 'pending'] as const) {
      const known = byEvent({ morRefundId: 'rfnd_9', processorRefundId: 're_1', status });
      const other = heard(withRefunds(lane(payment()), known), { amountRefundedTotal: null });
      expect(summaries(other.state)).toEqual([
        "event evt_r names refund rfnd_1 of 10.00 EUR, and its processor's refund id re_1 is that of refund rfnd_9",
      ]);
      expect(other.state.refunds).toEqual([known]);
      expect(other.verdict).toMatchObject({ reason: 'differs from the record: not applied' });
    }
    const unnamed = byEvent({ morRefundId: null, processorRefundId: 're_1' });
    expect(summaries(heard(withRefunds(lane(payment()), unnamed)).state)).toEqual([]);
  });

  it('is of the refund that it names, else of ours that has no name yet, else by the running total', () => {
    const id = (over: Partial<PaymentEvent>, ...refunds: RefundRow[]) =>
      heard(withRefunds(lane(payment()), ...refunds), over).state.refunds.length;
    const waits = asked().r;
    const bare = { refundId: null, processorRefundId: null };
    expect(id({}, waits)).toBe(1);
    expect(id({ ...bare }, waits)).toBe(1);
    expect(id({ processorRefundId: null }, part(1, 1000n))).toBe(1);
    expect(id({ refundId: null }, part(9, 1000n, { processorRefundId: 're_1' }))).toBe(1);
    expect(id({}, part(9, 1000n))).toBe(2);
    expect(id({}, part(9, 1000n, { totalAfter: 1000n }))).toBe(2);
    expect(id({}, byEvent({ totalAfter: 1000n }))).toBe(1);
    expect(id({}, byEvent({ totalAfter: 1000n, processorRefundId: 're_9' }))).toBe(2);
    expect(id({}, byEvent({ totalAfter: 999n }))).toBe(2);
    expect(id({ amountRefundedTotal: null }, byEvent({ totalAfter: null }))).toBe(2);
    expect(id({ ...bare }, byEvent({ totalAfter: 1000n }))).toBe(1);
    expect(id({ ...bare, amountRefundedTotal: null }, byEvent())).toBe(2);
    for (const over of [{ status: 'failed' }, { status: 'joined' }, { askedAs: 'ref_0' }, { totalAfter: 5n }] as const)
      expect(id({ ...bare }, { ...waits, ...over })).toBe(2);
    expect(id({ ...bare }, { ...waits, origin: 'event' })).toBe(2);
    expect(id({ ...bare }, { ...waits, amount: 999n })).toBe(2);
    expect(id({ ...bare }, { ...waits, currency: 'USD' })).toBe(2);
    expect(id({ ...bare }, { ...waits, paymentRowId: 'pmt_2' })).toBe(2);
  });
});

describe('who asks for a refund', () => {
  const ask = (s: LaneState, over: Partial<typeof WISH> | { amount: bigint | null } = {}, of = ctx()) =>
    requestRefund(s, 'pmt_1', { ...WISH, ...over }, of);

  it.each([
    ['of no payment', { ...lane(), payments: [] }, 404, 'payment_not_found'],
    ['of a payment without the MoR’s name', lane(payment({ paymentId: null })), 409, 'payment_not_identified'],
    ['of what never succeeded', lane(payment({ succeededAt: null })), 422, 'payment_not_refundable'],
    ['of an amount that nobody told', lane(payment({ amount: null })), 422, 'payment_not_refundable'],
    [
      'of what is being refunded',
      withRefunds(lane(payment()), byEvent({ amount: 2990n })),
      422,
      'payment_not_refundable',
    ],
    ['of more than remains', withRefunds(lane(payment()), byEvent({ amount: 1991n })), 400, 'invalid_request'],
  ])('is refused: %s', (_, s, status, code) => {
    expect(ask(s)).toMatchObject({ ok: false, status, code });
  });

  it('gets all that remains where no amount is said, and exactly what remains where that is', () => {
    const s = withRefunds(lane(payment()), byEvent({ amount: 1990n }));
    expect(ask(s)).toMatchObject({ ok: true, value: { amount: 1000n, status: 'requested', origin: 'api' } });
    expect(ask(s, { amount: null })).toMatchObject({ ok: true, value: { amount: 1000n } });
    expect(ask(s, {}, ctx(0, { shadow: true }))).toMatchObject({ ok: false, code: 'shadow_mode' });
  });

  it('is told what a bank took in a dispute that was lost', () => {
    const lost = (minor: string) =>
      putObject(
        lane(payment()),
        newMorObject(NOW, {
          ...{ id: 'dsp_1', kind: 'dispute', invoiceId: 'in_1', paymentRowId: 'pmt_1', status: 'lost' },
          ...{ amount: BigInt(minor), currency: 'EUR', detail: { loss: { of: 'pmt_1', minor, entries: 1 } } },
        }),
      );
    const all = ask(lost('2990'));
    expect(all.ok ? '' : all.message).toBe(
      'The bank took 29.90 EUR of this payment: a dispute was lost. Nothing is left to refund.',
    );
    const some = ask(lost('2000'));
    expect(some.ok ? '' : some.message).toBe(
      'The amount exceeds what remains of this payment: 9.90 EUR. The bank took 20.00 EUR of this payment: a dispute was lost.',
    );
    const none = ask(withRefunds(lane(payment()), byEvent({ amount: 2000n })));
    expect(none.ok ? '' : none.message).toBe('The amount exceeds what remains of this payment: 9.90 EUR.');
  });

  it('for a review item gets the next name of its kind only once the one before was used', () => {
    const s = lane(payment());
    expect(reviewScope(s, 'pay_1', 'double_payment')).toEqual(['review', 'double_payment', '1']);
    const item = { kind: 'double_payment' } as never;
    const made = refundForReview(s, item, s.payments[0], 500n, 'ada', ctx());
    const after = made.ok ? made.state : never();
    expect(after.refunds).toMatchObject([{ amount: 500n, reason: 'requested_by_customer' }]);
    expect(reviewScope(after, 'pay_1', 'double_payment')).toEqual(['review', 'double_payment', '2']);
    expect(refundForReview(s, item, undefined, null, 'ada', ctx())).toMatchObject({ ok: false, status: 409 });
    expect(refundForReview(s, item, payment({ id: 'pmt_9' }), null, 'ada', ctx())).toMatchObject({ status: 404 });
  });
});

describe('a refund that takes too long', () => {
  const watch = (s: LaneState, ms: number) => {
    const looks: (Date | null)[] = [];
    return { s: watchRefunds(s, ctx(ms), (when) => void looks.push(when)), looks };
  };

  it.each([
    ['unknown', 24],
    ['pending', 240],
  ] as const)('%s is shown to a person after %d hours, and not before', (status, hours) => {
    const { s } = asked({ status }, { status: 'done' });
    expect(watch(s, hours * HOUR - 1)).toEqual({ s, looks: [at(hours * HOUR)] });
    const late = watch(s, hours * HOUR).s;
    expect(open(late)).toMatchObject([{ kind: 'refund_stuck', refundId: s.refunds[0]?.id, paymentRowId: 'pmt_1' }]);
    expect(summaries(late)[0]).toContain(`of 10.00 EUR is ${status} since 2026-11-20`);
    expect(wordsOf(open(late)[0]).proposal).not.toContain('It is not sent again automatically');
  });

  it('is not sent again under a key that the MoR may have forgotten: 23 hours after it was made, whenever it was tried', () => {
    for (const tried of [null, at(0), at(22 * HOUR)])
      for (const status of ['requested', 'unknown'] as const) {
        const { s, m } = asked({ status }, { firstTriedAt: tried, nextTryAt: at(99 * HOUR) });
        expect(watch(s, 23 * HOUR - 1).s).toBe(s);
        const { s: over } = watch(s, 23 * HOUR);
        expect(over.messages).toMatchObject([
          { status: 'refused', lastCode: 'key_too_old', answeredAt: at(23 * HOUR) },
        ]);
        expect(over.refunds[0]?.status).toBe('unknown');
        expect(wordsOf(open(over)[0]).proposal).toContain('It is not sent again automatically');
        expect(over.journal.some((l) => l.text.includes(`key ${m.key} by now: it is not sent again`))).toBe(true);
      }
    const settled = asked({ status: 'succeeded' }, { firstTriedAt: at(0) });
    expect(watch(settled.s, 23 * HOUR).s.messages[0]?.status).toBe('cancelled');
    const done = asked({ status: 'unknown' }, { firstTriedAt: at(0), status: 'done' });
    expect(watch(done.s, 23 * HOUR).s.messages[0]?.status).toBe('done');
  });

  it('is sent for another 23 hours after a person retried it', () => {
    const { s } = asked({ status: 'unknown' }, {});
    const [item] = open(watch(s, 23 * HOUR).s);
    const retried = (resolution: 'retry' | 'dismiss'): LaneState => ({
      ...s,
      reviews: [{ ...(item ?? never()), status: 'resolved', resolution, resolvedAt: at(30 * HOUR) }],
    });
    const sent = (x: LaneState, hours: number) => watch(x, hours * HOUR - 1).s.messages[0]?.status;
    expect([sent(retried('retry'), 53), sent(retried('retry'), 54)]).toEqual(['pending', 'refused']);
    expect(sent(retried('dismiss'), 53)).toBe('refused');
  });

  it('is waited for no more once it has an end; that it failed after all is an item of its own', () => {
    const { s } = asked({ status: 'pending' });
    const waiting = watch(s, 240 * HOUR).s;
    const end = (over: Partial<RefundRow>) =>
      watch(putRefund(waiting, { ...(waiting.refunds[0] ?? never()), ...over }), 241 * HOUR).s;
    expect(end({ status: 'succeeded' }).reviews).toMatchObject([{ status: 'resolved', note: 'the refund succeeded' }]);
    expect(end({ status: 'joined' }).reviews).toMatchObject([{ note: 'it is a refund that was known already' }]);
    const failed = end({ status: 'failed', morRefundId: 'rfnd_1' });
    expect(failed.reviews.map((r) => [r.status, isToldFailed(r)])).toEqual([
      ['resolved', false],
      ['open', true],
    ]);
    expect(summaries(failed)).toEqual(['refund rfnd_1 failed, nothing was refunded: no reason given']);
    const [row = never()] = failed.refunds;
    expect(open(watch(putRefund(failed, { ...row, status: 'succeeded' }), 242 * HOUR).s)).toEqual([]);
    expect(open(watch(failed, 242 * HOUR).s)).toHaveLength(1);
    const quiet = asked({ status: 'failed' }, { status: 'refused' });
    expect(watch(quiet.s, 0).s).toBe(quiet.s);
  });
});
