// The review item about a payment method Stripe would charge automatically.
import { expect, it } from '@jest/globals';
import { Lane } from '../../../../../src/engine/lane.js';
import { declareItems } from '../../../../../src/engine/items.js';
import {
  chargingItems,
  chargingLookup,
  isCollected,
  applyCharged,
} from '../../../../../src/features/enrolment/rules/charging.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type ChargedMethod } from '../../../../../src/shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../../../../src/shared/domain/ports/call.js';
import { aCtx, facts, NOW, open } from '../../../../support/builders/channel-lane.js';
import { plan, settle } from '../../../../support/builders/settled.js';
import { decide, recordEvent, resolveReview } from '../../../../support/rigs/decide.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FINAL = new Date(NOW.getTime() + HOUR_MS);
const CARD: ChargedMethod = { from: 'customer', id: 'pm_card', type: 'card' };
const CUSTOM: ChargedMethod = { from: 'subscription', id: 'pm_mor', type: 'custom' };

const at = (ms: number, over: Parameters<typeof aCtx>[1] = {}): Ctx =>
  aCtx(new Date(NOW.getTime() + ms), { guard: true, ...over });
const saw = (value: ChargedMethod | null): CallOutcome<ChargedMethod | null> => ({
  ok: true,
  value,
  status: 200,
  requestId: null,
});
const failed = (kind: 'retry' | 'stopped'): CallOutcome<ChargedMethod | null> => ({
  ok: false,
  kind,
  status: kind === 'stopped' ? 403 : 500,
  code: null,
  message: 'no right to read subscriptions',
  errors: [],
  retryAfterMs: null,
  requestId: null,
  replayed: false,
});

function lane(over: Partial<InvoiceFacts> = {}, ctx = at(0)): LaneState {
  const draft = {
    status: 'draft',
    collectionMethod: 'charge_automatically',
    finalizesAt: FINAL,
    autoAdvance: true,
  } as const;
  return settle(recordEvent(emptyLane('in_1'), ctx, facts({ ...draft, ...over }), NOW), ctx);
}
const hear = (state: LaneState, over: Partial<InvoiceFacts>, ctx: Ctx): LaneState =>
  settle(recordEvent(state, ctx, facts({ collectionMethod: 'charge_automatically', ...over }), ctx.now), ctx);
const looked = (state: LaneState, outcome: CallOutcome<ChargedMethod | null>, ctx: Ctx): LaneState =>
  settle(take(state, outcome, ctx), ctx);
const take = (state: LaneState, outcome: CallOutcome<ChargedMethod | null>, ctx: Ctx): LaneState =>
  decide(state, ctx, (l) => applyCharged(l, outcome));
const watch = (state: LaneState, ctx: Ctx): LaneState => decide(state, ctx, (l) => declareItems(l, chargingItems));
const read = (state: LaneState, ctx: Ctx) => chargingLookup.wanted(new Lane(state, ctx));
const wants = (state: LaneState, ctx: Ctx): string | null => {
  const request = plan(state, ctx).request;
  return request?.do === 'look-up' ? request.name : null;
};

const risky = looked(lane(), saw(CARD), at(1_000));

it('five seconds after a new renewal Crossbill reads which method Stripe would charge; a card opens a double_charge_risk item', () => {
  expect(plan(lane(), at(0))).toMatchObject({ request: null, dueAt: new Date(NOW.getTime() + 5_000) });
  expect(plan(lane(), at(5_000)).request).toMatchObject({
    name: 'look-at-charging',
    question: { of: { customerId: 'cus_1', subscriptionId: 'sub_1', ownMethodId: null }, fresh: false },
  });
  const [item, ...more] = open(risky);
  expect(more).toEqual([]);
  expect(item).toMatchObject({
    kind: 'double_charge_risk',
    invoiceId: 'in_1',
    dueAt: FINAL,
    actions: ['retry', 'dismiss'],
    proposed: 'retry',
  });
  expect(item?.fact).toMatchObject({
    code: 'stripe-would-charge',
    ...{ invoice: 'in_1', subscription: 'sub_1' },
    method: 'pm_card',
    methodType: 'card',
    from: 'customer',
  });
});

