// What a refund that was asked for comes to: the MoR's answer, its refusal, its silence, and what a person says of it.
import { aKind, FACTS } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { emptyLane, openReview, putMessage, putPayment, putRefund } from '../../src/engine/change.js';
import { type LaneState, type PaymentRow, type RefundRow, type ReviewRow } from '../../src/domain/model.js';
import { applyRefundAnswer, createRefundCall, decideAgain } from '../../src/refunds/rules/refund-answer.js';
import { erasedRequest, mirrorReview, stuckRefundReview } from '../../src/refunds/rules/refund-review.js';
import { answer, type Asked, asked, at, byEvent, ctx, lane, payment, refusal } from '../support/asked-refund.js';
import { open } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const first = (s: LaneState): RefundRow => s.refunds[0] ?? never();
const items = (s: LaneState) => open(s).map((r) => [r.kind, r.subject]);

describe('the MoR’s answer to a refund', () => {
  const answered = ({ s, r }: Asked, over: Parameters<typeof answer>[0] = {}): LaneState =>
    applyRefundAnswer(s, r, answer(over), ctx(5_000));

  it('that it succeeded names it and dates it by the MoR’s clock, or by ours where the MoR gave no time', () => {
    const done = { status: 'succeeded', morRefundId: 'rfnd_1', processorRefundId: 're_1', failure: null };
    expect(answered(asked(), { createdAt: at(-900) }).refunds).toMatchObject([{ ...done, succeededAt: at(-900) }]);
    const dull = answered(asked());
    expect(dull.refunds).toMatchObject([{ ...done, succeededAt: at(5_000) }]);
    expect(open(dull)).toEqual([]);
    expect(answered(asked(), { status: 'pending' }).refunds).toMatchObject([
      { ...done, status: 'pending', succeededAt: null },
    ]);
    const [call] = asked().s.messages;
    const taken = asked();
    expect(
      createRefundCall.answered(taken.s, taken.m, { kind: 'create_refund', refund: answer() }, ctx()).refunds,
    ).toMatchObject([done]);
    const empty = lane(payment());
    expect(createRefundCall.answered(empty, call ?? never(), { kind: 'create_refund', refund: answer() }, ctx())).toBe(
      empty,
    );
  });

  it('that it failed frees the amount and tells a person; of one that an event called succeeded it changes nothing', () => {
    const failed = answered(asked(), { status: 'failed' });
    expect(first(failed)).toMatchObject({
      status: 'failed',
      failure: { status: null, code: 'refund_failed', message: 'the MoR says that the refund failed' },
    });
    expect(withWords(open(failed))).toMatchObject([
      {
        ...{ kind: 'refund_stuck', subject: `${first(failed).id}:failed`, refundId: first(failed).id },
        summary: 'refund rfnd_1 failed, nothing was refunded: the MoR says that the refund failed',
      },
    ]);
    const told = asked({ status: 'succeeded', morRefundId: 'rfnd_1', succeededAt: at(-1) });
    const late = answered(told, { status: 'failed', createdAt: at(1) });
    expect(late.refunds).toMatchObject([
      { status: 'succeeded', succeededAt: at(-1), processorRefundId: 're_1', failure: null },
    ]);
    expect(open(late)).toEqual([]);
    expect(answered(told, { createdAt: at(1) }).refunds).toMatchObject([{ succeededAt: at(-1) }]);
  });

  it('that names another refund than the event that was taken for it is a second row, or its twin that waits for a name', () => {
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
    const paired = applyRefundAnswer(putRefund(other.s, twin), other.r, answer(), ctx());
    expect(paired.refunds.map((r) => [r.id, r.morRefundId])).toEqual([
      [other.r.id, 'rfnd_9'],
      ['ref_twin', 'rfnd_1'],
    ]);
    const elsewhere = applyRefundAnswer(
      putRefund(other.s, { ...twin, paymentRowId: 'pmt_2' }),
      other.r,
      answer(),
      ctx(),
    );
    expect(elsewhere.refunds).toHaveLength(3);
  });

  it.each([
    ['amount', { amountMinor: 999n }, 'rfnd_1', '9.99 EUR of pay_1'],
    ['currency', { currency: 'USD' }, 'rfnd_1', '10.00 USD of pay_1'],
    ['payment', { paymentId: 'pay_9' }, null, '10.00 EUR of pay_9'],
  ])('of another %s is not believed: the refund stays without an end, and a person is asked', (_, over, name, said) => {
    const s = answered(asked(), over);
    expect(s.refunds).toMatchObject([{ status: 'unknown', morRefundId: name }]);
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'refund_gap', subject: first(s).id, paymentRowId: 'pmt_1', refundId: first(s).id },
        summary: `10.00 EUR of pay_1 was to be refunded; the MoR answered ${said}`,
      },
    ]);
    expect(answered(asked({ status: 'pending' }), over).refunds).toMatchObject([{ status: 'pending' }]);
    const taken = asked();
    const known = putRefund(taken.s, byEvent({ morRefundId: 'rfnd_1' }));
    expect(first(applyRefundAnswer(known, taken.r, answer(over), ctx())).morRefundId).toBeNull();
  });

  it('of a payment that is not here changes nothing', () => {
    const { r } = asked();
    const s = emptyLane('in_1');
    expect(applyRefundAnswer(s, r, answer(), ctx())).toBe(s);
  });
});

