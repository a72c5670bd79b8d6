// What follows a refused renewal, decided on plain values: the next step and its time, what stands in its way, and what is taken back.
import { FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { emptyLane, openReview, putObject, putPayment, putRefund } from '../../src/engine/change.js';
import { takeRead } from '../../src/engine/facts.js';
import { type LaneState } from '../../src/domain/model.js';
import { newRefund } from '../../src/refunds/rules/refund-names.js';
import { meansNow, nextOf, obstacle } from '../../src/retries/rules/next-try.js';
import { facts, NOW } from '../support/channel-lane.js';
import { DAY_MS, HOUR_MS, SCHEDULE } from '../support/retry-rig.js';
import { announced } from '../support/channel-object.js';
import { at, ctx, hard, lane, object, ordered, payment, retried, TRAIL } from '../support/refused-renewal.js';

describe('the next step', () => {
  it('of each kind of refusal is the schedule’s own, counted from when the refusal arrived', () => {
    expect(nextOf(lane(), ctx())).toEqual({ do: 'retry', means: 'charge', at: at(3 * DAY_MS) });
    expect(nextOf(lane({ refusal: hard }), ctx())).toEqual({ do: 'retry', means: 'link', at: NOW });
    const confirm = { ...TRAIL.refusal, kind: 'authentication' } as const;
    expect(nextOf(lane({ refusal: confirm }), ctx())).toEqual({ do: 'retry', means: 'link', at: NOW });
  });

  it('counts from the last charge that was ordered, and the steps of its own kind that were carried out', () => {
    const once = lane({ retries: [retried()] });
    expect(nextOf(once, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(8 * DAY_MS) });
    const withdrawn = lane({ retries: [retried({ withdrawn: true })] });
    expect(nextOf(withdrawn, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(3 * DAY_MS) });
    const ofAnotherKind = lane({ retries: [retried({ kind: 'hard' })] });
    expect(nextOf(ofAnotherKind, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(6 * DAY_MS) });
    const heardLater = { ...TRAIL.refusal, heardAt: at(4 * DAY_MS).toISOString() };
    expect(nextOf(lane({ retries: [retried()], refusal: heardLater }), ctx())).toMatchObject({ at: at(9 * DAY_MS) });
  });

  it('waits for the end of a link; one that was replaced or refused counts for nothing', () => {
    const link = (over: object) =>
      putObject(lane({ retries: [retried({ means: 'link', ref: 'lnk_1' })] }), object('payment_link', over));
    const ended = { status: 'EXPIRED', deadline: at(7 * DAY_MS) };
    expect(nextOf(link(ended), ctx(8 * DAY_MS))).toEqual({ do: 'retry', means: 'charge', at: at(12 * DAY_MS) });
    expect(nextOf(link({ ...ended, deadline: null, updatedAt: at(DAY_MS) }), ctx())).toMatchObject({
      at: at(6 * DAY_MS),
    });
    expect(nextOf(link({ ...ended, status: 'REPLACED' }), ctx())).toMatchObject({ at: at(3 * DAY_MS) });
    expect(nextOf(link({ ...ended, status: 'REFUSED' }), ctx())).toMatchObject({ at: at(5 * DAY_MS) });
    expect(nextOf(link({ ...ended, readDueAt: at(8 * DAY_MS) }), ctx(8 * DAY_MS))).toEqual({ do: 'rest' });
    expect(nextOf(link({ ...ended, kind: 'dispute', readDueAt: NOW }), ctx()).do).toBe('retry');
  });

  it('counts neither what became of another link or a transfer, nor an item that a person has closed', () => {
    const tried = lane({ retries: [retried()] });
    const replaced = object('payment_link', { id: 'lnk_9', status: 'REPLACED', deadline: at(9 * DAY_MS) });
    expect(nextOf(putObject(tried, replaced), ctx())).toMatchObject({ at: at(8 * DAY_MS) });
    const transfer = object('proforma', { status: 'CANCELLED', deadline: at(9 * DAY_MS), updatedAt: at(9 * DAY_MS) });
    expect(nextOf(putObject(tried, transfer), ctx())).toMatchObject({ at: at(8 * DAY_MS) });
    const item = { kind: 'amount_mismatch', subject: 'x', fact: FACTS.amount_mismatch } as const;
    const asked = openReview(lane(), ctx(), item);
    const closed: LaneState = { ...asked, reviews: asked.reviews.map((r) => ({ ...r, status: 'resolved' })) };
    expect(nextOf(closed, ctx())).toMatchObject({ do: 'retry', means: 'charge' });
  });

  it('comes earlier when Stripe asks for another attempt, from half a day after the last thing on', () => {
    const asked = (ms: number) => nextOf(lane({ askedAt: at(ms).toISOString() }), ctx());
    expect(asked(12 * HOUR_MS)).toMatchObject({ at: at(12 * HOUR_MS) });
    expect(asked(12 * HOUR_MS - 1)).toMatchObject({ at: at(3 * DAY_MS) });
    expect(asked(4 * DAY_MS)).toMatchObject({ at: at(3 * DAY_MS) });
  });

  it('after the last one is the end that the schedule names', () => {
    const all = { retries: [1, 2, 3].map((number) => retried({ number })) };
    expect(nextOf(lane(all), ctx())).toEqual({ do: 'end', how: 'nothing', at: at(3 * DAY_MS) });
    const cancel = ctx(0, { retrySchedule: { ...SCHEDULE, end: 'cancel' } });
    expect(nextOf(lane(all), cancel)).toMatchObject({ do: 'end', how: 'cancel' });
    const noWay = ctx(0, { relay: false, recoveryLinks: null });
    expect(nextOf(lane(), noWay)).toEqual({ do: 'rest' }); // a person is told why when they ask
  });

  it('that needs a final invoice waits for the draft’s end and a minute', () => {
    const draft = lane({ refusal: hard }, { status: 'draft', finalizesAt: at(HOUR_MS) });
    expect(nextOf(draft, ctx())).toMatchObject({ means: 'link', at: at(HOUR_MS + 60_000) });
    const charge = lane({}, { status: 'draft', finalizesAt: at(9 * DAY_MS) });
    expect(nextOf(charge, ctx())).toMatchObject({ means: 'charge', at: at(3 * DAY_MS) });
    const soon = lane(
      { retries: [1, 2, 3].map((number) => retried({ number })) },
      { status: 'draft', finalizesAt: at(HOUR_MS) },
    );
    expect(nextOf(soon, ctx())).toMatchObject({ do: 'end', at: at(3 * DAY_MS) });
  });

  it.each([
    ['there is no schedule', lane(), { retrySchedule: null }],
    ['nothing is sent in shadow mode', lane(), { shadow: true }],
    ['nothing was refused', takeRead(emptyLane('in_1'), ctx(), facts()), {}],
    ['nothing is known of the invoice', emptyLane('in_1'), {}],
    ['the schedule is over', lane({ ended: { at: NOW.toISOString(), how: 'nothing', why: null } }), {}],
    ['the MoR has not answered the last try', lane({ waitingSince: NOW.toISOString() }), {}],
    [
      'a person is asked',
      openReview(lane(), ctx(), { kind: 'amount_mismatch', subject: 'x', fact: FACTS.amount_mismatch }),
      {},
    ],
    ['it is paid', lane({}, { status: 'paid' }), {}],
  ])('is none while %s', (_, s, over) => {
    expect(nextOf(s, ctx(0, over))).toEqual({ do: 'rest' });
  });
});
describe('what stands in the way of another try', () => {
  const why = (s: LaneState, of = ctx()): string | null => obstacle(s, of);

  it('is nothing for a renewal that was refused', () => {
    expect(why(lane())).toBeNull();
    expect(why(putPayment(lane(), payment({ mark: 'none' })))).toBeNull();
    const sent = ordered();
    const answered = sent.messages.map((m) => ({ ...m, status: 'done' as const }));
    expect(why({ ...lane(), messages: answered })).toBeNull();
    expect(why({ ...lane(), messages: sent.messages.map((m) => ({ ...m, kind: 'relay_event' as const })) })).toBeNull();
  });

  it.each([
    ['the invoice is paid.', () => lane({}, { status: 'paid' })],
    ['the invoice is void.', () => lane({}, { status: 'void' })],
    ['the invoice is deleted.', () => takeRead(lane(), ctx(), null)],
    ['the invoice is marked uncollectible on Stripe.', () => lane({}, { status: 'uncollectible' })],
    ['it is the first invoice of a subscription', () => lane({}, { billingReason: 'subscription_create' })],
    ['payment pay_1 has not failed: whether its money came', () => putPayment(lane(), payment({ mark: 'proving' }))],
    ['payment pmt_1 has not failed', () => putPayment(lane(), payment({ mark: 'proving', paymentId: null }))],
    [
      'money was taken for it already (payment pay_1).',
      () => putPayment(lane(), payment({ mark: 'parked', succeededAt: NOW })),
    ],
    ['money was given back for it', () => putRefund(lane(), newRefund(ctx(), payment(), 1n, null, 'event'))],
    ['no charge of it has failed', () => takeRead(emptyLane('in_1'), ctx(), facts())],
    ['no charge of it has failed', () => emptyLane('in_1')],
    ['nothing is due on it.', () => lane({}, { amountRemaining: 0n })],
    ['nothing is due on it.', () => lane({}, { amountRemaining: -1n })],
    ['retry 1 is on its way to the MoR.', () => ordered()],
    ['a payment link can be paid until later', () => putObject(lane(), object('payment_link'))],
    [
      'a payment link can be paid until 2026-11-21',
      () => putObject(lane(), object('payment_link', { deadline: at(DAY_MS) })),
    ],
    [
      'a payment on payment link lnk_1 was announced, and is not confirmed yet.',
      () => putObject(lane(), object('payment_link', { status: 'EXPIRED', detail: { observed: [announced()] } })),
    ],
    ['a proforma invoice for it stands', () => putObject(lane(), object('proforma', { status: 'ISSUED' }))],
  ])('%s', (words, s) => {
    expect(why(s())).toContain(words);
  });

  it('is the answer that the MoR still owes, until it should have come', () => {
    const waits = lane({ waitingSince: NOW.toISOString() }, {}, { expectedBy: at(DAY_MS) });
    expect(why(waits)).toContain('its answer has been awaited since 2026-11-20');
    expect(why(waits, ctx(DAY_MS))).toBeNull();
    expect(why(lane({ waitingSince: NOW.toISOString() }))).toBeNull();
    expect(why(lane({}, {}, { expectedBy: at(DAY_MS) }))).toBeNull();
  });

  it('is that no way is set up, or that the MoR charges whole invoices', () => {
    const bare = { relay: false, recoveryLinks: null };
    expect(why(lane(), ctx(0, bare))).toContain('no way is set up: MOR_RELAY_URL');
    const part = lane({}, { amountRemaining: 1n });
    expect(why(part, ctx(0, { recoveryLinks: null }))).toContain(
      'a part of it is paid, and the MoR charges whole invoices',
    );
    expect(why(part)).toBeNull(); // by a link
  });
});
describe('the means of a try', () => {
  it('is the schedule’s, or the other one where that is not there', () => {
    const charge = ctx(0, { recoveryLinks: null });
    const link = ctx(0, { relay: false });
    expect([meansNow(lane(), ctx()), meansNow(lane(), link)]).toEqual(['charge', 'link']);
    expect([meansNow(lane({ refusal: hard }), ctx()), meansNow(lane({ refusal: hard }), charge)]).toEqual([
      'link',
      'charge',
    ]);
    expect(meansNow(lane(), ctx(0, { relay: false, recoveryLinks: null }))).toBeNull();
    expect(meansNow(lane({}, { amountRemaining: 1n }), ctx())).toBe('link');
    expect(meansNow(lane({}, {}, { amountRemaining: null }), ctx())).toBe('charge');
    expect(meansNow(emptyLane('in_1'), ctx())).toBeNull();
  });

  it('without a schedule is a charge after a soft refusal, and a link after another', () => {
    const none = ctx(0, { retrySchedule: null });
    expect([meansNow(lane(), none), meansNow(lane({ refusal: hard }), none)]).toEqual(['charge', 'link']);
    const used = lane({ refusal: hard, retries: [retried({ kind: 'hard', means: 'link' })] });
    expect(meansNow(used, ctx())).toBe('link');
  });
});
