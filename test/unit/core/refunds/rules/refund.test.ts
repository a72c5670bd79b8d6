// Refunds: what their events say, which of them count, and whether the MoR's totals agree.
import { aKind } from '../../../../support/builders/item-facts.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { describe, expect, it } from '@jest/globals';
import { type Ctx } from '../../../../../src/engine/context.js';
import { putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { type PaymentEvent } from '../../../../../src/engine/event.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { declares } from '../../../../../src/engine/items.js';
import { countRefunds, reconsiderParked } from '../../../../../src/core/refunds/rules/count.js';
import { refundGaps } from '../../../../../src/core/refunds/rules/refund-gaps.js';
import { isNameless, renamedRefunds } from '../../../../../src/core/refunds/rules/refund.js';
import { applyRefunded } from '../../../../../src/core/refunds/rules/refunded-event.js';
import { asked, at, byEvent, ctx, lane, payment } from '../../../../support/builders/asked-refund.js';
import { aPaymentEvent, NOW, open, openFacts } from '../../../../support/builders/channel-lane.js';
import { openReview, asEventRule, decide } from '../../../../support/rigs/decide.js';

const settleRefunds = (state: LaneState, on: Ctx): LaneState =>
  decide(decide(state, on, countRefunds), on, declares(refundGaps));
const withRefunds = (state: LaneState, ...refunds: RefundRow[]): LaneState => refunds.reduce(putRefund, state);
const part = (count: number, amount: bigint, over: Partial<RefundRow> = {}): RefundRow =>
  byEvent({ id: `ref_${count}`, morRefundId: `rfnd_${count}`, amount, ...over });

const settled = (...refunds: RefundRow[]) => settleRefunds(withRefunds(lane(payment()), ...refunds), ctx());
const counted = (state: LaneState) => state.refunds.filter((r) => r.counted).map((r) => r.id);

it("up to the payment's amount, Crossbill counts first the refunds with the lowest running total, and then the oldest refunds", () => {
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

it('the ledger leaves out a refund without success or amount, in another currency, or above the payment', () => {
  expect(counted(settled(part(1, 1n, { currency: 'USD' })))).toEqual([]);
  expect(counted(settled(part(1, 1n, { status: 'pending' })))).toEqual([]);
  expect(counted(settled(part(1, 1n, { totalAfter: 2991n })))).toEqual([]);
  expect(counted(settled(part(1, 1n, { totalAfter: 2990n })))).toEqual(['ref_1']);
  expect(counted(settled(part(1, 1n, { paymentRowId: 'pmt_2' })))).toEqual([]);
  for (const unknown of [payment({ amount: null }), payment({ succeededAt: null })]) {
    expect(counted(settleRefunds(withRefunds(lane(unknown), part(1, 1n)), ctx()))).toEqual([]);
  }
});

it('Crossbill counts a refund whose credit note Stripe already has, and sends the refund to Stripe no second time', () => {
  expect(settled(part(1, 1n, { mirror: 'done' })).refunds).toMatchObject([{ counted: true, mirror: 'done' }]);
});

it('refunds above the payment or in another currency open a review item; refunds up to the payment open none', () => {
  const [amount, refunded] = [eur(2990n), eur(2991n)];
  expect(openFacts(settled(part(1, 2990n), part(2, 1n)))).toEqual([
    { code: 'refunds-beyond-payment', payment: 'pay_1', amount, refunded },
  ]);
  expect(openFacts(settled(part(1, 2990n)))).toEqual([]);
  expect(openFacts(settled(part(1, 1n, { status: 'pending' })))).toEqual([]);
  expect(openFacts(settled(part(1, 1n, { currency: 'USD' })))).toHaveLength(1);
  const unnamed = settleRefunds(withRefunds(lane(payment({ paymentId: null })), part(1, 2991n)), ctx());
  expect(openFacts(unnamed)).toMatchObject([{ payment: 'pmt_1' }]);
});

it("if the MoR's total exceeds the known refunds, a review item opens and the missing refund event closes it", () => {
  const notified = (total: bigint | null, ...refunds: RefundRow[]) =>
    settleRefunds(withRefunds(lane(payment({ refundedTotal: total })), ...refunds), ctx());
  const gap = notified(1001n, part(1, 1000n));
  const [reported, received] = [eur(1001n), eur(1000n)];
  expect(openFacts(gap)).toEqual([{ code: 'refund-event-missing', payment: 'pay_1', reported, received }]);
  expect(openFacts(notified(1n))).toHaveLength(1);
  expect([...openFacts(notified(1000n, part(1, 1000n))), ...openFacts(notified(null))]).toEqual([]);
  const closed = settleRefunds(putRefund(gap, part(2, 1n)), ctx());
  expect(closed.reviews).toMatchObject([{ status: 'resolved', resolution: 'cleared' }]);
});

it('the open refund_gap item changes to the newest sums and keeps its id', () => {
  const of = (total: bigint | null) => payment({ refundedTotal: total });
  const gap = settleRefunds(withRefunds(lane(of(1500n)), part(1, 1000n)), ctx());
  const more = settleRefunds(withRefunds(putPayment(gap, of(2500n)), part(1, 1000n)), ctx());
  const fact = { code: 'refund-event-missing', reported: eur(2500n), received: eur(1000n) };
  expect(open(more)).toMatchObject([{ id: open(gap)[0]?.id, fact }]);
  const beyond = settleRefunds(putRefund(more, part(2, 2000n)), ctx());
  expect(open(beyond)).toMatchObject([
    { fact: { code: 'refunds-beyond-payment', payment: 'pay_1', amount: eur(2990n), refunded: eur(3000n) } },
  ]);
});

it('two refunds whose running totals cannot both be right open a review item', () => {
  const totals = (...pairs: [bigint, bigint | null][]) =>
    openFacts(settled(...pairs.map(([amount, totalAfter], n) => part(n, amount, { totalAfter }))));
  expect(totals([300n, 300n], [400n, 600n])).toEqual([{ code: 'totals-overlap', payment: 'pay_1', at: eur(600n) }]);
  expect(totals([300n, 200n])).toHaveLength(1);
  expect(totals([400n, 700n], [300n, 300n])).toEqual([]);
  expect(totals([300n, 300n], [400n, null])).toEqual([]);
});

const notified = (over: Partial<PaymentEvent> = {}): PaymentEvent =>
  aPaymentEvent({
    ...{ eventId: 'evt_r', type: 'payment.refunded', status: 'partially_refunded', amount: 1000n, at: at(7) },
    ...{ refundId: 'rfnd_1', processorRefundId: 're_1', amountRefundedTotal: 1000n, reason: 'theirs', ...over },
  });
const heard = (state: LaneState, over: Partial<PaymentEvent> = {}) =>
  asEventRule(applyRefunded)(state, notified(over), ctx());

it('a refund event creates a refund row, and the payment keeps the largest running total', () => {
  const { state, verdict: outcome } = heard(lane(payment()));
  expect(state.refunds).toMatchObject([
    {
      ...{ origin: 'event', status: 'succeeded', amount: 1000n, morRefundId: 'rfnd_1', processorRefundId: 're_1' },
      ...{ totalAfter: 1000n, succeededAt: at(7), reason: 'theirs', failure: null },
    },
  ]);
  expect(outcome).toMatchObject({ reason: '10.00 EUR was refunded, refund rfnd_1' });
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

it("a refund event before its payment leaves the payment's amount unknown and clears an earlier decline", () => {
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

it('a repeated refund event fills in unknown facts; an event with another amount or total only opens a review item', () => {
  const known = byEvent({ morRefundId: 'rfnd_1', totalAfter: null });
  const again = heard(withRefunds(lane(payment()), known));
  expect(again.state.refunds).toMatchObject([{ processorRefundId: 're_1', totalAfter: 1000n }]);
  expect(again.verdict).toMatchObject({ reason: 'this refund is already recorded' });
  const noTotal = heard(withRefunds(lane(payment()), byEvent({ morRefundId: 'rfnd_1', totalAfter: 7n })), {
    amountRefundedTotal: null,
  });
  expect([openFacts(noTotal.state), noTotal.state.refunds[0]?.totalAfter]).toEqual([[], 7n]);
  for (const over of [{ amount: 999n }, { currency: 'USD' }, { totalAfter: 7n }]) {
    const other = heard(withRefunds(lane(payment()), byEvent({ morRefundId: 'rfnd_1', ...over })));
    expect(openFacts(other.state)).toEqual([{ code: 'refund-differs', event: 'evt_r', refund: 'rfnd_1' }]);
    expect(other.state.refunds).toMatchObject([over]);
    expect(other.verdict).toMatchObject({ reason: 'differs from the record: not applied' });
  }
  const pending = byEvent({ morRefundId: 'rfnd_1', status: 'pending', amount: 999n });
  expect(heard(withRefunds(lane(payment()), pending)).state.refunds).toMatchObject([{ status: 'pending' }]);
});

it('a refund event with a known processor refund id and another MoR refund id opens a review item', () => {
  for (const status of ['succeeded', 'pending'] as const) {
    const known = byEvent({ morRefundId: 'rfnd_9', processorRefundId: 're_1', status });
    const other = heard(withRefunds(lane(payment()), known), { amountRefundedTotal: null });
    const of = { refund: 'rfnd_1', processorRefund: 're_1', other: 'rfnd_9', amount: eur(1000n) };
    expect(openFacts(other.state)).toMatchObject([{ code: 'refund-named-otherwise', event: 'evt_r', ...of }]);
    expect(other.state.refunds).toEqual([known]);
    expect(other.verdict).toMatchObject({ reason: 'differs from the record: not applied' });
  }
  const unnamed = byEvent({ morRefundId: null, processorRefundId: 're_1' });
  expect(openFacts(heard(withRefunds(lane(payment()), unnamed)).state)).toEqual([]);
});

it('a refund event belongs to the refund with its id, or to a request without an id, or to the refund with its running total, in this order', () => {
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

const take = (state: LaneState, event: PaymentEvent) => asEventRule(applyRefunded)(state, event, ctx());
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

it('if a refund event names another charge for a payment id that an operator typed, a review item opens and nothing is refunded', () => {
  const other = refund({ processorChargeId: 'ch_of_somebody_else', customerId: 'cus_2' });
  const { state } = take(lane(byHand), other);
  expect(state.refunds).toEqual([]);
  expect(state.reviews).toMatchObject([{ kind: 'conflicting_event', status: 'open', paymentRowId: 'pmt_1' }]);
  expect(state.reviews[0]?.fact).toMatchObject({
    code: 'payment-misnamed',
    by: 'ops',
    payment: 'pay_9',
    charge: 'ch_of_somebody_else',
    customer: 'cus_2',
    amount: eur(1000n),
  });
});

it.each([
  ['of the same charge', refund(), byHand],
  ['without a charge', refund({ processorChargeId: null }), byHand],
  [
    'of a payment with an unknown charge',
    refund({ processorChargeId: 'ch_2' }),
    payment({ ...byHand, processorChargeId: null }),
  ],
  ['of a payment that the MoR named', refund({ processorChargeId: 'ch_2' }), payment({ paymentId: 'pay_9' })],
  ['of another payment', refund({ processorChargeId: 'ch_2', paymentId: 'pay_8' }), byHand],
])('a refund event %s opens no review item about the payment id that an operator typed', (_, event, p) => {
  expect(open(take(lane(p), event).state)).toEqual([]);
});

const { r } = asked();

it.each<[string, Partial<RefundRow>, bigint, boolean]>([
  ['matches a waiting request', {}, 1000n, true],
  ['matches an unanswered request', { status: 'unknown' }, 1000n, true],
  ['does not match a request of another amount', {}, 1001n, false],
  ['does not match a pending refund', { status: 'pending' }, 1000n, false],
  ['does not match a refund from the MoR’s portal', { origin: 'event' }, 1000n, false],
  ['does not match a request with the MoR’s id', { morRefundId: 'rfnd_1' }, 1000n, false],
  ['does not match a request with the processor’s id', { processorRefundId: 're_1' }, 1000n, false],
])('a refund event without ids %s', (_, over, amount, may) => {
  expect(isNameless({ ...r, ...over }, amount)).toBe(may);
});

describe('a refund requested under a payment id that an operator typed', () => {
  const renamed = (state: LaneState) => decide(state, ctx(), declares(renamedRefunds));
  const byHand = payment({ paymentId: 'pay_typo', identifiedBy: 'ada' });
  const { s, r } = asked({ status: 'succeeded' }, {}, byHand);

  it('if the MoR renames a payment refunded under a typed id, a conflicting_event item names both ids and the amount', () => {
    const right = putPayment(s, payment({ paymentId: 'pay_right' }));
    const fact = { code: 'payment-renamed', from: 'pay_typo', to: 'pay_right', amount: eur(1000n) };
    expect(open(renamed(right))).toMatchObject([{ kind: 'conflicting_event', paymentRowId: 'pmt_1', fact }]);
    for (const same of [s, putPayment(s, payment({ paymentId: null })), putRefund(right, { ...r, status: 'failed' })])
      expect(open(renamed(same))).toEqual([]);
  });
});

const parked = (over: Partial<PaymentRow> = {}): LaneState => lane(payment({ mark: 'parked', ...over }));
const again = (state: LaneState) => decide(state, ctx(), reconsiderParked);
const item = (
  state: LaneState,
  over: Partial<Pick<ReviewRow, 'kind' | 'paymentRowId' | 'resolution'>> = {},
): LaneState => {
  const { resolution = 'refund', ...about } = over;
  const opened = openReview(state, ctx(), {
    paymentRowId: 'pmt_1',
    ...about,
    ...aKind(over.kind ?? 'double_payment'),
    subject: 'x',
  });
  const closed = opened.reviews.map((r) =>
    r.subject === 'x' && resolution !== null ? { ...r, status: 'resolved' as const, resolution } : r,
  );
  return { ...opened, reviews: closed };
};

it.each([
  ['the refund failed', item(withRefunds(parked(), byEvent({ status: 'failed' })))],
  ['a bank took a part', item(withRefunds(parked({ amountRefunded: 1000n }), byEvent({ counted: true })))],
])(
  'if the operator chose a refund and %s, Crossbill reads the invoice again and the payment waits for its mark',
  (_, s) => {
    expect([again(s).payments[0]?.mark, again(s).invoice?.readAt]).toEqual(['waiting', null]);
  },
);

it.each([
  ['the refund is under way', item(withRefunds(parked(), byEvent({ status: 'pending' })))],
  [
    'the payment was refunded in full',
    item(withRefunds(parked({ amountRefunded: 2990n }), byEvent({ amount: 2990n }))),
  ],
  ['the review item is still open', item(parked(), { resolution: null })],
  ['the operator dismissed the item', item(parked(), { resolution: 'dismiss' })],
  ['the item was about another payment', item(parked(), { paymentRowId: 'pmt_2' })],
  ['the item did not keep the payment from its invoice', item(parked(), { kind: 'conflicting_event' })],
  ['the payment settles its invoice', item(lane(payment()))],
  ['the invoice is unknown', { ...item(parked()), invoice: null }],
])('after a review item with the choice `refund`, the payment does not wait for its mark again if %s', (_, s) => {
  expect(again(s)).toBe(s);
});
