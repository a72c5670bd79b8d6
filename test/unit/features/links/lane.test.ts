// Payment links in the lane of their invoice: asked for, read, announced, paid.
import { never } from '../../../support/never.js';
import { expect, it } from '@jest/globals';
import { eur } from '../../../support/builders/channel-object.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../../../src/shared/domain/mor-object.js';
import { type LinkFacts } from '../../../../src/shared/domain/ports/mor-channels.js';
import { type DecisionSettings } from '../../../../src/shared/domain/settings.js';
import { type Ctx } from '../../../../src/engine/context.js';
import { putPayment } from '../../../support/builders/put-rows.js';
import { type PaymentEvent } from '../../../../src/engine/event.js';
import { newPayment } from '../../../../src/core/books/rules/payment-rows.js';
import {
  aCtx,
  anOpenInvoice,
  aPaymentEvent,
  facts,
  hear,
  LINK,
  NOW,
  open,
} from '../../../support/builders/channel-lane.js';
import { applyObjectRead, requestObject } from '../../../support/rigs/object-calls.js';
import { applyRead } from '../../../support/rigs/settle-rule.js';
import { plan, settle } from '../../../support/builders/settled.js';
import { applyReply, applyEvent, resolveReview } from '../../../support/rigs/decide.js';
import {
  away,
  captured,
  CHARGED_NEXT,
  givenBack,
  hours,
  isPaid,
  mirrors,
  openItems,
  paid,
  topics,
  taken,
  withLink,
} from '../../../support/builders/announced-link.js';
import { MemoryLaneRepository } from '../../../support/rigs/lane-harness.js';
import { type rig, state } from '../../../support/rigs/retry-rig.js';

const facts200 = (over: Partial<LinkFacts>): LinkFacts => ({
  morId: LINK,
  url: 'https://pay.example/1',
  status: 'PAYABLE',
  priced: eur(2990n),
  due: eur(2990n),
  expiresAt: new Date(NOW.getTime() + 600_000),
  ...over,
});
const linkMade = (link: LinkFacts) =>
  ({ ok: true, value: { kind: 'create_payment_link', link }, status: 201, requestId: null }) as const;
const readOf = (over: Partial<LinkFacts>) =>
  ({ ok: true, value: { kind: 'payment_link', link: facts200(over) }, status: 200, requestId: null }) as const;
const asked = (state: LaneState, ctx: Ctx, id = 'lnk_1') =>
  requestObject(
    state,
    {
      kind: 'payment_link',
      id,
      wire: { method: 'POST', path: '/x', body: '{}' },
      until: null,
      facts: facts(),
      askedAt: ctx.now,
      by: 'ops',
    },
    ctx,
  );
function withMadeLink(ctx = aCtx()): LaneState {
  const made = asked(anOpenInvoice(ctx), ctx);
  if (!made.ok) throw new Error(made.message);
  const m = made.state.calls.find((x) => x.kind === 'create_payment_link') ?? never();
  return settle(applyReply(made.state, m.id, linkMade(facts200({})), ctx), ctx);
}

it('after a payment.captured event Crossbill reads the payment link, and books the payment only after the link is PAID', () => {
  let s = hear(withMadeLink(), 'payment.captured', { anywhere: { link: LINK }, pspReference: 'ch_9' });
  expect(plan(s, aCtx()).request).toMatchObject({ name: 'read-object', question: { morId: LINK } });
  expect(s.payments).toEqual([]);
  s = settle(applyObjectRead(s, 'lnk_1', readOf({}), aCtx()), aCtx());
  expect(s.payments).toEqual([]);
  expect(plan(s, aCtx()).dueAt?.getTime()).toBeGreaterThan(NOW.getTime());
  const paid = readOf({ status: 'PAID', due: eur(0n) });
  s = settle(applyObjectRead(s, 'lnk_1', paid, aCtx()), aCtx());
  s = settle(applyObjectRead(s, 'lnk_1', paid, aCtx()), aCtx());
  expect(s.payments).toMatchObject([
    { origin: 'payment_link', reference: LINK, amount: 2990n, processorChargeId: 'ch_9', mark: 'reporting' },
  ]);
});

