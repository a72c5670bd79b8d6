// The calls of a schedule of retries: the replies of the MoR and Stripe, the item about a refusal, and a person's choice.
import { describe, expect, it } from '@jest/globals';
import { type LaneState, type OutboxRow, type ReviewRow } from '../../../../src/domain/model.js';
import { emptyLane } from '../../../../src/engine/context.js';
import { followSchedule } from '../../../../src/retries/rules/retry.js';
import {
  cancelSubscriptionCall,
  markUncollectibleCall,
  retryChargeCall,
} from '../../../../src/retries/rules/retry-calls.js';
import { refusal } from '../../../support/asked-refund.js';
import { facts, NOW, open } from '../../../support/channel-lane.js';
import { withWords } from '../../../support/item-words.js';
import { never } from '../../../support/never.js';
import { at, ctx, lane, ordered } from '../../../support/refused-renewal.js';
import { DAY_MS, SCHEDULE } from '../../../support/retry-rig.js';
import { wanted } from '../../../support/settled.js';
import { decide, openReviewOf, onStates } from '../../../support/decide.js';
import { putInvoice, putMessage } from '../../../support/put-rows.js';

const call = (s: LaneState): OutboxRow => s.messages[0] ?? never();
const refused = (s: LaneState): LaneState => putMessage(s, { ...call(s), status: 'refused' });
const item = (s: LaneState): ReviewRow => open(s)[0] ?? never();
const choice = (resolution: 'retry' | 'dismiss') => ({ resolution, note: null, by: 'ada' });

const { answered, refused: refuse, resolve } = onStates(retryChargeCall);
const kind = { kind: 'retry_charge' } as const;

it('the MoR has its full time after an answered order: the order may take hours', () => {
  const s = ordered();
  expect(s.invoice?.expectedBy).toEqual(at(DAY_MS));
  expect(answered(s, call(s), kind, ctx(DAY_MS)).invoice?.expectedBy).toEqual(at(2 * DAY_MS));
  const nothing = emptyLane('in_1');
  expect(answered(nothing, call(s), kind, ctx())).toBe(nothing);
});

it('a refused order asks a person, and the schedule may go on', () => {
  const s = ordered();
  const told = refuse(s, call(s), refusal(), ctx());
  expect(withWords(item(told))).toMatchObject({
    ...{ kind: 'effect_failed', subject: 'retry_charge:in_1' },
    summary: expect.stringMatching(/^retry_charge, retry \d, was refused: 422 not_refundable no$/),
    proposal: expect.stringContaining('The MoR was not asked to charge again.'),
  });
  expect(told.invoice?.retries?.waitingSince).toBeNull();
  const nothing = emptyLane('in_1');
  expect(refuse(nothing, call(s), refusal(), ctx()).invoice).toBeNull();
  const noTrail = { ...s, invoice: s.invoice === null ? null : { ...s.invoice, retries: null } };
  expect(refuse(noTrail, call(s), refusal(), ctx()).invoice).toEqual(noTrail.invoice);
});

it("a person's retry of a refused order sends the same event and waits for its verdict", () => {
  const s = ordered();
  const stuck = refused(refuse(s, call(s), refusal(), ctx()));
  const later = ctx(DAY_MS);
  const again = resolve(stuck, item(stuck), choice('retry'), later);
  if (again?.ok !== true) throw new Error('not tried again');
  expect(again.state.messages).toEqual([{ ...call(s), status: 'pending', nextTryAt: later.now }]);
  expect(again.state.invoice?.retries?.waitingSince).toBe(later.now.toISOString());
  expect(again.state.invoice?.expectedBy).toEqual(at(2 * DAY_MS));
  const left = resolve(stuck, item(stuck), choice('dismiss'), later);
  expect(left?.ok === true ? left.state : null).toBe(stuck);
});

