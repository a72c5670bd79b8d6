// A retry of a refused renewal: the try itself, a person's request, the schedule at rest, and a relay with a refusal.
import { chooseItem } from '../../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type InvoiceFacts, type ShownToRetry } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { putPayment, putCall, putObject } from '../../../../support/builders/put-rows.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { requestObject } from '../../../../support/rigs/object-calls.js';
import {
  type Cause,
  findRetry,
  followSchedule,
  type How,
  makeRetry,
  orderIfWanted,
  readBeforeStep,
  readToRetry,
  requestRetry,
  retryName,
  type RetryRequest,
} from '../../../../../src/features/retries/rules/retry.js';
import { anInvoice, aPaymentSucceeded, INVOICE_ID } from '../../../../support/builders/events.js';
import { facts, NOW } from '../../../../support/builders/channel-lane.js';
import { failed } from '../../../../support/fakes/fake-platform.js';
import { openKinds } from '../../../../support/rigs/lane-harness.js';
import { never } from '../../../../support/never.js';
import {
  at,
  ctx,
  hard,
  lane,
  object,
  ordered,
  payment,
  retried,
  shown,
} from '../../../../support/builders/refused-renewal.js';
import {
  after,
  DAY_MS,
  days,
  declined,
  HOUR_MS,
  refused,
  relayed,
  retry,
  type Rig,
  rig,
  SCHEDULE,
  state,
} from '../../../../support/rigs/retry-rig.js';
import { wanted } from '../../../../support/builders/settled.js';
import { asCommand, decide, applyLateRead, recordRead } from '../../../../support/rigs/decide.js';

const make = (state: LaneState, how: How, cause: Cause, of = ctx()): LaneState =>
  decide(state, of, (l) => void makeRetry(l, how, cause));
const request = (state: LaneState, asked: RetryRequest, of = ctx()) =>
  asCommand((l) => requestRetry(l, asked))(state, of);
const order = (state: LaneState, what: ShownToRetry, of: Ctx): LaneState =>
  decide(state, of, (l) => orderIfWanted(l, what));

it('Crossbill stores a retry with its number, amount and event before it sends the event', () => {
  const s = ordered();
  expect(s.invoice?.retries).toMatchObject({ waitingSince: NOW.toISOString(), askedAt: null });
  expect(s.invoice?.retries?.retries).toMatchObject([
    { number: 1, at: NOW.toISOString(), kind: 'soft', means: 'charge', by: null, minor: '2990', withdrawn: false },
  ]);
  expect(s.invoice?.expectedBy).toEqual(at(DAY_MS));
  const [m] = s.calls;
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
    text: 'retry 1, by the schedule: Crossbill asks the MoR to charge 29.90 EUR again',
  });
});

it('a payment link made by an operator counts as a retry, and the timeline names the operator', () => {
  const s = make(lane({ retries: [retried()] }), { means: 'link' }, { by: 'ops' });
  expect(s.objects).toMatchObject([{ kind: 'payment_link', status: 'REQUESTED', amount: 2990n }]);
  expect(s.invoice?.retries?.retries.map((r) => [r.number, r.means, r.ref === s.objects[0]?.id])).toEqual([
    [1, 'charge', false],
    [2, 'link', true],
  ]);
  expect(s.invoice?.retries?.waitingSince).toBeNull();
  expect([s.objects[0]?.id, ordered().calls[0]?.key]).toEqual([
    expect.stringMatching(/^lnk_/),
    expect.stringMatching(/^evt_crossbill_/),
  ]);
  expect(s.journal.at(-1)).toMatchObject({
    kind: 'person',
    text: 'retry 2, ops asked for it: Crossbill makes a payment link of 29.90 EUR',
  });
});

it('Crossbill makes no retry if nothing is due, no charge was declined, or links are not set up', () => {
  const charge = { means: 'charge', shown: shown() } as const;
  for (const s of [lane({}, { amountRemaining: 0n }), lane({}, {}, { amountRemaining: null }), emptyLane('in_1')]) {
    expect(make(s, charge, null)).toBe(s);
  }
  const noLinks = lane();
  expect(make(noLinks, { means: 'link' }, null, ctx(0, { recoveryLinks: null }))).toBe(noLinks);
});