it('Crossbill reads a draft with a card every five minutes, and an open invoice with a card every six hours', () => {
  expect(wants(risky, at(4 * MINUTE_MS))).toBeNull();
  expect(plan(risky, at(4 * MINUTE_MS)).dueAt).toEqual(new Date(NOW.getTime() + 1_000 + 5 * MINUTE_MS));
  expect(plan(risky, at(6 * MINUTE_MS)).request).toMatchObject({
    name: 'look-at-charging',
    question: { fresh: true },
  });
  const final = hear(risky, { status: 'open' }, at(2_000));
  expect(wants(final, at(5 * HOUR_MS))).toBeNull();
  expect(wants(final, at(7 * HOUR_MS))).toBe('look-at-charging');
});

it('a double_charge_risk item closes after the customer gets a custom payment method, or when Stripe no longer collects the invoice', () => {
  const closed = [
    looked(risky, saw(CUSTOM), at(6 * MINUTE_MS)),
    looked(risky, saw(null), at(6 * MINUTE_MS)),
    hear(risky, { status: 'draft', autoAdvance: false }, at(MINUTE_MS)),
    hear(risky, { status: 'draft', collectionMethod: 'send_invoice' }, at(MINUTE_MS)),
    hear(risky, { status: 'paid', amountPaid: 2990n, amountRemaining: 0n }, at(MINUTE_MS)),
    hear(risky, { status: 'void' }, at(MINUTE_MS)),
  ];
  for (const s of closed) {
    expect(open(s)).toEqual([]);
    expect(wants(s, at(20 * HOUR_MS))).not.toBe('look-at-charging');
  }
});

it("after an operator's retry a double_charge_risk item opens again; after a dismissal the item stays closed", () => {
  const item = open(risky)[0]?.id ?? '';
  const choose = (resolution: 'retry' | 'dismiss'): LaneState => {
    const done = resolveReview(risky, item, { resolution, note: null, by: 'ops' }, at(MINUTE_MS));
    if (!done.ok) throw new Error(done.message);
    return settle(done.state, at(MINUTE_MS));
  };
  const again = choose('retry');
  expect([open(again).length, wants(again, at(MINUTE_MS))]).toEqual([0, 'look-at-charging']);
  expect(open(looked(again, saw(CARD), at(2 * MINUTE_MS)))).toHaveLength(1);
  expect(open(looked(choose('dismiss'), saw(CARD), at(6 * MINUTE_MS)))).toEqual([]);
});

it('Crossbill reads no payment method of a renewal that is paid within five seconds', () => {
  const paid = hear(lane(), { status: 'paid', amountPaid: 2990n, amountRemaining: 0n }, at(4_000));
  expect(plan(paid, at(4_000))).toMatchObject({ request: null, dueAt: null });
});

it("Crossbill reads an ordinary renewal's payment method at most one time a day", () => {
  const s = looked(lane(), saw(CUSTOM), at(1_000));
  expect(open(s)).toEqual([]);
  const final = hear(s, { status: 'open' }, at(HOUR_MS));
  expect([wants(s, at(HOUR_MS)), wants(final, at(HOUR_MS))]).toEqual([null, null]);
  expect(wants(final, at(23 * HOUR_MS))).toBeNull();
  expect(wants(hear(final, { status: 'open' }, at(26 * HOUR_MS)), at(26 * HOUR_MS))).toBe('look-at-charging');
});

it('Crossbill reads the payment method again after somebody puts a method on the invoice', () => {
  const s = looked(lane(), saw(CUSTOM), at(1_000));
  const own = hear(s, { status: 'draft', ownMethodId: 'pm_own' }, at(MINUTE_MS));
  expect(plan(own, at(MINUTE_MS)).request).toMatchObject({ question: { of: { ownMethodId: 'pm_own' } } });
  const card = looked(own, saw({ from: 'invoice', id: 'pm_own', type: 'card' }), at(2 * MINUTE_MS));
  expect(open(card)[0]?.fact).toMatchObject({ code: 'stripe-would-charge', from: 'invoice' });
});

it('Crossbill reads no payment method for a signup, for an invoice outside ENROLMENT or for an invoice not collected by Stripe', () => {
  for (const over of [
    { collectionMethod: 'send_invoice' },
    { autoAdvance: false },
    { amountDue: 0n, amountRemaining: 0n },
    { status: 'paid', amountRemaining: 0n },
    { status: 'uncollectible' },
    { billingReason: 'subscription_create' },
  ] as const) {
    expect(wants(lane(over), at(6_000))).not.toBe('look-at-charging');
  }
  const outside = lane({}, at(0, { enrolment: { by: 'linked' } }));
  expect(wants(lane(), at(6_000))).toBe('look-at-charging');
  expect(wants(outside, at(0, { enrolment: { by: 'linked' } }))).toBe('look-up-enrolment');
  expect(isCollected(lane().invoice ?? (undefined as never))).toBe(true);
});