describe('an answer with a refund that another row stands for', () => {
  const joined = (known: RefundRow, over: Parameters<typeof answer>[0] = {}, of = asked(), more: RefundRow[] = []) =>
    applyRefundAnswer([known, ...more].reduce(putRefund, of.s), of.r, answer(over), ctx());
  const statuses = (s: LaneState) => s.refunds.map((r) => r.status);

  it('makes the two one: ours reserves nothing, and the other goes by both ids', () => {
    for (const name of [{ morRefundId: 'rfnd_1' }, { processorRefundId: 're_1' }]) {
      const s = joined(byEvent(name), {}, asked({ reason: 'goodwill' }));
      const [ours, known] = s.refunds;
      expect([ours?.status, known?.status]).toEqual(['joined', 'succeeded']);
      expect(known).toMatchObject({
        ...{ morRefundId: 'rfnd_1', processorRefundId: 're_1', origin: 'api', askedAs: ours?.id, reason: 'goodwill' },
      });
      expect(s.journal.at(-1)?.text).toBe(`${ours?.id ?? ''} is refund rfnd_1, which was known already: they are one`);
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
  ])('changes nothing where that row %s', (_, known) => {
    const of = asked();
    const s = putRefund(of.s, known);
    expect(applyRefundAnswer(s, of.r, answer(), ctx())).toBe(s);
  });

  it('changes nothing while that row awaits an answer of its own, which puts it right', () => {
    const of = asked();
    const waits = putMessage(putRefund(of.s, byEvent({ morRefundId: 'rfnd_1' })), {
      ...of.m,
      ...{ id: 'out_2', subject: 'ref_event' },
    });
    expect(applyRefundAnswer(waits, of.r, answer(), ctx())).toBe(waits);
    const done = putMessage(waits, { ...of.m, id: 'out_2', subject: 'ref_event', status: 'done' });
    expect(statuses(applyRefundAnswer(done, of.r, answer(), ctx()))).toEqual(['joined', 'succeeded']);
  });

  it('goes by the time where the event named none: it may be that refund unless the MoR made the refund later', () => {
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
});

describe('a refund that the MoR refuses', () => {
  const refused = ({ s, m }: Asked, over: Parameters<typeof refusal>[0] = {}): LaneState =>
    createRefundCall.refused(s, m, refusal(over), ctx());

  it('at the first try gave nothing back: its amount is free, and who asked is told by its status', () => {
    const s = refused(asked());
    expect(s.refunds).toMatchObject([
      { status: 'failed', failure: { status: 422, code: 'not_refundable', message: 'no' } },
    ]);
    expect([items(s), s.payments[0]?.paymentId]).toEqual([[], 'pay_1']);
  });

  it('as a repeat, or because its key is in use, says nothing of the first try: the amount stays reserved', () => {
    for (const [of, over] of [
      [asked({ status: 'unknown' }), {}],
      [asked(), { status: 409 }],
    ] as const) {
      const s = refused(of, over);
      expect(s.refunds).toMatchObject([{ status: 'unknown', failure: null }]);
      expect(withWords(open(s))).toMatchObject([
        {
          ...{ kind: 'refund_stuck', subject: of.r.id, paymentRowId: 'pmt_1', refundId: of.r.id },
          summary: `the first attempt of refund ${of.r.id} was not answered and the repeat was refused: ${over.status ?? 422} not_refundable no`,
        },
      ]);
    }
  });

  it('because its key has another body is a person’s to look into', () => {
    const s = refused(asked(), { status: 409, code: 'idempotency_conflict' });
    expect(s.refunds).toMatchObject([{ status: 'unknown', failure: { status: 409, code: 'idempotency_conflict' } }]);
    expect(wordsOf(open(s)[0]).summary).toContain(
      'the MoR knows its key with another body (409 idempotency_conflict no)',
    );
  });

  it('because it knows no such payment proves that nothing moved under a name that a person gave, and takes the name back', () => {
    const missing = { status: 404, code: 'payment_not_found' };
    const byHand = payment({ identifiedBy: 'ada' });
    const s = refused(asked({ status: 'unknown' }, {}, byHand), missing);
    expect(s.refunds).toMatchObject([{ status: 'failed' }]);
    expect(s.payments).toMatchObject([{ paymentId: null, identifiedBy: null }]);
    expect(items(s)).toEqual([['refund_stuck', `${first(s).id}:failed`]]);
    expect(s.journal.some((l) => l.text.includes('the MoR knows no payment pay_1, the name that ada gave'))).toBe(true);
    const unnamed = asked({ status: 'unknown' }, {}, byHand);
    const before = putPayment(unnamed.s, { ...byHand, paymentId: null });
    expect(refused({ ...unnamed, s: before }, missing).refunds).toMatchObject([{ status: 'failed' }]);
    const otherReason = refused(asked({}, {}, byHand), { status: 404, code: 'gone' });
    expect(otherReason.payments).toMatchObject([{ paymentId: 'pay_1', identifiedBy: 'ada' }]);
    const ownName = refused(asked(), missing);
    expect([ownName.refunds[0]?.status, ownName.payments[0]?.paymentId]).toEqual(['failed', 'pay_1']);
    expect(refused(asked({ status: 'unknown' }), missing).refunds).toMatchObject([{ status: 'unknown' }]);
  });

  it('after the event of a refund of its amount came, leaves that refund as it is and is told to a person', () => {
    const done = asked({ status: 'succeeded' });
    const s = refused(done);
    expect([s.refunds, s.payments, s.entries]).toEqual([done.s.refunds, done.s.payments, done.s.entries]);
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'refund_gap', subject: `${done.r.id}:refused`, paymentRowId: 'pmt_1', refundId: done.r.id },
        summary: expect.stringContaining(
          '422 not_refundable no; a refund of that amount, known by an event, stands in',
        ),
      },
    ]);
    const named = refused(asked({ status: 'succeeded', processorRefundId: 're_9' }));
    expect(wordsOf(open(named)[0]).summary).toContain('refund re_9 of that amount, known by an event');
  });

  it('of a key that is in use or was used before, once its event came, or of which no row is here, changes nothing', () => {
    const done = asked({ status: 'succeeded' });
    expect(refused(done, { status: 409, code: 'idempotency_conflict' })).toBe(done.s);
    const { m } = asked();
    const empty = lane(payment());
    expect(refused({ ...asked(), s: empty, m })).toBe(empty);
  });

  it('by silence is unknown from then on, unless it surely did not arrive', () => {
    const silent = ({ s, m }: Asked, kind: 'unknown' | 'retry') =>
      createRefundCall.silent?.(s, m, refusal({ kind, status: null }), ctx()) ?? never();
    expect(silent(asked(), 'unknown').refunds).toMatchObject([{ status: 'unknown' }]);
    const retry = asked();
    expect(silent(retry, 'retry')).toBe(retry.s);
    const known = asked({ status: 'pending' });
    expect(silent(known, 'unknown')).toBe(known.s);
  });
});