it('a later payment.captured event adds its charge to the booked payment of a payment link', () => {
  const paid = readOf({ status: 'PAID', due: eur(0n) });
  let s = settle(applyObjectRead(withMadeLink(), 'lnk_1', paid, aCtx()), aCtx());
  expect(s.payments).toMatchObject([{ reference: LINK, processorChargeId: null }]);
  s = hear(s, 'payment.captured', { paymentLinkId: LINK, pspReference: 'ch_9' });
  s = hear(s, 'payment.captured', { paymentLinkId: LINK }, aCtx(), 'evt_again');
  expect(s.payments).toMatchObject([{ reference: LINK, processorChargeId: 'ch_9' }]);
  expect(s.entries).toHaveLength(1);
});

it('a paid payment link with the charge of a known payment adds no second payment', () => {
  const ids = { paymentId: 'pay_9', processorChargeId: 'ch_9', invoiceId: 'in_1', customerId: 'cus_1' };
  const p = newPayment(aCtx(), { ...ids, currency: 'EUR', amount: 2990n, succeededAt: NOW, mark: 'waiting' });
  const s = hear(settle(putPayment(withMadeLink(), p), aCtx()), 'payment.captured', { id: LINK, pspReference: 'ch_9' });
  const paid = settle(applyObjectRead(s, 'lnk_1', readOf({ status: 'PAID', due: null }), aCtx()), aCtx());
  expect(paid.payments).toMatchObject([{ paymentId: 'pay_9', mark: 'reporting' }]);
  expect(paid.objects).toMatchObject([{ status: 'PAID', paymentRowId: p.id }]);
  expect(open(paid)).toEqual([]);
});