it('Crossbill repeats a failed read of a payment method up to eight times, and the invoice stays `expected`', () => {
  let s = lane();
  for (let n = 1; n < 8; n++) s = looked(s, failed('retry'), at(n * HOUR_MS));
  expect(s.invoice?.lookDueAt).not.toBeNull();
  s = looked(s, failed('retry'), at(8 * HOUR_MS));
  expect(s.invoice).toMatchObject({ lookDueAt: null, status: 'expected' });
  expect(wants(s, at(9 * HOUR_MS))).toBeNull();
});

it('without permission to read payment methods, Crossbill tries once, and the timeline names `crossbill doctor`', () => {
  const s = looked(lane(), failed('stopped'), at(1_000));
  expect(s.journal.at(-1)?.text).toContain('`crossbill doctor`');
  expect([wants(s, at(HOUR_MS)), open(s)]).toEqual([null, []]);
});

it('a failed read of the payment method leaves the double_charge_risk item open', () => {
  const s = looked(looked(lane(), saw(CARD), at(0)), failed('stopped'), at(6 * MINUTE_MS));
  expect(open(s)).toHaveLength(1);
});

const factOf = (state: LaneState): unknown => open(state)[0]?.fact;

it("without a subscription the double_charge_risk item says to remove the customer's default method", () => {
  const s = looked(lane({ subscriptionId: null }), saw(CARD), at(1_000));
  expect(factOf(s)).toMatchObject({ from: 'customer', subscription: null });
  expect(factOf(looked(lane(), saw({ ...CARD, from: 'subscription' }), at(1_000)))).toMatchObject({
    ...{ from: 'subscription', subscription: 'sub_1' },
  });
  const final = looked(lane({ status: 'open', finalizesAt: FINAL }), saw(CARD), at(1_000));
  expect(open(final)[0]?.dueAt).toBeNull();
});

it('Crossbill watches for charges by Stripe only if the flow setting `guard` is on, and only for known, enrolled invoices with a customer', () => {
  expect(wants(lane({}, at(0, { guard: false })), at(6_000, { guard: false }))).not.toBe('look-at-charging');
  const risky = looked(lane(), saw(CARD), at(1_000));
  expect(open(settle(risky, at(2_000, { guard: false })))).toEqual([]);
  const outside: LaneState = { ...risky, invoice: risky.invoice && { ...risky.invoice, enrolled: false } };
  expect(open(watch(outside, at(2_000)))).toEqual([]);
  const nothing = emptyLane('in_1');
  expect(take(nothing, saw(CARD), at(0))).toBe(nothing);
  expect(watch(nothing, at(0))).toBe(nothing);
  expect(read(nothing, at(0))).toBeNull();
  const nobody: LaneState = { ...risky, invoice: risky.invoice && { ...risky.invoice, customerId: null } };
  expect(read(nobody, at(0))).toBeNull();
});

it('the timeline shows three failed reads of a payment method, and a final refusal ends the reads', () => {
  const tried = (count: number, kind: 'retry' | 'stopped' | 'refused') => {
    const s = lane();
    const before: LaneState = { ...s, invoice: s.invoice && { ...s.invoice, lookAttempts: count } };
    const outcome = { ...failed('retry'), kind } as CallOutcome<ChargedMethod | null>;
    const after = take(before, outcome, at(0));
    return [after.journal.length - s.journal.length, after.invoice?.lookDueAt === null];
  };
  expect([0, 2, 3, 6].map((n) => tried(n, 'retry'))).toEqual([
    [1, false],
    [1, false],
    [0, false],
    [0, false],
  ]);
  expect([tried(7, 'retry'), tried(0, 'stopped'), tried(0, 'refused')]).toEqual([
    ...[
      [1, true],
      [1, true],
      [1, true],
    ],
  ]);
});

it('Crossbill reads a payment method again only after a day', () => {
  const s = looked(lane(), saw(CUSTOM), at(0));
  expect([24 * HOUR_MS - 1, 24 * HOUR_MS].map((ms) => read(s, at(ms)) !== null)).toEqual([false, true]);
  const own = looked(lane({ ownMethodId: 'pm_own' }), saw({ ...CUSTOM, from: 'invoice', id: 'pm_own' }), at(0));
  expect(read(own, at(1))).toBeNull();
});