describe('a payment that was to be given back and was not', () => {
  const parked = (over: Partial<PaymentRow> = {}): LaneState => lane(payment({ mark: 'parked', ...over }));
  const item = (s: LaneState, over: Partial<Pick<ReviewRow, 'kind' | 'paymentRowId'>> = {}): LaneState =>
    openReview(s, ctx(), { paymentRowId: 'pmt_1', ...over, ...aKind(over.kind ?? 'double_payment'), subject: 'x' });

  it('is looked at afresh, on a new read of its invoice', () => {
    const s = decideAgain(parked(), 'pmt_1');
    expect([s.payments[0]?.mark, s.invoice?.readAt]).toEqual(['waiting', null]);
    const settled = item(parked());
    const closed = { ...settled, reviews: settled.reviews.map((r) => ({ ...r, status: 'resolved' as const })) };
    for (const other of [
      closed,
      item(parked(), { paymentRowId: 'pmt_2' }),
      item(parked(), { kind: 'conflicting_event' }),
    ]) {
      expect(decideAgain(other, 'pmt_1').payments[0]?.mark).toBe('waiting');
    }
  });

  it('waits on where a person is asked already, where it is marked, and where no invoice is known', () => {
    const nothing = { ...parked(), invoice: null };
    for (const s of [item(parked()), lane(payment()), nothing]) expect(decideAgain(s, 'pmt_1')).toBe(s);
    const s = parked();
    expect(decideAgain(s, 'pmt_9')).toBe(s);
  });
});

