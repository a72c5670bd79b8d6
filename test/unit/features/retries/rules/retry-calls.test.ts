// The calls of a schedule of retries: the replies of the MoR and Stripe, the item about a refusal, and a person's choice.
import { expect, it } from '@jest/globals';
import { type CallRow } from '../../../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { followSchedule, retryName } from '../../../../../src/features/retries/rules/retry.js';
import {
  cancelSubscriptionCall,
  markUncollectibleCall,
  retryChargeCall,
} from '../../../../../src/features/retries/rules/retry-calls.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { facts, NOW, open } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { at, ctx, lane, ordered } from '../../../../support/builders/refused-renewal.js';
import {
  after,
  DAY_MS,
  days,
  declined,
  HOUR_MS,
  refused,
  relayed,
  type Rig,
  rig,
  SCHEDULE,
  state,
} from '../../../../support/rigs/retry-rig.js';
import { wanted } from '../../../../support/builders/settled.js';
import { decide, onStates, openReviewOf } from '../../../../support/rigs/decide.js';
import { putInvoice, putCall } from '../../../../support/builders/put-rows.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  aRequiredAction,
  INVOICE_ID,
  invoiceEvent,
} from '../../../../support/builders/events.js';
import { failed } from '../../../../support/fakes/fake-platform.js';
import { openKinds } from '../../../../support/rigs/lane-harness.js';
import { compareWithin } from '../../../../../src/features/verify/rules/compare.js';

const call = (state: LaneState): CallRow => state.calls[0] ?? never();
const refusedCall = (state: LaneState): LaneState => putCall(state, { ...call(state), status: 'refused' });
const item = (state: LaneState): ReviewRow => open(state)[0] ?? never();
const choice = (resolution: 'retry' | 'dismiss') => ({ resolution, note: null, by: 'ada' });

const { answered, refused: refuse, resolve } = onStates(retryChargeCall);
const kind = { kind: 'retry_charge' } as const;

it("the MoR's time for a verdict starts again when the relay delivers the retry", () => {
  const s = ordered();
  expect(s.invoice?.expectedBy).toEqual(at(DAY_MS));
  expect(answered(s, call(s), kind, ctx(DAY_MS)).invoice?.expectedBy).toEqual(at(2 * DAY_MS));
  const nothing = emptyLane('in_1');
  expect(answered(nothing, call(s), kind, ctx())).toBe(nothing);
});

it('if the MoR refuses the event of a retry, a review item opens and the retry schedule can go on', () => {
  const s = ordered();
  const notified = refuse(s, call(s), refusal(), ctx());
  expect(item(notified)).toMatchObject({
    ...{ kind: 'effect_failed', subject: 'retry_charge:in_1' },
    fact: {
      code: 'retry-refused',
      call: 'retry_charge',
      status: 422,
      error: 'not_refundable',
      said: '422 not_refundable no',
    },
  });
  expect(notified.invoice?.retries?.waitingSince).toBeNull();
  const nothing = emptyLane('in_1');
  expect(refuse(nothing, call(s), refusal(), ctx()).invoice).toBeNull();
  const noHistory = { ...s, invoice: s.invoice === null ? null : { ...s.invoice, retries: null } };
  expect(refuse(noHistory, call(s), refusal(), ctx()).invoice).toEqual(noHistory.invoice);
});

it("if the MoR refused the event of a retry, the operator's choice `retry` sends the same event, and Crossbill awaits its verdict", () => {
  const s = ordered();
  const stuck = refusedCall(refuse(s, call(s), refusal(), ctx()));
  const later = ctx(DAY_MS);
  const again = resolve(stuck, item(stuck), choice('retry'), later);
  if (again?.ok !== true) throw new Error('not tried again');
  expect(again.state.calls).toEqual([{ ...call(s), status: 'pending', nextTryAt: later.now }]);
  expect(again.state.invoice?.retries?.waitingSince).toBe(later.now.toISOString());
  expect(again.state.invoice?.expectedBy).toEqual(at(2 * DAY_MS));
  const left = resolve(stuck, item(stuck), choice('dismiss'), later);
  expect(left?.ok === true ? left.state : null).toBe(stuck);
});