it("Crossbill finds a retry of an invoice by the retry's number, and finds none for an unknown number", () => {
  expect(findRetry(lane({ retries: [retried()] }), '1')).toEqual({ id: '1', number: 1, means: 'charge' });
  expect(findRetry(lane({ retries: [retried()] }), '2')).toBeUndefined();
  expect(findRetry(emptyLane('in_1'), '1')).toBeUndefined();
});

it("Crossbill decides an operator's retry on the facts that Stripe shows at that moment", () => {
  const ask = (state: LaneState, askedAt: Date, over: Partial<InvoiceFacts> = {}, of = ctx()) =>
    request(state, { shown: shown({ invoice: facts(over) }), askedAt, by: 'ops' }, of);
  expect(ask(lane(), NOW, { status: 'paid' })).toMatchObject({
    ok: false,
    message: 'You cannot retry this invoice: the invoice is paid.',
  });
  expect(ask(lane(), at(-1))).toMatchObject({ ok: true, value: { number: 1, means: 'charge' } });
  const dueOf = (askedAt: Date) => applyLateRead(lane(), ctx(), facts({ amountDue: 5n }), askedAt).invoice?.amountDue;
  expect([NOW, at(-1)].map(dueOf)).toEqual([5n, 2990n]);
  expect(ask(lane(), NOW, {}, ctx(0, { sendsNothing: true }))).toMatchObject({ ok: false, code: 'shadow_mode' });
  const draft = { status: 'draft' } as const;
  expect(ask(lane({ refusal: hard }, draft), NOW, draft)).toMatchObject({
    ok: false,
    message: expect.stringContaining('still a draft'),
  });
  expect(ask(lane({}, draft), NOW, draft)).toMatchObject({ ok: true, value: { means: 'charge' } });
  expect(ask(lane({ refusal: hard }), NOW)).toMatchObject({ ok: true, value: { means: 'link' } });
  const ended = { shown: shown({ subscriptionStatus: 'canceled' }), askedAt: NOW, by: 'ops' };
  expect(request(lane({ refusal: hard }), ended)).toMatchObject({ ok: true, value: { means: 'link' } });
  const over = request(lane(), ended);
  expect(over).toMatchObject({ ok: false, message: expect.stringContaining('its subscription is canceled.') });
});
const settled = (state: LaneState, of = ctx()): { readonly s: LaneState; readonly polls: readonly Date[] } => {
  const polls: Date[] = [];
  const next = new Lane(wanted(state, of), of, (when) => void (when !== null && polls.push(when)));
  followSchedule(next);
  return { s: next.toState(), polls };
};

it('the retry schedule stores the time of its next step on the invoice, and Crossbill decides about the invoice then', () => {
  const { s, polls } = settled(lane());
  expect([s.invoice?.nextTryAt, polls]).toEqual([at(3 * DAY_MS), [at(3 * DAY_MS)]]);
  expect(settled(s).s).toBe(s);
  const paid = settled({ ...s, invoice: { ...(s.invoice ?? never()), platformStatus: 'paid' } });
  expect([paid.s.invoice?.nextTryAt, paid.polls]).toEqual([null, []]);
  const none = emptyLane('in_1');
  expect(settled(none).s).toBe(none);
});

it('the retry schedule makes a due payment link only if the invoice is open and was read from Stripe in the last ten seconds', () => {
  expect(settled(lane({ refusal: hard })).s.objects).toHaveLength(1);
  expect(settled(lane({ refusal: hard }), ctx(11_000)).s.objects).toEqual([]);
  expect(settled(lane({ refusal: hard }, { status: 'draft', finalizesAt: at(HOUR_MS) })).s.objects).toEqual([]);
  expect(settled(lane(), ctx()).s.calls).toEqual([]); // a charge waits for its read
});