describe('a person’s choice for a refund that is stuck', () => {
  const about = (s: LaneState, r: RefundRow): ReviewRow =>
    openReview(s, ctx(), { kind: 'refund_stuck', subject: r.id, refundId: r.id, fact: FACTS.refund_stuck })
      .reviews[0] ?? never();
  const choose = ({ s, r }: Asked, resolution: 'apply' | 'retry' | 'dismiss', note: string | null = null) =>
    stuckRefundReview(s, about(s, r), { resolution, note, by: 'ada' }, ctx());

  it('to try again sends the same request once more; of one that failed nothing is sent', () => {
    const stuck = asked({ status: 'unknown' }, { status: 'refused' });
    expect(choose(stuck, 'retry')).toMatchObject({ ok: true, state: { messages: [{ status: 'pending' }] } });
    expect(choose(stuck, 'dismiss')).toMatchObject({ ok: true, state: stuck.s });
    const failed = asked({ status: 'failed' }, { status: 'refused' });
    expect(choose(failed, 'retry')).toMatchObject({ ok: true, state: failed.s });
  });

  it('to try again is refused once the bytes of the request were erased', () => {
    const wire = { method: 'POST', path: '/', body: null } as const;
    const gone = asked({ status: 'unknown' }, { status: 'refused', wire });
    expect(choose(gone, 'retry')).toMatchObject({ ok: false, status: 409, code: 'request_erased' });
    expect(erasedRequest(gone.s, { ...about(gone.s, gone.r), refundId: 'ref_9' })).toBeNull();
    const other = putMessage(gone.s, { ...gone.m, kind: 'report_refund' });
    expect(erasedRequest(other, about(gone.s, gone.r))).toBeNull();
  });

  it('to close that of one that failed needs no bytes: nothing is sent', () => {
    const wire = { method: 'POST', path: '/', body: null } as const;
    const failed = asked({ status: 'failed' }, { status: 'refused', wire });
    expect(choose(failed, 'retry')).toMatchObject({ ok: true, state: failed.s });
  });

  it('to try again of a request that was answered says that it is not sent again', () => {
    const wire = { method: 'POST', path: '/', body: null } as const;
    const answered = asked({ status: 'pending' }, { status: 'done', wire });
    expect(choose(answered, 'retry')).toMatchObject({ ok: false, status: 409, code: 'refund_answered' });
  });

  it('that it failed needs a word on who said so, and that nothing is being sent', () => {
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

  it('for its twin on Stripe starts that again, once', () => {
    const twin = (mirror: RefundRow['mirror'], resolution: 'retry' | 'dismiss') => {
      const of = asked({ status: 'succeeded', mirror }, { status: 'done' });
      const done = mirrorReview(of.s, about(of.s, of.r), { resolution, note: null, by: 'ada' }, ctx());
      return done.ok ? first(done.state).mirror : done.code;
    };
    expect([twin('parked', 'retry'), twin('parked', 'dismiss'), twin('done', 'retry')]).toEqual([
      ...['waiting', 'parked', 'done'],
    ]);
    // It is made of the refund, not of the request, whose bytes may be erased by then.
    const wire = { method: 'POST', path: '/', body: null } as const;
    const erased = asked({ status: 'succeeded', mirror: 'parked' }, { status: 'done', wire });
    const said = { resolution: 'retry', note: null, by: 'ada' } as const;
    const again = mirrorReview(erased.s, about(erased.s, erased.r), said, ctx());
    expect(again).toMatchObject({ ok: true, state: { refunds: [{ mirror: 'waiting' }] } });
  });
});
