// The keys of a refund, and a second refund of the same payment.
import { describe, expect, it } from '@jest/globals';
import { putObject, putRefund } from '../../../../support/builders/put-rows.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { refundById, refundForItem } from '../../../../../src/core/refunds/rules/request.js';
import { applyStuckChoice } from '../../../../../src/core/refunds/rules/stuck-refund.js';
import { byEvent, ctx, lane, payment, WISH } from '../../../../support/builders/asked-refund.js';
import { NOW } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { asReview } from '../../../../support/rigs/decide.js';
import { newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { askRefund } from '../../../../support/rigs/ask-refund.js';

describe('a request for a refund', () => {
  const withRefunds = (state: LaneState, ...refunds: RefundRow[]): LaneState => refunds.reduce(putRefund, state);

  const keyOf = (payment: PaymentRow, scope: readonly string[], amount: bigint | null = 500n): string | undefined => {
    const request = { amount, reason: null, metadata: null, by: 'ops' };
    const asked = askRefund(lane(payment), payment.id, request, ctx(), scope);
    return asked.ok ? asked.state.calls[0]?.key : asked.code;
  };

  it("a refund's idempotency key stays the same after a restore that gives the payment a new row id", () => {
    const key = keyOf(payment(), ['api', 'ops', 'key-1']);
    expect(key).toMatch(/^crossbill:refund:sha256-[0-9a-f]{64}$/);
    expect(keyOf(payment({ id: 'pmt_after_the_restore' }), ['api', 'ops', 'key-1'])).toBe(key);
  });

  it('a refund has another key at the MoR for each payment, each caller and each Idempotency-Key', () => {
    const keys = [
      keyOf(payment(), ['api', 'ops', 'key-1']),
      keyOf(payment({ paymentId: 'pay_2' }), ['api', 'ops', 'key-1']),
      keyOf(payment(), ['api', 'shop', 'key-1']),
      keyOf(payment(), ['api', 'ops', 'key-2']),
    ];
    expect(new Set(keys).size).toBe(4);
  });

  it('a repeated Idempotency-Key returns its refund, and Crossbill refuses the key with another amount', () => {
    const first = { amount: 500n, reason: null, metadata: null, by: 'ops' };
    const made = askRefund(lane(payment()), 'pmt_1', first, ctx(), ['api', 'ops', 'key-1']);
    if (!made.ok) throw new Error(made.code);
    const again = askRefund(made.state, 'pmt_1', first, ctx(), ['api', 'ops', 'key-1']);
    expect(again).toMatchObject({ ok: true, value: { id: made.value.id } });
    const other = askRefund(made.state, 'pmt_1', { ...first, amount: 501n }, ctx(), ['api', 'ops', 'key-1']);
    expect(other).toMatchObject({ ok: false, code: 'idempotency_conflict' });
  });

  const ask = (state: LaneState, key: string, amount: bigint | null = 500n) => {
    const done = askRefund(state, 'pmt_1', { amount, reason: null, metadata: null, by: 'ops' }, ctx(), ['api', key]);
    if (!done.ok) throw new Error(done.code);
    return done;
  };
  const first = ask(lane(payment()), 'key-1');
  const second = ask(first.state, 'key-2', 600n);
  const [one, two] = [first.value, second.value];

  it('each of two Idempotency-Keys finds its own refund of one payment, even without an amount', () => {
    expect(second.state.refunds.map((r) => r.amount)).toEqual([500n, 600n]);
    expect([ask(second.state, 'key-1', null).value.id, ask(second.state, 'key-2', null).value.id]).toEqual([
      ...[one.id, two.id],
    ]);
    expect(refundById(second.state, two.id)?.id).toBe(two.id);
    const joined = putRefund(putRefund(second.state, { ...two, status: 'joined' }), { ...one, askedAs: two.id });
    expect(refundById(joined, two.id)?.id).toBe(one.id);
    expect(refundById(joined, 'ref_9')).toBeUndefined();
  });

  it('an operator retries or ends one of two refunds of a payment without touching the other refund', () => {
    const calls = second.state.calls;
    const refused: LaneState = { ...second.state, calls: calls.map((m) => ({ ...m, status: 'refused' })) };
    const about = { refundId: two.id } as ReviewRow;
    const choose = (state: LaneState, resolution: 'apply' | 'retry') => {
      const done = asReview(applyStuckChoice)(state, about, { resolution, note: 'Ada', by: 'ops' }, ctx());
      return done.ok ? done.state : done.code;
    };
    const again = choose(refused, 'retry');
    expect(typeof again === 'string' ? again : again.calls.map((m) => m.status)).toEqual(['refused', 'pending']);
    const oneSent: LaneState = { ...refused, calls: refused.calls.with(0, calls[0] ?? never()) };
    const ended = choose(oneSent, 'apply');
    expect(typeof ended === 'string' ? ended : ended.refunds.map((r) => r.status)).toEqual(['requested', 'failed']);
    const twoSent: LaneState = { ...refused, calls: refused.calls.with(1, calls[1] ?? never()) };
    expect(choose(twoSent, 'apply')).toBe('refund_being_sent');
  });

  describe('the limits of a refund request', () => {
    const ask = (state: LaneState, over: Partial<typeof WISH> | { amount: bigint | null } = {}, of = ctx()) =>
      askRefund(state, 'pmt_1', { ...WISH, ...over }, of);

    it.each([
      ['a missing payment', { ...lane(), payments: [] }, 404, 'payment_not_found'],
      ['a payment without the MoR’s id', lane(payment({ paymentId: null })), 409, 'payment_not_identified'],
      ['a payment without success', lane(payment({ succeededAt: null })), 422, 'payment_not_refundable'],
      ['a payment of unknown amount', lane(payment({ amount: null })), 422, 'payment_not_refundable'],
      [
        'a payment that is refunded in full',
        withRefunds(lane(payment()), byEvent({ amount: 2990n })),
        422,
        'payment_not_refundable',
      ],
      [
        'more than the rest of a payment',
        withRefunds(lane(payment()), byEvent({ amount: 1991n })),
        400,
        'invalid_request',
      ],
    ])('Crossbill refuses a refund of %s', (_, s, status, code) => {
      expect(ask(s)).toMatchObject({ ok: false, status, code });
    });

    it('a refund without an amount takes the rest of the payment; shadow mode allows no refund', () => {
      const s = withRefunds(lane(payment()), byEvent({ amount: 1990n }));
      expect(ask(s)).toMatchObject({ ok: true, value: { amount: 1000n, status: 'requested', origin: 'api' } });
      expect(ask(s, { amount: null })).toMatchObject({ ok: true, value: { amount: 1000n } });
      expect(ask(s, {}, ctx(0, { sendsNothing: true }))).toMatchObject({ ok: false, code: 'shadow_mode' });
    });

    it('if a bank took money by a lost dispute, the refusal of a refund names that amount', () => {
      const lost = (minor: string) =>
        putObject(
          lane(payment()),
          newMorObject(NOW, {
            ...{ id: 'dsp_1', kind: 'dispute', invoiceId: 'in_1', paymentRowId: 'pmt_1', status: 'lost' },
            ...{
              amount: BigInt(minor),
              currency: 'EUR',
              detail: { loss: { of: 'pmt_1', minor, entries: 1, movedAt: '2026-11-20T12:00:00Z' } },
            },
          }),
        );
      const all = ask(lost('2990'));
      expect(all.ok ? '' : all.message).toBe(
        'The bank took 29.90 EUR of this payment: a dispute was lost. Nothing is left to refund.',
      );
      const some = ask(lost('2000'));
      expect(some.ok ? '' : some.message).toBe(
        'The amount exceeds the rest of this payment. Refund at most 9.90 EUR. The bank took 20.00 EUR of this payment: a dispute was lost.',
      );
      const none = ask(withRefunds(lane(payment()), byEvent({ amount: 2000n })));
      expect(none.ok ? '' : none.message).toBe('The amount exceeds the rest of this payment. Refund at most 9.90 EUR.');
    });

    it('two refunds chosen for one kind of review item have different idempotency keys', () => {
      const give = (state: LaneState, payment: PaymentRow | undefined) => {
        const on = new Lane(state, ctx());
        const refused = refundForItem(on, { kind: 'double_payment' }, payment, { amount: 500n, by: 'ada' });
        return { s: on.toState(), refused };
      };
      const s = lane(payment());
      const first = give(s, payment());
      expect(first.s.refunds).toMatchObject([{ amount: 500n, reason: 'requested_by_customer' }]);
      const second = give(first.s, payment());
      expect(second.s.refunds.map((r) => r.amount)).toEqual([500n, 500n]);
      expect(new Set(second.s.calls.map((m) => m.key)).size).toBe(2);
      expect(give(s, undefined).refused).toMatchObject({ ok: false, status: 409 });
      expect(give(s, payment({ id: 'pmt_9' })).refused).toMatchObject({ status: 404 });
    });
  });
});