it.each([
  ['nothing', [], 'the invoice stays open'],
  ['uncollectible', ['mark_uncollectible'], 'the invoice is marked uncollectible on Stripe'],
  ['cancel', ['cancel_subscription'], 'the subscription is cancelled on Stripe'],
] as const)(
  'if all steps of a retry schedule are used up, the schedule ends as its setting end=%s says',
  (how, calls, words) => {
    const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: how } });
    const { s } = settled(lane(), of);
    expect(s.calls.map((m) => m.kind)).toEqual(calls);
    expect(s.invoice?.retries?.ended).toEqual({ at: NOW.toISOString(), how, why: null });
    expect(s.journal.at(-1)?.text).toBe(`the schedule of retries is over (no step is left): ${words}`);
    const later = settled(lane(), ctx(11_000, { retrySchedule: { ...SCHEDULE, soft: [], end: how } })).s;
    expect(later.calls).toEqual([]); // only on a fresh read
  },
);

it('if an invoice has no subscription to cancel, the retry schedule leaves the invoice open', () => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'cancel' } });
  const { s } = settled(lane({}, { subscriptionId: null }), of);
  expect(s.calls).toEqual([]);
  expect(s.invoice?.retries?.ended).toMatchObject({
    how: 'nothing',
    why: 'the invoice has no subscription to cancel',
  });
});

it('Crossbill reads the invoice before a scheduled charge, and before a final step with a call to Stripe', () => {
  const then = ctx(3 * DAY_MS);
  const reads = (state: LaneState, of = then): readonly (string | null)[] =>
    [readToRetry, readBeforeStep].map(({ wanted: read }) => read(new Lane(state, of)));
  expect(reads(lane())).toEqual(['in_1', null]);
  expect(reads(lane({ refusal: hard }))).toEqual([null, 'in_1']);
  for (const none of [
    reads(lane({}, {}, { readDueAt: at(4 * DAY_MS) })),
    reads(lane({ refusal: hard }), ctx()), // read just now
    reads(lane({}, { status: 'paid' })),
    reads(emptyLane('in_1')),
    reads(lane(), ctx()), // not due yet
  ])
    expect(none).toEqual([null, null]);
});

it('Crossbill requests a due charge after a read of Stripe, and no charge after the end of the subscription', () => {
  const then = ctx(3 * DAY_MS);
  expect(order(lane(), shown(), then).calls.map((m) => m.kind)).toEqual(['retry_charge']);
  const early = lane();
  expect(order(early, shown(), ctx(3 * DAY_MS - 1))).toBe(early);
  const link = lane({ refusal: hard });
  expect(order(link, shown(), then)).toBe(link);
  for (const subscriptionStatus of ['canceled', 'incomplete_expired']) {
    const over = order(lane(), shown({ subscriptionStatus }), then);
    expect(over.calls).toEqual([]);
    expect(over.invoice?.retries?.ended).toMatchObject({ how: 'nothing', why: 'its subscription has ended' });
  }
});

const status = (state: LaneState): string | undefined => settled(state).s.calls[0]?.status;

it.each([
  ['a payment came', (s: LaneState) => putPayment(s, payment({ mark: 'parked' }))],
  ['the invoice is paid', (s: LaneState) => recordRead(s, ctx(), facts({ status: 'paid' }))],
  ['the invoice is uncollectible', (s: LaneState) => recordRead(s, ctx(), facts({ status: 'uncollectible' }))],
  ['the customer can pay by a link', (s: LaneState) => putObject(s, object('payment_link'))],
  ['the customer can pay by transfer', (s: LaneState) => putObject(s, object('proforma', { status: 'ISSUED' }))],
  ['another amount is due', (s: LaneState) => recordRead(s, ctx(), facts({ amountRemaining: 2000n }))],
])('the retry schedule withdraws an unsent charge without counting it if %s', (_, change) => {
  const { s } = settled(change(ordered()));
  expect(s.calls[0]?.status).toBe('cancelled');
  expect(s.invoice?.retries?.retries).toMatchObject([{ withdrawn: true }]);
});

it('the schedule keeps an unsent charge of an unpaid invoice, and awaits the verdict on a tried charge of a paid invoice', () => {
  expect(status(ordered())).toBe('pending');
  expect(status(recordRead(ordered(), ctx(), facts({ status: 'draft' })))).toBe('pending');
  const paid = recordRead(ordered(), ctx(), facts({ status: 'paid' }));
  const [m = never()] = paid.calls;
  expect(status(putCall(paid, { ...m, status: 'done' }))).toBe('done');
  const tried = settled(putCall(paid, { ...m, attempts: 1 })).s;
  expect(tried.calls[0]?.status).toBe('cancelled');
  expect(tried.invoice?.retries).toMatchObject({ waitingSince: NOW.toISOString(), retries: [{ withdrawn: false }] });
});

