// Refunds by their names: keys that a restored backup does not change, ids that two payments share, and payments that people named.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { type PaymentEvent } from '../../src/engine/event.js';
import { newPayment } from '../../src/engine/payment.js';
import { emptyLane, putPayment, putRefund } from '../../src/engine/change.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../src/domain/model.js';
import { identifyPayment } from '../../src/refunds/rules/identify-payment.js';
import { misnamed } from '../../src/refunds/rules/misnamed-payment.js';
import { mirrorRefunds } from '../../src/refunds/rules/mirror.js';
import { applyRefunded } from '../../src/refunds/rules/refund-event.js';
import { isNameless, namesOf, newRefund, referenceIn, refundById } from '../../src/refunds/rules/refund-names.js';
import { stuckRefundReview } from '../../src/refunds/rules/refund-review.js';
import { requestRefund } from '../../src/refunds/rules/request-refund.js';
import { aCtx, aPaymentEvent, NOW } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const ctx = aCtx();

const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx, {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
    ...{ processorChargeId: 'ch_1', succeededAt: NOW, mark: 'confirmed', paymentRecordId: 'inpay_1', ...over },
  });
const lane = (...payments: PaymentRow[]): LaneState => payments.reduce(putPayment, emptyLane('in_1'));

describe('the key of a refund', () => {
  const keyOf = (p: PaymentRow, scope: readonly string[], amount: bigint | null = 500n): string | undefined => {
    const request = { amount, reason: null, metadata: null, by: 'ops' };
    const asked = requestRefund(lane(p), p.id, request, ctx, scope);
    return asked.ok ? asked.state.messages[0]?.key : asked.code;
  };

  it('is the same after a restored backup, in which the payment has another id of ours', () => {
    const key = keyOf(payment(), ['api', 'ops', 'key-1']);
    expect(key).toMatch(/^crossbill:refund:sha256-[0-9a-f]{64}$/);
    expect(keyOf(payment({ id: 'pmt_after_the_restore' }), ['api', 'ops', 'key-1'])).toBe(key);
  });

  it('is another for another payment of the MoR’s, another caller and another Idempotency-Key', () => {
    const keys = [
      keyOf(payment(), ['api', 'ops', 'key-1']),
      keyOf(payment({ paymentId: 'pay_2' }), ['api', 'ops', 'key-1']),
      keyOf(payment(), ['api', 'shop', 'key-1']),
      keyOf(payment(), ['api', 'ops', 'key-2']),
    ];
    expect(new Set(keys).size).toBe(4);
  });

  it('finds what was asked under it before, and is refused for another amount', () => {
    const first = { amount: 500n, reason: null, metadata: null, by: 'ops' };
    const made = requestRefund(lane(payment()), 'pmt_1', first, ctx, ['api', 'ops', 'key-1']);
    if (!made.ok) throw new Error(made.code);
    const again = requestRefund(made.state, 'pmt_1', first, ctx, ['api', 'ops', 'key-1']);
    expect(again).toMatchObject({ ok: true, value: { id: made.value.id } });
    const other = requestRefund(made.state, 'pmt_1', { ...first, amount: 501n }, ctx, ['api', 'ops', 'key-1']);
    expect(other).toMatchObject({ ok: false, code: 'idempotency_conflict' });
  });
});

