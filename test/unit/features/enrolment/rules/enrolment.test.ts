// Whose invoices are ours: the rule for each way of enrolling, in every order of the news, and a customer whom Stripe does not show.
import { expect, it } from '@jest/globals';
import { parseInvoice } from '../../../../../src/shared/domain/events/stripe-event.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { type InvoiceEvent } from '../../../../../src/engine/event.js';
import { type CallRow } from '../../../../../src/shared/domain/call-row.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome } from '../../../../../src/shared/domain/ports/call.js';
import { type Enrolment, type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { type Enrolled, enrolmentStatus } from '../../../../../src/shared/domain/enrolment.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { enrolment } from '../../../../../src/features/enrolment/subject.js';
import {
  enrolmentLookup,
  fromBooks,
  fromPlatform,
  applyEnrolment,
} from '../../../../../src/features/enrolment/rules/enrolment.js';
import { LINK_REACHES_BACK_MS } from '../../../../../src/features/enrolment/rules/limits.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { FACTS } from '../../../../support/builders/item-facts.js';
import { never } from '../../../../support/never.js';
import { ordered } from '../../../../support/builders/refused-renewal.js';
import { aCtx, aPaymentEvent, facts, NOW, open, paidByCard } from '../../../../support/builders/channel-lane.js';
import { plan, settle } from '../../../../support/builders/settled.js';
import { openReview, decide, recordRead, applyEvent } from '../../../../support/rigs/decide.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LINKED: Enrolment = { by: 'linked' };
const METADATA: Enrolment = { by: 'metadata', key: 'billed_by', value: 'mor' };

const later = (ms: number, over: Partial<DecisionSettings> = {}): Ctx =>
  aCtx(new Date(NOW.getTime() + ms), { enrolment: LINKED, relay: 'created', ...over });
const reply = (value: Enrolled): CallOutcome<Enrolled> => ({ ok: true, value, status: 200, requestId: null });
const OUTSIDE = reply({
  enrolled: false,
  why: 'customer cus_1 is linked to no customer of the MoR (ENROLMENT=linked)',
});
const ENROLLED = reply({ enrolled: true });
const REFUSED: CallOutcome<Enrolled> = {
  ok: false,
  kind: 'stopped',
  status: 403,
  code: 'permission',
  message: 'no right to read customers',
  errors: [],
  retryAfterMs: null,
  requestId: null,
  replayed: false,
};

function said(type: string, over: Partial<InvoiceFacts> = {}, atMs = 0): (state: LaneState, ctx: Ctx) => LaneState {
  const status = type === 'invoice.created' ? 'draft' : type === 'invoice.paid' ? 'paid' : 'open';
  const event: InvoiceEvent = {
    family: 'invoice',
    eventId: `evt_${type}`,
    type,
    at: new Date(NOW.getTime() + atMs),
    facts: facts({ status, collectionMethod: 'charge_automatically', ...over }),
    raw: '{}',
  };
  return (s, ctx) => settle(applyEvent(s, event, ctx).state, ctx);
}

const looked =
  (outcome: CallOutcome<Enrolled>) =>
  (s: LaneState, ctx: Ctx): LaneState =>
    settle(
      decide(s, ctx, (l) => applyEnrolment(l, outcome)),
      ctx,
    );

const SUCCEEDED = aPaymentEvent();

const created = (ctx = later(0)): LaneState => said('invoice.created')(emptyLane('in_1'), ctx);
const relayOf = (state: LaneState): string[] => state.calls.flatMap((m) => (m.kind === 'relay_event' ? m.status : []));

const outside = looked(OUTSIDE)(created(), later(0));

it('Crossbill ignores an invoice outside ENROLMENT: no expected payment, no review item and no second read', () => {
  expect(outside.invoice).toMatchObject({ status: 'ignored', enrolled: false, expectedBy: null });
  expect(plan(outside, later(400 * DAY_MS))).toMatchObject({ request: null, dueAt: null });
  expect(settle(outside, later(400 * DAY_MS)).reviews).toEqual([]);
  expect(outside.journal.map((l) => l.text).join()).toContain('not enrolled: customer cus_1 is linked to no customer');
});

it("Crossbill relays an invoice's event only after the enrolment lookup, and never for a customer outside ENROLMENT", () => {
  expect(relayOf(created())).toEqual(['pending']);
  expect(plan(created(), later(0)).request).toMatchObject({ name: 'look-up-enrolment' });
  expect(relayOf(outside)).toEqual(['cancelled']);
});

it('an invoice outside ENROLMENT opens no review item, whatever Stripe reports about the invoice', () => {
  for (const [type, over] of [
    ['invoice.finalization_failed', { status: 'draft', finalizationError: 'no location' }],
    ['invoice.payment_failed', {}],
    ['invoice.overpaid', { status: 'paid', amountPaid: 3990n, amountRemaining: 0n, amountOverpaid: 1000n }],
    ['invoice.marked_uncollectible', { status: 'uncollectible' }],
    ['invoice.paid', { status: 'paid', amountPaid: 2990n, amountRemaining: 0n }],
  ] as const) {
    const s = said(type, over, 60_000)(outside, later(60_000));
    expect([s.invoice?.status, s.reviews, plan(s, later(90 * DAY_MS)).request]).toEqual(['ignored', [], null]);
  }
});

it('Crossbill marks an invoice outside ENROLMENT if the MoR reports a payment for it', () => {
  const ctx = later(60_000);
  const s = settle(applyEvent(said('invoice.finalized')(outside, ctx), SUCCEEDED, ctx).state, ctx);
  expect(s.invoice?.status).toBe('marking');
  expect(plan(s, ctx).request).toMatchObject({ name: 'read-invoice' });
  expect(s.entries.map((e) => e.reason)).toContain('payment_collected');
});

it('an invoice outside ENROLMENT ends the same in every order of its events and the enrolment lookup', () => {
  const news = [
    said('invoice.created'),
    said('invoice.finalized', {}, 1_000),
    said('invoice.paid', {}, 2_000),
    looked(OUTSIDE),
  ];
  for (const order of permutations(news)) {
    const s = order.reduce((state, take) => take(state, later(5_000)), emptyLane('in_1'));
    const ended = looked(OUTSIDE)(s, later(6_000)); // a look before the invoice is known finds nothing to decide
    expect([ended.invoice?.status, ended.invoice?.enrolled, ended.reviews]).toEqual(['ignored', false, []]);
    expect(relayOf(ended).filter((status) => status !== 'cancelled')).toEqual([]);
  }
});

it('as soon as the lookup finds the customer enrolled, Crossbill expects a payment and relays the event', () => {
  const s = looked(ENROLLED)(created(), later(0));
  expect(s.invoice).toMatchObject({
    status: 'expected',
    enrolled: true,
    expectedBy: new Date(NOW.getTime() + DAY_MS),
  });
  expect(plan(s, later(0)).request).toMatchObject({ do: 'send', call: { kind: 'relay_event' } });
});

it('a later change of ENROLMENT changes no invoice that was already decided', () => {
  const ours = looked(ENROLLED)(created(), later(0));
  const none = looked(OUTSIDE)(created(), later(0));
  const all = later(60_000, { enrolment: { by: 'all' } });
  expect(said('invoice.finalized', {}, 60_000)(none, all).invoice).toMatchObject({
    status: 'ignored',
    expectedBy: null,
  });
  expect(plan(ours, later(60_000, { enrolment: METADATA, relay: null })).request).toMatchObject({ do: 'send' });
});

it("the metadata of a subscription enrols an invoice without a lookup, in both invoice shapes of Stripe's API", () => {
  const ctx = later(0, { enrolment: METADATA });
  const s = said('invoice.created', { metadata: { billed_by: 'mor' } })(emptyLane('in_1'), ctx);
  expect(s.invoice).toMatchObject({ enrolled: true, status: 'expected' });
  expect(
    plan(said('invoice.created', { metadata: { billed_by: 'stripe' } })(emptyLane('in_1'), ctx), ctx).request,
  ).toMatchObject({
    name: 'look-up-enrolment',
  });
  const details = { subscription: 'sub_1', metadata: { billed_by: 'mor', n: 1 } };
  const plain = { id: 'in_1', customer: 'cus_1', status: 'open', currency: 'eur', amount_due: 1 };
  for (const shape of [{ parent: { subscription_details: details } }, { subscription_details: details }]) {
    const parsed = parseInvoice({ ...plain, ...shape });
    expect(parsed).toMatchObject({ ok: true, invoice: { metadata: { billed_by: 'mor' } } });
  }
});

it('with the default ENROLMENT, Crossbill expects a payment and relays the event without a lookup', () => {
  const ctx = aCtx(NOW, { relay: 'created' });
  const s = said('invoice.created')(emptyLane('in_1'), ctx);
  expect(s.invoice).toMatchObject({ enrolled: null, status: 'expected' });
  expect(plan(s, ctx).request).toMatchObject({ do: 'send', call: { kind: 'relay_event' } });
});

it('Crossbill repeats a failed enrolment lookup, and opens a review item after an hour', () => {
  const failed = looked(REFUSED)(created(), later(0));
  const { request, dueAt } = plan(failed, later(0));
  expect(request).toBeNull();
  expect(dueAt?.getTime()).toBeGreaterThanOrEqual(NOW.getTime() + 60_000);
  expect(plan(failed, later(2 * 60_000)).request).toMatchObject({ name: 'look-up-enrolment' });
  const late = looked(REFUSED)(failed, later(HOUR_MS));
  expect(open(late)).toMatchObject([
    {
      kind: 'effect_failed',
      fact: { code: 'enrolment-unread', customer: 'cus_1' },
    },
  ]);
  expect(relayOf(late)).toEqual(['pending']);
  expect(open(looked(ENROLLED)(late, later(2 * HOUR_MS)))).toEqual([]);
});

const manual = (over: Partial<InvoiceFacts>): LaneState =>
  said('invoice.finalized', { billingReason: 'manual', ...over })(emptyLane('in_1'), aCtx());

it("a mailed invoice has no deadline for the MoR's verdict; an automatically charged invoice has such a deadline", () => {
  const cheque = manual({ collectionMethod: 'send_invoice' });
  expect(cheque.invoice).toMatchObject({ status: 'expected', expectedBy: null });
  expect(settle(cheque, aCtx(new Date(NOW.getTime() + 60 * DAY_MS))).reviews).toEqual([]);
  expect(manual({ collectionMethod: 'charge_automatically' }).invoice?.expectedBy).not.toBeNull();
});

const invoice = { customerId: 'cus_1', createdAt: NOW };
const linked = (days: number) => ({ linkedAt: new Date(NOW.getTime() + days * DAY_MS), paid: false });

it("with ENROLMENT=linked, a customer's link to the MoR enrols the customer's invoices from three days before the link on", () => {
  expect(fromBooks(invoice, linked(-400), LINKED)).toEqual({ enrolled: true });
  expect(fromBooks(invoice, linked(2), LINKED)).toEqual({ enrolled: true });
  expect(fromBooks(invoice, linked(10), LINKED)).toMatchObject({
    enrolled: false,
    why: expect.stringContaining('older'),
  });
  expect(fromBooks(invoice, { linkedAt: null, paid: false }, LINKED)).toMatchObject({ enrolled: false });
});

it('a payment enrols its customer under every ENROLMENT rule', () => {
  for (const rule of [LINKED, METADATA]) {
    expect(fromBooks(invoice, { linkedAt: null, paid: true }, rule)).toEqual({ enrolled: true });
  }
});

it("with ENROLMENT by metadata, a customer's link to the MoR enrols no invoice; only the exact metadata value on Stripe enrols an invoice", () => {
  expect(fromBooks(invoice, linked(-1), METADATA)).toBeNull();
  expect(fromPlatform('cus_1', { billed_by: 'mor' }, METADATA)).toEqual({ enrolled: true });
  for (const metadata of [{ billed_by: 'Mor' }, {}, null]) {
    expect(fromPlatform('cus_1', metadata, METADATA)).toMatchObject({
      enrolled: false,
      why: 'neither its subscription nor customer cus_1 has billed_by=mor (ENROLMENT)',
    });
  }
});

const i: InvoiceRow = recordRead(emptyLane('in_1'), later(0), facts()).invoice ?? never();
const take = (state: LaneState, outcome: CallOutcome<Enrolled>): LaneState =>
  decide(state, later(0), (l) => applyEnrolment(l, outcome));
const status = (state: LaneState, ctx = later(0)): string => enrolmentStatus({ ...state, settings: ctx.settings });
const bare: LaneState = { ...emptyLane('in_1'), invoice: { ...i, enrolled: null, expectedBy: null } };

it("an invoice counts as enrolled with a positive lookup, a deadline for the MoR's verdict, a payment or a payment link", () => {
  expect([status(emptyLane('in_1')), status(bare)]).toEqual(['unknown', 'unknown']);
  expect(status({ ...bare, invoice: { ...i, expectedBy: NOW } })).toBe('enrolled');
  expect(status({ ...bare, invoice: { ...i, enrolled: true } })).toBe('enrolled');
  expect(status({ ...bare, invoice: { ...i, enrolled: false } })).toBe('outside');
  expect(status({ ...bare, payments: [paidByCard().payments[0] ?? never()] })).toBe('enrolled');
  const link = newMorObject(NOW, { id: 'lnk_1', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
  expect(status({ ...bare, objects: [link] })).toBe('enrolled');
  expect(status(bare, later(0, { enrolment: { by: 'all' } }))).toBe('enrolled');
});

it('the metadata of an invoice enrols the invoice only if ENROLMENT goes by metadata', () => {
  const metadata = { billed_by: 'mor' };
  const heard = (ctx: Ctx) => said('invoice.finalized', { metadata })(emptyLane('in_1'), ctx).invoice?.enrolled;
  expect([heard(later(0, { enrolment: METADATA })), heard(later(0))]).toEqual([true, null]);
});

it('ENROLMENT=all enrols every invoice; with ENROLMENT=linked, an invoice exactly three days older than the link is enrolled', () => {
  const nobody = { linkedAt: null, paid: false };
  expect(fromBooks({ customerId: 'cus_1', createdAt: NOW }, nobody, { by: 'all' })).toEqual({ enrolled: true });
  const week = { linkedAt: new Date(NOW.getTime() + LINK_REACHES_BACK_MS), paid: false };
  expect(fromBooks({ customerId: 'cus_1', createdAt: NOW }, week, LINKED)).toEqual({ enrolled: true });
  expect(fromBooks({ customerId: 'cus_1', createdAt: null }, week, LINKED)).toEqual({ enrolled: true });
});

it('Crossbill looks up no enrolment for a signup, for an invoice not yet read from Stripe or for an invoice without a customer', () => {
  const read = (over: Partial<InvoiceRow>) =>
    enrolmentLookup.wanted(new Lane({ ...bare, invoice: { ...i, ...over } }, later(0)));
  expect(read({})).toMatchObject({ customerId: 'cus_1', invoiceId: 'in_1' });
  expect(read({ platformStatus: 'unknown' })).toBeNull();
  expect(read({ billingReason: 'subscription_create' })).toBeNull();
  expect(read({ customerId: null })).toBeNull();
});

it('a later enrolment lookup does not change a decided invoice', () => {
  const known: LaneState = { ...bare, invoice: { ...i, enrolled: true } };
  expect(take(known, ENROLLED)).toBe(known);
  const nothing = emptyLane('in_1');
  expect(take(nothing, ENROLLED)).toBe(nothing);
});

it('the timeline shows the first three failed enrolment lookups, and a refused lookup waits a minute', () => {
  const again = (count: number, kind: CallFailure['kind']) => {
    const s: LaneState = { ...bare, invoice: { ...i, lookAttempts: count } };
    const tried = take(s, refusal({ kind }));
    return { tried, ms: (tried.invoice?.lookDueAt?.getTime() ?? 0) - NOW.getTime() };
  };
  expect([0, 1, 2, 3, 4].map((n) => again(n, 'retry').tried.journal.length)).toEqual([1, 1, 1, 0, 0]);
  expect(again(2, 'retry').tried.invoice?.lookAttempts).toBe(3);
  expect([again(0, 'stopped').ms, again(0, 'refused').ms]).toEqual([60_000, 60_000]);
  expect(again(0, 'retry').ms).toBeLessThan(2_000);
});

it('an enrolment unknown for an hour opens a review item; for a customer outside ENROLMENT Crossbill withdraws only the relay', () => {
  const polls: (Date | null)[] = [];
  const settled = (state: LaneState, ctx: Ctx): LaneState => {
    const l = new Lane(state, ctx, (when) => void polls.push(when));
    for (const rule of enrolment.before) rule(l);
    return l.toState();
  };
  const waits: LaneState = { ...bare, invoice: { ...i, enrolled: null, expectedBy: null, lookDueAt: NOW } };
  expect(settled(waits, later(HOUR_MS - 1))).toBe(waits);
  expect(polls).toEqual([new Date(NOW.getTime() + HOUR_MS)]);
  const item = settled(waits, later(HOUR_MS));
  expect(open(item)).toMatchObject([{ kind: 'effect_failed', subject: 'enrolment:in_1' }]);
  const other = openReview(item, later(0), { kind: 'effect_failed', subject: 'x', fact: FACTS.effect_failed });
  const cleared = settled({ ...other, invoice: { ...i, enrolled: true, lookDueAt: NOW } }, later(HOUR_MS));
  expect(open(cleared).map((r) => r.subject)).toEqual(['x']);
  const relay: CallRow = { ...(ordered().calls[0] ?? never()), kind: 'relay_event' };
  const calls = [
    relay,
    { ...relay, id: 'out_2', status: 'done' as const },
    { ...relay, id: 'out_3', kind: 'retry_charge' as const },
  ];
  const out = settled({ ...bare, calls, invoice: { ...i, enrolled: false } }, later(0));
  expect(out.calls.map((m) => m.status)).toEqual(['cancelled', 'done', 'pending']);
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((remaining) => [item, ...remaining]));
}