it("if a payment.captured event comes before the MoR answers a link request, Crossbill finds the link by the request's key", () => {
  const made = asked(anOpenInvoice(), aCtx());
  if (!made.ok) throw new Error(made.message);
  const s = hear(made.state, 'payment.captured', { idempotencyKey: 'crossbill:create_payment_link:lnk_1:1' });
  const m = s.calls.find((x) => x.kind === 'create_payment_link') ?? never();
  const link = facts200({ status: 'PAID', due: null });
  const paid = settle(applyReply(s, m.id, linkMade(link), aCtx()), aCtx());
  expect(paid.payments).toMatchObject([{ amount: 2990n, origin: 'payment_link' }]);
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LINKS: Partial<DecisionSettings> = {
  recoveryLinks: { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 },
};

const at = (ms: number, settings: Partial<DecisionSettings> = LINKS): Ctx =>
  aCtx(new Date(NOW.getTime() + ms), settings);
const linksOf = (state: LaneState): readonly MorObjectRow[] => state.objects.filter((o) => o.kind === 'payment_link');

function verdict(state: LaneState, type: PaymentEvent['type'], ctx: Ctx, over: Partial<PaymentEvent> = {}): LaneState {
  const succeeded = type === 'payment.succeeded';
  const event = aPaymentEvent({
    eventId: `evt_${type}_${ctx.now.getTime()}`,
    type,
    at: ctx.now,
    processorChargeId: succeeded ? 'ch_1' : null,
    status: succeeded ? 'succeeded' : 'failed',
    declineCode: 'insufficient_funds',
    ...over,
  });
  return settle(applyEvent(state, event, ctx).state, ctx);
}

function read(state: LaneState, ctx: Ctx, over: Parameters<typeof facts>[0] = {}): LaneState {
  return settle(applyRead(state, { ok: true, value: facts(over), status: 200, requestId: null }, ctx), ctx);
}

function linkAnswered(state: LaneState, ctx: Ctx, over: Partial<LinkFacts> = {}): LaneState {
  const m = state.calls.find((x) => x.kind === 'create_payment_link' && x.status === 'pending');
  const link: LinkFacts = {
    morId: `${LINK}${ctx.now.getTime()}`,
    url: 'https://pay.example/1',
    status: 'PAYABLE',
    priced: eur(2990n),
    due: eur(2990n),
    expiresAt: new Date(ctx.now.getTime() + 600_000),
    ...over,
  };
  const value = { kind: 'create_payment_link', link } as const;
  return settle(applyReply(state, m?.id ?? '', { ok: true, value, status: 201, requestId: null }, ctx), ctx);
}

/** The link's own page at the MoR, read when its time has come. */
function linkRead(state: LaneState, ctx: Ctx, status: LinkFacts['status']): LaneState {
  const o = linksOf(state).at(-1);
  const due = { minor: status === 'PAID' ? 0n : 2990n, currency: 'EUR' };
  const priced = eur(2990n);
  const link = { morId: o?.morId ?? '', url: '', status, priced, due, expiresAt: o?.deadline ?? null };
  const outcome = { ok: true, value: { kind: 'payment_link', link }, status: 200, requestId: null } as const;
  return settle(applyObjectRead(state, o?.id ?? '', outcome, ctx), ctx);
}

it.each(['payment.failed', 'payment.requires_action'] as const)(
  'after %s Crossbill reads the invoice again and requests a payment link for the amount due',
  (type) => {
    const stale = at(60_000);
    const s = verdict(anOpenInvoice(), type, stale);
    expect(linksOf(s)).toEqual([]);
    expect(plan(s, stale).request).toMatchObject({ name: 'read-invoice', question: 'in_1' });
    const made = read(s, stale, { amountRemaining: 1990n });
    expect(linksOf(made)).toMatchObject([{ status: 'REQUESTED', amount: 1990n, detail: { automatic: true } }]);
    const [m] = made.calls;
    expect(m).toMatchObject({ kind: 'create_payment_link', peer: 'mor', status: 'pending' });
    expect(JSON.parse(m?.wire.body ?? '')).toMatchObject({
      jurisdiction: 'GB',
      returnUrl: 'https://shop.example/thanks',
      expiresSec: 600,
      amount: { minor: '1990', currency: 'EUR' },
      key: m?.key,
    });
    expect(linksOf(settle(made, stale))).toHaveLength(1);
  },
);

it('after a restore, Crossbill requests the same payment link under the same key, and the next link under a different key', () => {
  const refused = (ctx: Ctx, state = anOpenInvoice()): LaneState => read(verdict(state, 'payment.failed', ctx), ctx);
  const first = refused(at(0));
  const key = first.calls.at(-1)?.key;
  expect(key).toMatch(/^crossbill:create_payment_link:lnk_[0-9a-f]{32}:1$/);
  expect(refused(at(48 * HOUR_MS)).calls.at(-1)?.key).toBe(key);
  const expired = linkRead(linkAnswered(first, at(0)), at(HOUR_MS), 'EXPIRED');
  const next = refused(at(2 * HOUR_MS), expired);
  expect(linksOf(next)).toHaveLength(2);
  expect(next.calls.at(-1)?.key).not.toBe(key);
});

it("if the MoR refuses a payment link, a review item opens and the operator's retry uses a new key", () => {
  const s = verdict(anOpenInvoice(), 'payment.failed', at(0));
  const [m] = s.calls;
  const refused = { ok: false, kind: 'refused', status: 409, code: 'no_active_arrangement' } as const;
  const isIdle = {
    message: 'the MoR answered 409',
    errors: [],
    retryAfterMs: null,
    requestId: null,
    replayed: false,
  };
  const notified = settle(applyReply(s, m?.id ?? '', { ...refused, ...isIdle }, at(0)), at(0));
  const [item] = open(notified);
  expect(item).toMatchObject({
    kind: 'effect_failed',
    fact: { code: 'recovery-refused', error: 'no_active_arrangement' },
  });
  expect(linksOf(notified)).toHaveLength(1);
  const choice = { resolution: 'retry', note: null, by: 'anna' } as const;
  const retried = resolveReview(notified, item?.id ?? '', choice, at(1000));
  if (!retried.ok) throw new Error(retried.message);
  const again = settle(retried.state, at(1000));
  const keys = again.calls.filter((x) => x.kind === 'create_payment_link').map((x) => x.key);
  expect(new Set(keys).size).toBe(2);
  expect(again.calls.at(-1)).toMatchObject({ status: 'pending' });
  const left = resolveReview(notified, item?.id ?? '', { ...choice, resolution: 'dismiss' }, at(1000));
  if (!left.ok) throw new Error(left.message);
  expect(linksOf(read(verdict(left.state, 'payment.failed', at(DAY_MS)), at(DAY_MS)))).toHaveLength(1);
});

// What the MoR names a payment on a link by.

type Rig = ReturnType<typeof rig>;

const NO_CHARGE = { paymentLinkId: 'link_1', pspReference: undefined };

const NEITHER = { pspReference: undefined };
const NAMED = [
  ['a charge', { pspReference: 'ch_9' }],
  ['the MoR’s payment id', { pspReference: undefined, paymentId: 'pay_nine' }],
  ['charge and payment id', { pspReference: 'ch_9', paymentId: 'pay_nine' }],
] as const;

/** One payment, announced so; a read shows the link as paid before that, or after it. */
async function paidOnce(names: object, when: string): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  if (when === 'after') r.links.read = away;
  else r.links.pay('link_1');
  await hours(r, 1);
  await r.h.take(captured(r, 'evt_captured', { paymentLinkId: 'link_1', ...names }));
  await hours(r, 1);
  if (when === 'after') isPaid(r);
  await hours(r, 12);
  return r;
}

const named = (...rows: readonly (readonly [string, object])[]) =>
  rows.flatMap(([what, names]) => ['before', 'after'].map((when) => [what, when, names] as const));

it.each(named(...NAMED, ['no id', NEITHER]))(
  'Crossbill books one payment of a paid link if the capture names %s and the read of the link comes %s the capture',
  async (_, when, names) => {
    const r = await paidOnce(names, when);
    expect([(await taken(r)).length, await topics(r)]).toEqual([1, []]);
  },
);

it.each(named(...NAMED))(
  "a paid link's payment.succeeded event and refund open no item if the capture names %s and the read comes %s the capture",
  async (_, when, names) => {
    const r = await paidOnce(names, when);
    await paid(r, 'pay_nine', 'ch_9');
    await givenBack(r, 'pay_nine', 'ch_9');
    await hours(r, 2);
    expect([await taken(r), await mirrors(r), await topics(r)]).toEqual([
      ['ch_9 confirmed'],
      [['done', 'pay_nine']],
      [],
    ]);
  },
);
const ofPayNine = (rig: Rig, id = 'evt_captured'): Promise<unknown> =>
  rig.h.take(captured(rig, id, { ...NO_CHARGE, paymentId: 'pay_nine' }));

it.each(['before', 'after'])(
  'if the refund of a link payment comes %s the read of the link, there is one payment, and Stripe gets the refund',
  async (when) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    await ofPayNine(r);
    if (when === 'before') await givenBack(r, 'pay_nine', 'ch_9');
    isPaid(r);
    await hours(r, 12);
    if (when === 'after') await givenBack(r, 'pay_nine', 'ch_9');
    await hours(r, 3);
    const s = await state(r);
    expect([await taken(r), await mirrors(r), await topics(r)]).toEqual([
      ['ch_9 confirmed'],
      [['done', 'pay_nine']],
      [],
    ]);
    expect(s.entries.map((e) => [e.reason, e.amount.minor]).toSorted()).toEqual([
      ['payment_collected', 1000n],
      ['payment_marked', 1000n],
      ['refund_mirrored', 1000n],
      ['refund_paid', 1000n],
    ]);
  },
);

