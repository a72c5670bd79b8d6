// A try of a failed renewal, the schedule at rest, and what is remembered of a refusal.
import { describe, expect, it } from '@jest/globals';
import { emptyLane, putMessage, putObject, putPayment } from '../../src/engine/change.js';
import { takeLateRead, takeRead } from '../../src/engine/facts.js';
import { type LaneState } from '../../src/domain/model.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { makeRetry } from '../../src/retries/rules/make-retry.js';
import { requestRetry, retryMade } from '../../src/retries/rules/request-retry.js';
import { orderIfWanted, retryErrand, settleRetries } from '../../src/retries/rules/settle-retries.js';
import { takeAttemptAsked, takeRefusal } from '../../src/retries/rules/take-refusal.js';
import { awaitsRetry } from '../../src/engine/payment.js';
import { putRetry, putTrail, verdictDueBy } from '../../src/retries/rules/trail.js';
import { aPaymentEvent, facts, NOW } from '../support/channel-lane.js';
import { DAY_MS, HOUR_MS, SCHEDULE } from '../support/retry-rig.js';
import { never } from '../support/never.js';
import { at, ctx, hard, lane, object, ordered, payment, retried, shown, TRAIL } from '../support/refused-renewal.js';
import { wanted } from '../support/settled.js';