it("the operator's choice `retry` sends only the newest retry of the invoice again, and only if the MoR refused this retry", () => {
  const s = ordered();
  const stuck = refusedCall(refuse(s, call(s), refusal(), ctx()));
  const same = (lane: LaneState): boolean => {
    const done = resolve(lane, item(lane), choice('retry'), ctx());
    return done?.ok === true && done.state === lane;
  };
  expect(same(putCall(stuck, { ...call(stuck), status: 'done' }))).toBe(true);
  expect(same(putCall(stuck, { ...call(stuck), status: 'pending' }))).toBe(true);
  expect(same(putCall(stuck, { ...call(stuck), subject: 'in_2' }))).toBe(true);
  expect(same(putCall(stuck, { ...call(stuck), kind: 'relay_event' }))).toBe(true);
  const second = { ...call(stuck), id: 'out_second', generation: 2 };
  const two = resolve(putCall(stuck, second), item(stuck), choice('retry'), ctx());
  expect(two?.ok === true ? two.state.calls.map((m) => m.status) : null).toEqual(['refused', 'pending']);
  const relayed = { ...call(stuck), id: 'out_relay', kind: 'relay_event' as const };
  const mixed = resolve(putCall(stuck, relayed), item(stuck), choice('retry'), ctx());
  expect(mixed?.ok === true ? mixed.state.calls.map((m) => m.status) : null).toEqual(['pending', 'refused']);
});

it.each([
  ['mark_uncollectible', 'uncollectible'],
  ['cancel_subscription', 'cancel'],
] as const)("if Stripe refuses the call %s, an item opens and the operator's retry has its own key", (kind, end) => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end } });
  const ending = decide(lane(), of, followSchedule);
  const rule = kind === 'mark_uncollectible' ? onStates(markUncollectibleCall) : onStates(cancelSubscriptionCall);
  const stuck = (): LaneState => refusedCall(rule.refused(ending, call(ending), refusal(), of));

  const s = stuck();
  expect(item(s)).toMatchObject({ kind: 'effect_failed', subject: `${kind}:in_1`, fact: { call: kind } });
  expect(openReviewOf(s, 'effect_failed', `${kind}:in_1`)).toBeDefined();
  const sent = (lane: LaneState, resolution: 'retry' | 'dismiss', values = item(s)): readonly string[] => {
    const done = rule.resolve(lane, values, choice(resolution), of);
    return done?.ok === true ? done.state.calls.map((m) => m.status) : [];
  };
  expect([sent(s, 'retry'), sent(s, 'dismiss')]).toEqual([['refused', 'pending'], ['refused']]);
  const again = rule.resolve(s, item(s), choice('retry'), of);
  const [first, next] = again?.ok === true ? again.state.calls : [];
  expect([next?.generation, next?.asked, next?.wire]).toEqual([2, first?.asked, first?.wire]);
  expect(next?.key).not.toBe(first?.key);
  expect(sent(s, 'retry', { ...item(s), subject: `${kind}:in_2` })).toEqual(['refused']);
  expect(sent(putCall(s, { ...call(s), kind: 'retry_charge' }), 'retry')).toEqual(['refused']);
});

it("the invoice becomes uncollectible after Stripe's answer; the answer to a cancellation of the subscription changes no invoice", () => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'uncollectible' } });
  const ending = decide(lane(), of, followSchedule);
  const invoice = facts({ status: 'uncollectible' });
  const marked = onStates(markUncollectibleCall).answered(
    ending,
    call(ending),
    { kind: 'mark_uncollectible', invoice },
    of,
  );
  expect(marked.invoice?.platformStatus).toBe('uncollectible');
  const reply = { kind: 'cancel_subscription', subscriptionId: 'sub_1' } as const;
  const cancelled = onStates(cancelSubscriptionCall).answered(ending, call(ending), reply, of);
  expect(cancelled).toBe(ending);
});

const settled = (state: LaneState, of = ctx()): LaneState => decide(wanted(state, of), of, followSchedule);

it('a pending retry of the amount due now is not withdrawn, even if an earlier retry had another amount', () => {
  const s = ordered();
  const retries = s.invoice?.retries ?? never();
  const [first = never()] = retries.retries;
  const earlier = { ...first, number: 0, minor: '1' };
  const two = putInvoice(s, { ...(s.invoice ?? never()), retries: { ...retries, retries: [earlier, first] } });
  expect(settled(two).calls.map((m) => m.status)).toEqual(['pending']);
});