describe('two refunds of one payment', () => {
  const ask = (s: LaneState, key: string, amount: bigint | null = 500n) => {
    const done = requestRefund(s, 'pmt_1', { amount, reason: null, metadata: null, by: 'ops' }, ctx, ['api', key]);
    if (!done.ok) throw new Error(done.code);
    return done;
  };
  const first = ask(lane(payment()), 'key-1');
  const second = ask(first.state, 'key-2', 600n);
  const [one, two] = [first.value, second.value];

  it('are asked for under their own keys, and each key finds its own again, without an amount too', () => {
    expect(second.state.refunds.map((r) => r.amount)).toEqual([500n, 600n]);
    expect([ask(second.state, 'key-1', null).value.id, ask(second.state, 'key-2', null).value.id]).toEqual([
      ...[one.id, two.id],
    ]);
    expect(refundById(second.state, two.id)?.id).toBe(two.id);
    const joined = putRefund(putRefund(second.state, { ...two, status: 'joined' }), { ...one, askedAs: two.id });
    expect(refundById(joined, two.id)?.id).toBe(one.id);
    expect(refundById(joined, 'ref_9')).toBeUndefined();
  });

  it('are refused, ended and sent again one by one', () => {
    const calls = second.state.messages;
    const refused: LaneState = { ...second.state, messages: calls.map((m) => ({ ...m, status: 'refused' })) };
    const about = { refundId: two.id } as ReviewRow;
    const choose = (s: LaneState, resolution: 'apply' | 'retry') => {
      const done = stuckRefundReview(s, about, { resolution, note: 'Ada', by: 'ops' }, ctx);
      return done.ok ? done.state : done.code;
    };
    const again = choose(refused, 'retry');
    expect(typeof again === 'string' ? again : again.messages.map((m) => m.status)).toEqual(['refused', 'pending']);
    const oneSent: LaneState = { ...refused, messages: refused.messages.with(0, calls[0] ?? never()) };
    const ended = choose(oneSent, 'apply');
    expect(typeof ended === 'string' ? ended : ended.refunds.map((r) => r.status)).toEqual(['requested', 'failed']);
    const twoSent: LaneState = { ...refused, messages: refused.messages.with(1, calls[1] ?? never()) };
    expect(choose(twoSent, 'apply')).toBe('refund_being_sent');
  });

  it('take an answer only when they wait for one and have no name: that is what an event may take them for', () => {
    expect(isNameless(one, 500n)).toBe(true);
    expect(isNameless({ ...one, status: 'unknown' }, 500n)).toBe(true);
    const over = [
      { status: 'pending' },
      { origin: 'event' },
      { morRefundId: 'r' },
      { processorRefundId: 'r' },
    ] as const;
    for (const change of over) expect(isNameless({ ...one, ...change }, 500n)).toBe(false);
    expect(isNameless(one, 501n)).toBe(false);
  });
});

describe('two payments of one invoice whose refunds carry one id of the processor', () => {
  const [first, second] = [payment(), payment({ id: 'pmt_2', paymentId: 'pay_2', paymentRecordId: 'inpay_2' })];
  const refunded = [first, second].reduce(
    (s, p) => {
      const r = newRefund(ctx, p, 1000n, null, 'event');
      const counted = {
        ...r,
        status: 'succeeded',
        processorRefundId: 're_shared',
        mirror: 'waiting',
        counted: true,
      } as const;
      return putRefund(s, counted);
    },
    lane(first, second),
  );

  it('are two refunds, each reported under a key of its own', () => {
    const s = mirrorRefunds(mirrorRefunds(refunded, 'pmt_1', ctx), 'pmt_2', ctx);
    expect(s.refunds.map((r) => r.mirror)).toEqual(['reporting', 'reporting']);
    const reports = s.messages.filter((m) => m.kind === 'report_refund');
    expect(reports.map((m) => m.subject)).toEqual(['pay_1:re_shared', 'pay_2:re_shared']);
    expect(reports.map((m) => m.generation)).toEqual([1, 1]);
    expect(new Set(reports.map((m) => m.key)).size).toBe(2);
    expect(reports.map((m) => (m.asked?.kind === 'report_refund' ? m.asked.reference : null))).toEqual([
      ...['re_shared', 're_shared'],
    ]);
  });

  it('are known again by every name that a call may bear, with the payment’s and without', () => {
    const [r] = refunded.refunds;
    if (r === undefined) throw new Error('no refund');
    const own = [r.id, 're_shared'];
    expect(namesOf(refunded, r)).toEqual([
      ...own,
      `pay_1:${r.id}`,
      'pay_1:re_shared',
      `pmt_1:${r.id}`,
      'pmt_1:re_shared',
    ]);
    expect(['pay_1:re_shared', 'pmt_1:re_shared', 're_shared'].map((name) => referenceIn(refunded, r, name))).toEqual([
      ...['re_shared', 're_shared', 're_shared'],
    ]);
    expect(referenceIn(refunded, r, 'pay_9:re_shared')).toBe('pay_9:re_shared');
  });
});