it('the retry schedule withdraws an untried final step if the invoice is paid, and keeps a final step already tried', () => {
  const of = ctx(0, { retrySchedule: { ...SCHEDULE, soft: [], end: 'uncollectible' } });
  const ending = settled(lane(), of).s;
  const paid = settled(recordRead(ending, of, facts({ status: 'paid' })), of).s;
  expect([paid.calls[0]?.status, paid.invoice?.retries?.ended]).toEqual(['cancelled', null]);
  const [m = never()] = ending.calls;
  const tried = settled(recordRead(putCall(ending, { ...m, attempts: 1 }), of, facts({ status: 'paid' })), of).s;
  expect(tried.invoice?.retries?.ended).toMatchObject({ how: 'uncollectible' });
  const still = settled(recordRead(ending, of, facts({ status: 'uncollectible' })), of).s;
  expect(still.calls[0]?.status).toBe('pending');
});

it("an operator's retry goes out immediately and counts as a step; until its verdict Crossbill refuses another retry", async () => {
  const r = rig();
  await refused(r);
  expect(await retry(r)).toMatchObject({ ok: true, value: { number: 1, means: 'charge' } });
  expect((await state(r)).invoice?.retries?.retries).toMatchObject([{ number: 1, by: 'ops' }]);
  expect(await retry(r)).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
  await r.h.drain();
  const again = await retry(r);
  expect(again.ok ? '' : again.message).toContain('the MoR may be charging it. Crossbill has waited');
  await r.h.take(declined(r));
  expect((await state(r)).invoice?.nextTryAt).toEqual(new Date(r.h.clock.now().getTime() + 5 * DAY_MS));
  expect(relayed(r)).toHaveLength(1);
});

it("without a schedule an operator's retry goes out once, and no further retry follows", async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r, 'stolen_card');
  expect(await retry(r)).toMatchObject({ ok: true, value: { means: 'charge' } });
  await r.h.take(declined(r));
  await r.h.idle(24 * 60);
  expect(relayed(r)).toHaveLength(1);
  expect((await state(r)).invoice?.nextTryAt).toBeNull();
});

it('an operator can retry again as soon as the verdict on the earlier retry is overdue', async () => {
  const r = rig();
  await refused(r);
  await retry(r);
  await r.h.idle(30);
  r.h.clock.advance(DAY_MS);
  await r.h.drain();
  expect(openKinds(await state(r))).toEqual(['renewal_overdue']);
  expect(await retry(r)).toMatchObject({ ok: true, value: { number: 2 } });
  expect(openKinds(await state(r))).toEqual([]);
});

const cases: readonly [string, string, (rig: Rig) => unknown, Partial<DecisionSettings>?][] = [
  ['that is paid', 'the invoice is paid', (r) => r.h.platform.payAnotherWay(INVOICE_ID)],
  ['that is void', 'the invoice is void', (r) => r.h.platform.change(INVOICE_ID, { status: 'void' })],
  ['that is written off', 'marked uncollectible', (r) => r.h.platform.change(INVOICE_ID, { status: 'uncollectible' })],
  ['whose subscription has ended', 'its subscription is canceled', (r) => r.h.platform.ended.add('sub_oak')],
  [
    'for which money was taken',
    'the MoR already took money for it (payment pay_taken)',
    (r) => {
      r.h.platform.change(INVOICE_ID, { status: 'draft' });
      r.h.clock.advance(60_000);
      return r.h.take(aPaymentSucceeded({ paymentId: 'pay_taken', at: r.h.clock.now() }));
    },
  ],
  ['while relay and links are off', 'no way is set up', () => undefined, { relay: null }],
  [
    'that is partly paid, without links',
    'a part of it is paid',
    (r) => r.h.platform.change(INVOICE_ID, { amountPaid: 400n, amountRemaining: 600n }),
  ],
  [
    'whose link can be paid',
    'a payment link can be paid until',
    (r) =>
      r.h.command(INVOICE_ID, (s, ctx) => {
        const wire = { method: 'POST', path: '/', body: '{}' } as const;
        const facts = r.h.platform.invoices.get(INVOICE_ID) ?? anInvoice();
        return requestObject(
          s,
          { kind: 'payment_link', id: 'lnk_p', wire, until: null, facts, askedAt: ctx.now, by: 'ops' },
          ctx,
        );
      }),
  ],
];
it.each(cases)(
  'Crossbill refuses a retry of an invoice %s, with the reason "%s"',
  async (_, why, prepare, over = {}) => {
    const r = rig({ retrySchedule: null, recoveryLinks: null, ...over });
    await refused(r);
    await prepare(r);
    const sent = relayed(r).length;
    const done = await retry(r);
    expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
    expect(done.ok ? '' : done.message).toContain(why);
    await r.h.idle(1);
    expect(relayed(r)).toHaveLength(sent);
  },
);