it('Crossbill makes no payment link while a charge is due', () => {
  const due = ctx(3 * DAY_MS);
  const s = lane({}, {}, { readAt: due.now });
  const next = settled(s, due);
  expect([next.objects, next.calls]).toEqual([[], []]);
});

it('the retry schedule can mark an invoice without a subscription uncollectible at its end', () => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'uncollectible' } });
  const s = settled(lane({}, { subscriptionId: null }), of);
  expect(s.calls.map((m) => m.kind)).toEqual(['mark_uncollectible']);
  expect(s.invoice?.retries?.ended).toEqual({ at: NOW.toISOString(), how: 'uncollectible', why: null });
});

it('three days after a soft decline the MoR gets a new invoice.created event, and its payment marks the invoice paid', async () => {
  const r = rig();
  await refused(r);
  expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 3 * DAY_MS));
  await after(r, 3 * DAY_MS - 1);
  expect(relayed(r)).toEqual([]);
  await after(r, 1);
  expect(relayed(r)).toMatchObject([
    {
      id: retryName('evt_crossbill', INVOICE_ID, 1),
      type: 'invoice.created',
      data: { object: { id: INVOICE_ID } },
    },
  ]);
  await r.h.take(aPaymentSucceeded({ paymentId: 'pay_won', at: r.h.clock.now() }));
  await r.h.idle(24 * 40);
  const s = await state(r);
  expect([s.invoice?.status, s.invoice?.nextTryAt, openKinds(s)]).toEqual(['paid', null, []]);
  expect(relayed(r)).toHaveLength(1);
  expect(r.h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

it('a soft decline leads to at most three charges after 3, 5 and 7 days, and then the invoice stays open', async () => {
  const r = rig();
  await refused(r);
  for (const wait of [3, 5, 7]) {
    await after(r, wait * DAY_MS - 1);
    const before = relayed(r).length;
    await after(r, 1);
    expect(relayed(r)).toHaveLength(before + 1);
    await r.h.take(declined(r));
  }
  await r.h.idle(24 * 60);
  const s = await state(r);
  expect(new Set(relayed(r).map((e) => e.id)).size).toBe(3);
  expect(relayed(r)).toHaveLength(3);
  expect(s.invoice?.retries?.ended).toMatchObject({ how: 'nothing', why: null });
  expect([s.invoice?.status, s.invoice?.nextTryAt, openKinds(s)]).toEqual(['open', null, []]);
  expect(r.h.platform.effects).toEqual({});
});

it.each([
  ['uncollectible', { mark_uncollectible: 1 }],
  ['cancel', { cancel_subscription: 1 }],
] as const)(
  'after the last try of a schedule with end=%s, Crossbill reads the invoice and then calls Stripe once',
  async (how, effects) => {
    const r = rig({ retrySchedule: { ...SCHEDULE, soft: days(3), end: how } });
    await refused(r);
    await after(r, 3 * DAY_MS);
    r.h.clock.advance(60_000);
    await r.h.take(declined(r));
    await r.h.idle(24 * 30);
    expect(r.h.platform.effects).toEqual(effects);
    expect((await state(r)).invoice?.retries?.ended?.how).toBe(how);
    const asked = r.h.platform.asked;
    const [call] = asked.filter((a) => a.startsWith('mark_uncollectible') || a.startsWith('cancel_subscription'));
    expect(call).toContain(`crossbill:${Object.keys(effects)[0] ?? ''}:${INVOICE_ID}:1`);
    expect(asked[asked.indexOf(call ?? '') - 1]).toBe(`read ${INVOICE_ID}`);
  },
);

it('if the invoice is paid another way, Crossbill neither requests a charge nor ends the subscription', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, end: 'cancel' } });
  await refused(r);
  r.h.platform.payAnotherWay(INVOICE_ID);
  await r.h.idle(24 * 60);
  expect(relayed(r)).toEqual([]);
  expect(r.h.platform.effects).toEqual({});
  const ended = rig({ retrySchedule: { ...SCHEDULE, soft: [], end: 'cancel' } });
  ended.h.platform.put(anInvoice({ status: 'draft', finalizesAt: null }));
  await ended.h.take(invoiceEvent('invoice.created'), declined(ended));
  ended.h.platform.change(INVOICE_ID, { status: 'open' });
  ended.h.platform.payAnotherWay(INVOICE_ID);
  await ended.h.idle(24 * 60);
  expect(ended.h.platform.effects).toEqual({});
});