describe('a try', () => {
  it('is written down with its number, its amount and its event before anything is sent', () => {
    const s = ordered();
    expect(s.invoice?.retries).toMatchObject({ waitingSince: NOW.toISOString(), askedAt: null });
    expect(s.invoice?.retries?.retries).toMatchObject([
      { number: 1, at: NOW.toISOString(), kind: 'soft', means: 'charge', by: null, minor: '2990', withdrawn: false },
    ]);
    expect(s.invoice?.expectedBy).toEqual(at(DAY_MS));
    const [m] = s.messages;
    const ref = s.invoice?.retries?.retries[0]?.ref;
    expect(m).toMatchObject({ kind: 'retry_charge', peer: 'relay', subject: 'in_1', generation: 1, key: ref });
    expect(JSON.parse(String(m?.wire.body))).toEqual({
      ...{
        id: ref,
        object: 'event',
        api_version: '2026-10-28',
        created: NOW.getTime() / 1000,
        data: { object: { id: 'in_1' } },
      },
      ...{
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type: 'invoice.created',
      },
    });
    expect(s.journal.at(-1)).toMatchObject({
      kind: 'decision',
      text: 'retry 1, by the schedule: the MoR is asked to charge 29.90 EUR again',
    });
  });

  it('of a person is told under their name; a link is a try as well', () => {
    const s = makeRetry(lane({ retries: [retried()] }), { means: 'link' }, { by: 'ops' }, ctx());
    expect(s.objects).toMatchObject([{ kind: 'payment_link', status: 'REQUESTED', amount: 2990n }]);
    expect(s.invoice?.retries?.retries.map((r) => [r.number, r.means, r.ref === s.objects[0]?.id])).toEqual([
      [1, 'charge', false],
      [2, 'link', true],
    ]);
    expect(s.invoice?.retries?.waitingSince).toBeNull();
    expect([s.objects[0]?.id, ordered().messages[0]?.key]).toEqual([
      expect.stringMatching(/^lnk_/),
      expect.stringMatching(/^evt_crossbill_/),
    ]);
    expect(s.journal.at(-1)).toMatchObject({
      kind: 'person',
      text: 'retry 2, ops asked for it: a payment link of 29.90 EUR is made',
    });
  });

  it('of which nothing is due, or of what was not refused, is none', () => {
    const charge = { means: 'charge', shown: shown() } as const;
    for (const s of [lane({}, { amountRemaining: 0n }), lane({}, {}, { amountRemaining: null }), emptyLane('in_1')]) {
      expect(makeRetry(s, charge, null, ctx())).toBe(s);
    }
    const noLinks = lane();
    expect(makeRetry(noLinks, { means: 'link' }, null, ctx(0, { recoveryLinks: null }))).toBe(noLinks);
  });

  it('is found again by its number', () => {
    expect(retryMade(lane({ retries: [retried()] }), '1')).toMatchObject({ id: '1', ref: 'evt_r1' });
    expect(retryMade(lane({ retries: [retried()] }), '2')).toBeUndefined();
    expect(retryMade(emptyLane('in_1'), '1')).toBeUndefined();
  });

  it('that a person asks for is decided on what Stripe shows now, unless something newer is known', () => {
    const ask = (s: LaneState, askedAt: Date, over: Partial<InvoiceFacts> = {}, of = ctx()) =>
      requestRetry(s, { shown: shown({ invoice: facts(over) }), askedAt, by: 'ops' }, of);
    expect(ask(lane(), NOW, { status: 'paid' })).toMatchObject({
      ok: false,
      message: 'It cannot be tried again: the invoice is paid.',
    });
    expect(ask(lane(), at(-1))).toMatchObject({ ok: true, value: { number: 1, by: 'ops' } });
    const dueOf = (askedAt: Date) => takeLateRead(lane(), ctx(), facts({ amountDue: 5n }), askedAt).invoice?.amountDue;
    expect([NOW, at(-1)].map(dueOf)).toEqual([5n, 2990n]);
    expect(ask(lane(), NOW, {}, ctx(0, { shadow: true }))).toMatchObject({ ok: false, code: 'shadow_mode' });
    const draft = { status: 'draft' } as const;
    expect(ask(lane({ refusal: hard }, draft), NOW, draft)).toMatchObject({
      ok: false,
      message: expect.stringContaining('still a draft'),
    });
    expect(ask(lane({}, draft), NOW, draft)).toMatchObject({ ok: true, value: { means: 'charge' } });
    expect(ask(lane({ refusal: hard }), NOW)).toMatchObject({ ok: true, value: { means: 'link' } });
    const ended = { shown: shown({ subscriptionStatus: 'canceled' }), askedAt: NOW, by: 'ops' };
    expect(requestRetry(lane({ refusal: hard }), ended, ctx())).toMatchObject({ ok: true, value: { means: 'link' } });
    const over = requestRetry(lane(), ended, ctx());
    expect(over).toMatchObject({ ok: false, message: expect.stringContaining('its subscription is canceled.') });
  });
});
describe('the schedule at rest', () => {
  const settled = (s: LaneState, of = ctx()): { readonly s: LaneState; readonly looks: readonly Date[] } => {
    const looks: Date[] = [];
    return { s: settleRetries(wanted(s, of), of, (when) => void (when !== null && looks.push(when))), looks };
  };

  it('says when it goes on, on the invoice and to the lane', () => {
    const { s, looks } = settled(lane());
    expect([s.invoice?.nextTryAt, looks]).toEqual([at(3 * DAY_MS), [at(3 * DAY_MS)]]);
    expect(settled(s).s).toBe(s);
    const paid = settled({ ...s, invoice: { ...(s.invoice ?? never()), platformStatus: 'paid' } });
    expect([paid.s.invoice?.nextTryAt, paid.looks]).toEqual([null, []]);
    const none = emptyLane('in_1');
    expect(settled(none).s).toBe(none);
  });

  it('makes the link that is due on a fresh read of an open invoice, and not before', () => {
    expect(settled(lane({ refusal: hard })).s.objects).toHaveLength(1);
    expect(settled(lane({ refusal: hard }), ctx(11_000)).s.objects).toEqual([]);
    expect(settled(lane({ refusal: hard }, { status: 'draft', finalizesAt: at(HOUR_MS) })).s.objects).toEqual([]);
    expect(settled(lane(), ctx()).s.messages).toEqual([]); // a charge waits for its read
  });

  it.each([
    ['nothing', [], 'the invoice stays open'],
    ['uncollectible', ['mark_uncollectible'], 'the invoice is marked uncollectible'],
    ['cancel', ['cancel_subscription'], 'the subscription is cancelled'],
  ] as const)('whose steps are used up ends with %s', (how, calls, words) => {
    const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: how } });
    const { s } = settled(lane(), of);
    expect(s.messages.map((m) => m.kind)).toEqual(calls);
    expect(s.invoice?.retries?.ended).toEqual({ at: NOW.toISOString(), how, why: null });
    expect(s.journal.at(-1)?.text).toBe(`the schedule of retries is over, its steps are used up: ${words}`);
    const later = settled(lane(), ctx(11_000, { retrySchedule: { ...SCHEDULE, soft: [], end: how } })).s;
    expect(later.messages).toEqual([]); // only on a fresh read
  });

  it('that would cancel a subscription which is not there leaves the invoice open', () => {
    const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'cancel' } });
    const { s } = settled(lane({}, { subscriptionId: null }), of);
    expect(s.messages).toEqual([]);
    expect(s.invoice?.retries?.ended).toMatchObject({
      how: 'nothing',
      why: 'it is of no subscription that could be cancelled',
    });
  });

  it('asks for a read before a charge, and before an end that writes', () => {
    const due = (when: Date | null): boolean => when === null || when.getTime() <= at(3 * DAY_MS).getTime();
    const then = ctx(3 * DAY_MS);
    expect(retryErrand(lane(), then, due)).toEqual({ do: 'read-to-retry', invoiceId: 'in_1' });
    expect(retryErrand(lane({}, {}, { readDueAt: at(4 * DAY_MS) }), then, due)).toBeNull();
    expect(retryErrand(lane({ refusal: hard }), then, due)).toMatchObject({ name: 'read-invoice', question: 'in_1' });
    expect(retryErrand(lane({ refusal: hard }), ctx(), due)).toBeNull(); // read just now
    expect(retryErrand(lane({}, { status: 'paid' }), then, due)).toBeNull();
    expect(retryErrand(emptyLane('in_1'), then, due)).toBeNull();
    expect(retryErrand(lane(), ctx(), () => false)).toBeNull();
  });

  it('orders the charge that is due once Stripe has shown the invoice, and ends for a subscription that has ended', () => {
    const then = ctx(3 * DAY_MS);
    expect(orderIfWanted(lane(), shown(), then).messages.map((m) => m.kind)).toEqual(['retry_charge']);
    const early = lane();
    expect(orderIfWanted(early, shown(), ctx(3 * DAY_MS - 1))).toBe(early);
    const link = lane({ refusal: hard });
    expect(orderIfWanted(link, shown(), then)).toBe(link);
    for (const subscriptionStatus of ['canceled', 'incomplete_expired']) {
      const over = orderIfWanted(lane(), shown({ subscriptionStatus }), then);
      expect(over.messages).toEqual([]);
      expect(over.invoice?.retries?.ended).toMatchObject({ how: 'nothing', why: 'its subscription has ended' });
    }
  });

  const status = (s: LaneState): string | undefined => settled(s).s.messages[0]?.status;

  it.each([
    ['money came', (s: LaneState) => putPayment(s, payment({ mark: 'parked' }))],
    ['it is paid', (s: LaneState) => takeRead(s, ctx(), facts({ status: 'paid' }))],
    ['it is written off', (s: LaneState) => takeRead(s, ctx(), facts({ status: 'uncollectible' }))],
    ['the customer can pay by a link', (s: LaneState) => putObject(s, object('payment_link'))],
    ['the customer can pay by transfer', (s: LaneState) => putObject(s, object('proforma', { status: 'ISSUED' }))],
    ['another amount is due', (s: LaneState) => takeRead(s, ctx(), facts({ amountRemaining: 2000n }))],
  ])('takes a charge back that was not sent, and the try does not count: %s', (_, change) => {
    const { s } = settled(change(ordered()));
    expect(s.messages[0]?.status).toBe('cancelled');
    expect(s.invoice?.retries?.retries).toMatchObject([{ withdrawn: true }]);
  });

  it('leaves a charge alone that is still wanted, one that was answered, and the wait for one that was tried', () => {
    expect(status(ordered())).toBe('pending');
    expect(status(takeRead(ordered(), ctx(), facts({ status: 'draft' })))).toBe('pending');
    const paid = takeRead(ordered(), ctx(), facts({ status: 'paid' }));
    const [m] = paid.messages;
    if (m === undefined) throw new Error('no call');
    expect(status(putMessage(paid, { ...m, status: 'done' }))).toBe('done');
    const tried = settled(putMessage(paid, { ...m, attempts: 1 })).s;
    expect(tried.messages[0]?.status).toBe('cancelled');
    expect(tried.invoice?.retries).toMatchObject({ waitingSince: NOW.toISOString(), retries: [{ withdrawn: false }] });
  });

  it('takes an end back that was not carried out yet, so that the schedule may end another way', () => {
    const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'uncollectible' } });
    const ending = settled(lane(), of).s;
    const paid = settled(takeRead(ending, of, facts({ status: 'paid' })), of).s;
    expect([paid.messages[0]?.status, paid.invoice?.retries?.ended]).toEqual(['cancelled', null]);
    const [m] = ending.messages;
    if (m === undefined) throw new Error('no call');
    const tried = settled(takeRead(putMessage(ending, { ...m, attempts: 1 }), of, facts({ status: 'paid' })), of).s;
    expect(tried.invoice?.retries?.ended).toMatchObject({ how: 'uncollectible' });
    const still = settled(takeRead(ending, of, facts({ status: 'uncollectible' })), of).s;
    expect(still.messages[0]?.status).toBe('pending');
  });
});
describe('what is remembered of a refusal', () => {
  const refuse = (s: LaneState, over: Parameters<typeof aPaymentEvent>[0] = {}, of = ctx()): LaneState =>
    takeRefusal(s, aPaymentEvent({ type: 'payment.failed', status: 'failed', ...over }), of);
  const open = takeRead(emptyLane('in_1'), ctx(), facts());

  it('is its time at the MoR, when it arrived here, and what it calls for', () => {
    const s = refuse(open, { declineCode: 'lost_card', eventId: 'evt_f', at: at(-1000) }, ctx(5));
    expect(s.invoice?.retries).toEqual({
      refusal: {
        at: at(-1000).toISOString(),
        heardAt: at(5).toISOString(),
        eventId: 'evt_f',
        outcome: 'failed',
        kind: 'hard',
        code: 'lost_card',
      },
      ...{ retries: [], waitingSince: null, askedAt: null, ended: null },
    });
    expect(refuse(open, { type: 'payment.requires_action' }).invoice?.retries?.refusal).toMatchObject({
      outcome: 'requires_action',
      kind: 'authentication',
    });
    const nothing = emptyLane('in_1');
    expect(refuse(nothing)).toBe(nothing);
  });

  it('is the newest by the MoR’s clock, whatever the order; in one second a failure is later, then the ids decide', () => {
    const newest = (...events: Parameters<typeof refuse>[1][]): string | undefined =>
      events.reduce((s, e) => refuse(s, e), open).invoice?.retries?.refusal.eventId;
    const [a, b] = [{ eventId: 'a' }, { eventId: 'b', at: at(1000) }];
    expect([newest(a, b), newest(b, a)]).toEqual(['b', 'b']);
    const [y, x] = [{ eventId: 'y' }, { eventId: 'x', at: at(1000) }];
    expect([newest(y, x), newest(x, y)]).toEqual(['x', 'x']);
    const action = { eventId: 'z', type: 'payment.requires_action' } as const;
    expect([newest(a, action), newest(action, a)]).toEqual(['a', 'a']);
    const same = { eventId: 'c' };
    expect([newest(a, same), newest(same, a)]).toEqual(['c', 'c']);
  });

  it('answers a try that was awaited; one of an earlier try does not, and Stripe’s request stands until a newer one', () => {
    const waits = lane({ waitingSince: NOW.toISOString(), askedAt: NOW.toISOString() });
    const next = refuse(waits, { at: at(1000), eventId: 'evt_2' }).invoice?.retries;
    expect(next).toMatchObject({ waitingSince: null, askedAt: null, refusal: { eventId: 'evt_2' } });
    expect(refuse(waits, { at: at(-1000) })).toBe(waits);
    expect(refuse(waits, { eventId: 'evt_0' }).invoice?.retries).toMatchObject({
      waitingSince: null,
      askedAt: NOW.toISOString(),
      refusal: { eventId: 'evt_1' },
    });
  });

  it('is beside it that Stripe asked for another attempt, if anything was refused', () => {
    const asked = takeAttemptAsked(lane(), at(7));
    expect(asked.invoice?.retries?.askedAt).toBe(at(7).toISOString());
    expect(takeAttemptAsked(asked, at(6))).toBe(asked);
    expect(takeAttemptAsked(open, NOW)).toBe(open);
  });

  it('is written to the invoice alone, and a verdict is due as long after a try as after the first', () => {
    const nothing = emptyLane('in_1');
    expect(putTrail(nothing, TRAIL)).toBe(nothing);
    expect(putRetry(nothing, 1, {})).toBe(nothing);
    const two = lane({ retries: [retried(), retried({ number: 2 })] });
    expect(putRetry(two, 2, { withdrawn: true }).invoice?.retries?.retries.map((r) => r.withdrawn)).toEqual([
      false,
      true,
    ]);
    const i = lane().invoice ?? never();
    expect(verdictDueBy(i, ctx())).toEqual(at(24 * HOUR_MS));
    expect(verdictDueBy({ ...i, paysByDebit: true }, ctx())).toEqual(at(10 * DAY_MS));
    const waits = lane({ waitingSince: NOW.toISOString() });
    expect([awaitsRetry(waits), awaitsRetry(lane())]).toEqual([true, false]);
    expect(awaitsRetry(putPayment(waits, payment({ mark: 'waiting' })))).toBe(false);
    expect(awaitsRetry(putPayment(waits, payment()))).toBe(true);
  });
});