describe('a person names a payment', () => {
  const nameless = payment({ paymentId: null });

  it('for good: the same name again changes nothing, another one is refused', () => {
    const named = identifyPayment(lane(nameless), 'pmt_1', 'pay_9', 'ops', ctx);
    if (!named.ok) throw new Error(named.code);
    expect(named.value).toMatchObject({ paymentId: 'pay_9', identifiedBy: 'ops' });
    expect(identifyPayment(named.state, 'pmt_1', 'pay_9', 'shop', ctx)).toMatchObject({ ok: true, state: named.state });
    expect(identifyPayment(named.state, 'pmt_1', 'pay_8', 'ops', ctx)).toMatchObject({
      ...{ ok: false, status: 409, code: 'payment_already_identified', field: 'payment_id' },
    });
  });

  it('never by the name of another payment of the invoice: one would be refunded for the other', () => {
    const s = lane(nameless, payment({ id: 'pmt_2', paymentId: 'pay_2' }));
    expect(identifyPayment(s, 'pmt_1', 'pay_2', 'ops', ctx)).toMatchObject({
      ...{ ok: false, status: 409, code: 'payment_id_taken', field: 'payment_id' },
      message: 'pay_2 is the id of payment pmt_2 of invoice in_1 already.',
    });
    expect(identifyPayment(s, 'pmt_9', 'pay_2', 'ops', ctx)).toMatchObject({ ok: false, status: 404 });
  });

  const refund = (over: Partial<PaymentEvent> = {}): PaymentEvent =>
    aPaymentEvent({
      ...{
        eventId: 'evt_r',
        type: 'payment.refunded',
        paymentId: 'pay_9',
        status: 'partially_refunded',
        amount: 1000n,
      },
      ...{ refundId: 'rfnd_1', processorRefundId: 're_1', amountRefundedTotal: 1000n, ...over },
    });
  const byHand = payment({ paymentId: 'pay_9', identifiedBy: 'ops' });

  it('wrongly: what is given back under that name, of another charge, is not taken for a refund of this one', () => {
    const other = refund({ processorChargeId: 'ch_of_somebody_else', customerId: 'cus_2' });
    const { state } = applyRefunded(lane(byHand), other, ctx);
    expect(state.refunds).toEqual([]);
    expect(state.reviews).toMatchObject([{ kind: 'conflicting_event', status: 'open', paymentRowId: 'pmt_1' }]);
    expect(wordsOf(state.reviews[0]).summary).toContain(
      'pay_9 is charge ch_of_somebody_else of customer cus_2, of which 10.00 EUR was given back',
    );
  });

  it.each([
    ['the same charge', refund(), byHand],
    ['no charge', refund({ processorChargeId: null }), byHand],
    [
      'a payment whose charge is not known',
      refund({ processorChargeId: 'ch_2' }),
      payment({ ...byHand, processorChargeId: null }),
    ],
    ['a payment that the MoR named itself', refund({ processorChargeId: 'ch_2' }), payment({ paymentId: 'pay_9' })],
    ['a payment of another name', refund({ processorChargeId: 'ch_2', paymentId: 'pay_8' }), byHand],
  ])('and an event with %s shows no mistake', (_, event, p) => {
    expect(misnamed(lane(p), event)).toBeUndefined();
  });
});