/** A retry is due, and the relay does not answer yet. */
async function unsent(): Promise<Rig> {
  const r = rig();
  await refused(r);
  const send = r.h.relay.send.bind(r.h.relay);
  r.h.relay.send = () => Promise.resolve(failed('retry'));
  await after(r, 3 * DAY_MS);
  r.h.relay.send = send;
  return r;
}

it('a payment of another amount withdraws a waiting retry and opens an amount_mismatch item', async () => {
  const r = await unsent();
  await r.h.take(aPaymentSucceeded({ paymentId: 'pay_part', amount: 700, at: r.h.clock.now() }));
  await r.h.idle(24 * 30);
  const s = await state(r);
  expect([s.invoice?.status, openKinds(s), relayed(r)]).toEqual(['review', ['amount_mismatch'], []]);
  expect(s.calls.find((m) => m.kind === 'retry_charge')?.status).toBe('cancelled');
  expect(s.journal.some((line) => line.text.startsWith('retry_charge taken back: payment pay_part came'))).toBe(true);
});

it('a refund withdraws a waiting retry, and `crossbill verify` reports the refund', async () => {
  const r = await unsent();
  await r.h.take(aRefund({ paymentId: 'pay_taken', amount: 1000, total: 1000, at: r.h.clock.now() }));
  await r.h.idle(24 * 30);
  expect(relayed(r)).toEqual([]);
  const s = await state(r);
  expect(s.calls.map((m) => [m.kind, m.status])).toEqual([['retry_charge', 'cancelled']]);
  // While the success does not come, verify names the refund.
  const ours = { ...s, invoice: s.invoice ?? never(), openReviews: [], sameCharge: [] };
  expect(compareWithin(ours, r.h.clock.now()).map((d) => [d.kind, d.detail])).toContainEqual([
    'refund_not_mirrored',
    'The MoR refunded 10.00 EUR. Stripe does not show the refund (mirror: none).',
  ]);
});

it('if the MoR is silent after a retry, a renewal_overdue item opens and Crossbill sends no other charge', async () => {
  const r = rig();
  await refused(r);
  await after(r, 3 * DAY_MS);
  const sent = r.h.clock.now();
  expect((await state(r)).invoice?.expectedBy).toEqual(new Date(sent.getTime() + DAY_MS));
  await r.h.idle(24 * 40);
  expect(openKinds(await state(r))).toEqual(['renewal_overdue']);
  expect(relayed(r)).toHaveLength(1);
  await r.h.take(declined(r));
  const s = await state(r);
  expect(openKinds(s)).toEqual([]);
  expect(s.invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 5 * DAY_MS));
});

it('a late failure of the first payment is no verdict on a retry while the second payment is processing', async () => {
  for (const declineCode of ['payment_intent_payment_attempt_expired', 'lost_card', 'mandate_required']) {
    const r = rig({ retrySchedule: { ...SCHEDULE, authentication: days(3), end: 'cancel' } });
    const first = { paymentId: 'pay_1', intentId: 'pi_1' };
    await r.h.take(invoiceEvent('invoice.finalized'), aRequiredAction({ ...first, at: r.h.clock.now() }));
    await after(r, 3 * DAY_MS);
    expect(relayed(r)).toHaveLength(1); // the MoR debits again: pay_2 is processing for days
    await after(r, HOUR_MS);
    await r.h.take(aPaymentFailed({ ...first, eventId: 'evt_gone', declineCode, at: r.h.clock.now() }));
    await after(r, 6 * DAY_MS);
    expect([relayed(r).length, r.links.asked.length, r.h.platform.effects]).toEqual([1, 0, {}]);
    await r.h.take(aPaymentSucceeded({ paymentId: 'pay_2', chargeId: 'py_2', intentId: 'pi_2', at: r.h.clock.now() }));
    await r.h.idle(24 * 40);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s), relayed(r).length]).toEqual(['paid', [], 1]);
  }
});