it('Crossbill refuses a retry if the amount due changed after the read from Stripe', async () => {
  const r = rig();
  await refused(r);
  const [invoice, askedAt] = [anInvoice(), r.h.clock.now()];
  const shown = {
    invoice,
    object: '{"amount_due":1000}',
    apiVersion: null,
    livemode: false,
    subscriptionStatus: null,
  };
  r.h.clock.advance(1_000);
  r.h.platform.change(INVOICE_ID, { amountDue: 800n, amountRemaining: 800n });
  const now = r.h.platform.invoices.get(INVOICE_ID) ?? null;
  await r.h.command(INVOICE_ID, (s, ctx) => ({ ok: true, value: null, state: recordRead(s, ctx, now) }));
  const done = await r.h.command(
    INVOICE_ID,
    asCommand((l) => requestRetry(l, { shown, askedAt, by: 'ops' })),
  );
  expect(done).toMatchObject({ ok: false, status: 409, code: 'invoice_not_retryable' });
  await r.h.drain();
  expect(relayed(r)).toEqual([]);
});

it("if the MoR refuses the event of a retry, a review item opens and the operator's choice `retry` sends the same event", async () => {
  const r = rig();
  await refused(r);
  const send = r.h.relay.send.bind(r.h.relay);
  r.h.relay.send = () => Promise.resolve(failed('refused'));
  await after(r, 3 * DAY_MS);
  expect(openKinds(await state(r))).toEqual(['effect_failed']);
  r.h.relay.send = send;
  await chooseItem(r.h, 'retry');
  await r.h.drain();
  expect(relayed(r).map((e) => e.id)).toEqual([retryName('evt_crossbill', INVOICE_ID, 1)]);
  await r.h.take(declined(r));
  await r.h.idle(24 * 6);
  expect(relayed(r)).toHaveLength(2);
});

it('each refused retry opens its own review item before the schedule cancels the subscription', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, soft: days(3, 5), end: 'cancel' } });
  await refused(r);
  r.h.relay.send = () => Promise.resolve(failed('refused', { status: 403, message: 'no' }));
  for (const number of [1, 2]) {
    await r.h.idle(24 * 40);
    const open = (await state(r)).reviews.filter((x) => x.status === 'open');
    const fact = { code: 'retry-refused', retry: number, status: 403 };
    expect(open).toMatchObject([{ kind: 'effect_failed', subject: `retry_charge:${INVOICE_ID}`, fact }]);
    expect(r.h.platform.effects).toEqual({});
    await chooseItem(r.h, 'dismiss', { note: 'seen' });
  }
  await r.h.idle(24 * 40);
  expect(r.h.platform.effects).toEqual({ cancel_subscription: 1 }); // a person has seen both
});

it('the id of a retry depends only on the invoice and the number of the retry', () => {
  const id = fc.string({ minLength: 1, maxLength: 255 });
  fc.assert(
    fc.property(id, id, fc.nat(20), fc.nat(20), (a, b, n, m) => {
      const name = retryName('evt_crossbill', a, n);
      expect(name).toMatch(/^evt_crossbill_[0-9a-f]{32}$/);
      expect(name === retryName('evt_crossbill', b, m)).toBe(a === b && n === m);
    }),
  );
});