it("if the MoR's payment id belongs to another invoice, Crossbill books the payment on a link without that id", async () => {
  const r = await withLink(CHARGED_NEXT);
  if (!(r.h.backend.repository instanceof MemoryLaneRepository)) throw new Error('not in memory');
  r.h.backend.repository.namedElsewhere.set('pay_nine', 'in_other');
  r.links.pay('link_1');
  await ofPayNine(r);
  await hours(r, 3);
  expect((await state(r)).payments.filter((p) => p.succeededAt !== null)).toMatchObject([
    { paymentId: null, mark: 'confirmed', amount: 1000n },
  ]);
});

it.each(['before', 'after'])(
  'a payment.succeeded event %s the capture of a payment link belongs to the payment of that capture',
  async (when) => {
    const r = await withLink(CHARGED_NEXT);
    r.links.read = away;
    if (when === 'before') await paid(r, 'pay_nine', 'ch_9');
    await ofPayNine(r);
    if (when === 'after') await paid(r, 'pay_nine', 'ch_9');
    isPaid(r);
    await hours(r, 12);
    const s = await state(r);
    expect([await taken(r), await topics(r), s.entries.map((e) => e.reason)]).toEqual([
      ['ch_9 confirmed'],
      [],
      ['payment_collected', 'payment_marked'],
    ]);
  },
);

it("if Crossbill cannot tell a link payment from a card payment, a refund in the MoR's portal opens a refund_gap item", async () => {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r, 'evt_captured', NO_CHARGE));
  await hours(r, 2);
  await paid(r, 'pay_nine');
  await hours(r, 1);
  expect(await openItems(r)).toMatchObject([{ fact: { code: 'paid-twice', maybeOne: true } }]);
  await givenBack(r, 'pay_nine', 'ch_9');
  await hours(r, 3);
  expect((await openItems(r)).map((x) => x.kind)).toEqual(['refund_gap']);
});