it('a required action and then a decline of the same payment both count as the verdict on the retry', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, hard: [], end: 'uncollectible' } });
  await refused(r);
  await after(r, 3 * DAY_MS);
  const own = { paymentId: 'pay_again', intentId: 'pi_again' };
  await after(r, HOUR_MS);
  await r.h.take(aRequiredAction({ ...own, at: r.h.clock.now() }));
  await after(r, HOUR_MS);
  await r.h.take(aPaymentFailed({ ...own, eventId: 'evt_more', declineCode: 'stolen_card', at: r.h.clock.now() }));
  expect((await state(r)).invoice?.retries).toMatchObject({ refusal: { kind: 'hard' }, waitingSince: null });
});

it("Stripe's request for another attempt brings one step of the schedule forward", async () => {
  const r = rig();
  await refused(r);
  await r.h.take(invoiceEvent('invoice.payment_attempt_required', { eventId: 'evt_at_once' }));
  await after(r, HOUR_MS);
  expect(relayed(r)).toEqual([]); // it speaks of the charge that was just refused
  await after(r, DAY_MS);
  await r.h.take(invoiceEvent('invoice.payment_attempt_required', { eventId: 'evt_day', at: r.h.clock.now() }));
  expect(relayed(r)).toHaveLength(1);
  await after(r, 2 * HOUR_MS);
  await r.h.take(declined(r));
  expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 5 * DAY_MS));
});

it('without a relay each step of a retry schedule makes a payment link, and the next step waits until the link expires', async () => {
  const r = rig({ relay: null, retrySchedule: { ...SCHEDULE, soft: days(3, 5) } });
  await refused(r);
  await r.h.idle(24 * 90);
  expect(r.links.asked).toHaveLength(2);
  const [one, two] = (await state(r)).objects;
  expect(two?.createdAt.getTime()).toBeGreaterThanOrEqual((one?.deadline?.getTime() ?? 0) + 5 * DAY_MS);
  expect((await state(r)).invoice?.retries?.ended?.how).toBe('nothing');
});

it('a hard decline leads to a payment link and no charge, and the paid link marks the invoice paid', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, end: 'uncollectible' } });
  await refused(r, 'stolen_card');
  await r.h.drain();
  expect(r.links.asked).toMatchObject([{ jurisdiction: 'GB' }]);
  r.links.pay('link_1');
  await r.h.idle(24 * 40);
  expect((await state(r)).invoice?.status).toBe('paid');
  expect(relayed(r)).toEqual([]);
  expect(r.h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

it('an unpaid payment link ends the schedule when the link expires', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, end: 'uncollectible' } });
  await refused(r, 'stolen_card');
  await after(r, 6 * DAY_MS);
  expect(r.h.platform.effects).toEqual({});
  await r.h.idle(24 * 30);
  expect(r.h.platform.effects).toEqual({ mark_uncollectible: 1 });
  expect(r.links.asked).toHaveLength(1);
});

it.each([
  ['FR', [], ['FR']],
  [null, [], ['GB']],
  ['AQ', ['AQ'], ['AQ', 'GB']],
])(
  'the payment link of a customer in %s uses their country, or the country of the settings if the MoR does not collect there',
  async (country, not, asked) => {
    for (const retrySchedule of [SCHEDULE, null]) {
      const r = rig({ retrySchedule });
      not.forEach((c) => r.links.notServed.add(c));
      r.h.platform.put(anInvoice({ customerCountry: country }));
      await refused(r, 'stolen_card');
      await r.h.idle(1);
      expect(r.links.asked.map((a) => a.jurisdiction)).toEqual(asked);
      expect(new Set(r.links.asked.map((a) => a.key)).size).toBe(asked.length);
      expect(openKinds(await state(r))).toEqual([]);
    }
  },
);

it("Crossbill opens a review item if the MoR collects neither in the customer's country nor in the country from the settings", async () => {
  const r = rig();
  r.links.notServed.add('AQ').add('GB');
  r.h.platform.put(anInvoice({ customerCountry: 'AQ' }));
  await refused(r, 'stolen_card');
  await r.h.idle(24 * 30);
  expect(r.links.asked.map((a) => a.jurisdiction)).toEqual(['AQ', 'GB']);
  expect(openKinds(await state(r))).toEqual(['effect_failed']);
});