it("a person's retry sends only the newest refused order", () => {
  const s = ordered();
  const stuck = refused(refuse(s, call(s), refusal(), ctx()));
  const same = (lane: LaneState): boolean => {
    const done = resolve(lane, item(lane), choice('retry'), ctx());
    return done?.ok === true && done.state === lane;
  };
  expect(same(putMessage(stuck, { ...call(stuck), status: 'done' }))).toBe(true);
  expect(same(putMessage(stuck, { ...call(stuck), status: 'pending' }))).toBe(true);
  expect(same(putMessage(stuck, { ...call(stuck), subject: 'in_2' }))).toBe(true);
  expect(same(putMessage(stuck, { ...call(stuck), kind: 'relay_event' }))).toBe(true);
  const second = { ...call(stuck), id: 'out_second', generation: 2 };
  const two = resolve(putMessage(stuck, second), item(stuck), choice('retry'), ctx());
  expect(two?.ok === true ? two.state.messages.map((m) => m.status) : null).toEqual(['refused', 'pending']);
  const relayed = { ...call(stuck), id: 'out_relay', kind: 'relay_event' as const };
  const mixed = resolve(putMessage(stuck, relayed), item(stuck), choice('retry'), ctx());
  expect(mixed?.ok === true ? mixed.state.messages.map((m) => m.status) : null).toEqual(['pending', 'refused']);
});

describe.each([
  ['mark_uncollectible', 'uncollectible', 'Stripe did not mark the invoice uncollectible'],
  ['cancel_subscription', 'cancel', 'Stripe did not cancel the subscription'],
] as const)('Stripe’s answer to the end of a schedule, %s', (kind, end, words) => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end } });
  const ending = decide(lane(), of, followSchedule);
  const rule = kind === 'mark_uncollectible' ? onStates(markUncollectibleCall) : onStates(cancelSubscriptionCall);
  const stuck = (): LaneState => refused(rule.refused(ending, call(ending), refusal(), of));

  it('a refused end asks a person, and the retry has its own key', () => {
    const s = stuck();
    expect(withWords(item(s))).toMatchObject({
      ...{ kind: 'effect_failed', subject: `${kind}:in_1` },
      proposal: expect.stringContaining(words),
    });
    expect(openReviewOf(s, 'effect_failed', `${kind}:in_1`)).toBeDefined();
    const sent = (lane: LaneState, resolution: 'retry' | 'dismiss', r = item(s)): readonly string[] => {
      const done = rule.resolve(lane, r, choice(resolution), of);
      return done?.ok === true ? done.state.messages.map((m) => m.status) : [];
    };
    expect([sent(s, 'retry'), sent(s, 'dismiss')]).toEqual([['refused', 'pending'], ['refused']]);
    const again = rule.resolve(s, item(s), choice('retry'), of);
    const [first, next] = again?.ok === true ? again.state.messages : [];
    expect([next?.generation, next?.asked, next?.wire]).toEqual([2, first?.asked, first?.wire]);
    expect(next?.key).not.toBe(first?.key);
    expect(sent(s, 'retry', { ...item(s), subject: `${kind}:in_2` })).toEqual(['refused']);
    expect(sent(putMessage(s, { ...call(s), kind: 'retry_charge' }), 'retry')).toEqual(['refused']);
  });
});

it("Stripe's answer shows an uncollectible invoice, and a cancelled subscription changes no invoice", () => {
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
  const answer = { kind: 'cancel_subscription', subscriptionId: 'sub_1' } as const;
  const cancelled = onStates(cancelSubscriptionCall).answered(ending, call(ending), answer, of);
  expect(cancelled).toBe(ending);
});

const settled = (s: LaneState, of = ctx()): LaneState => decide(wanted(s, of), of, followSchedule);

it("an ordered charge of today's amount stays, after any earlier amount", () => {
  const s = ordered();
  const retries = s.invoice?.retries ?? never();
  const [first = never()] = retries.retries;
  const earlier = { ...first, number: 0, minor: '1' };
  const two = putInvoice(s, { ...(s.invoice ?? never()), retries: { ...retries, retries: [earlier, first] } });
  expect(settled(two).messages.map((m) => m.status)).toEqual(['pending']);
});

it('a due charge makes no payment link next to it, even after a fresh read', () => {
  const due = ctx(3 * DAY_MS);
  const s = lane({}, {}, { readAt: due.now });
  const next = settled(s, due);
  expect([next.objects, next.messages]).toEqual([[], []]);
});

it('a charge without a subscription may still end as uncollectible', () => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'uncollectible' } });
  const s = settled(lane({}, { subscriptionId: null }), of);
  expect(s.messages.map((m) => m.kind)).toEqual(['mark_uncollectible']);
  expect(s.invoice?.retries?.ended).toEqual({ at: NOW.toISOString(), how: 'uncollectible', why: null });
});
