// A refused renewal: what its invoice remembers, the next step and its time, what stands in its way, and another payment method.
import { expect, it } from '@jest/globals';
import { FACTS } from '../../../../support/builders/item-facts.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { putPayment, putRefund, putObject } from '../../../../support/builders/put-rows.js';
import { awaitsRetry, verdictDueBy } from '../../../../../src/core/books/rules/awaited-verdict.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { type ConfirmedMethod, noteAttemptAsked } from '../../../../../src/shared/domain/retry.js';
import { newRefund } from '../../../../../src/core/refunds/rules/refund.js';
import { orderIfWanted } from '../../../../../src/features/retries/rules/retry.js';
import { decideMeans, decideNext, findObstacle } from '../../../../../src/features/retries/rules/decide-retry.js';
import { applyMethod, applyRefusal } from '../../../../../src/features/retries/rules/refusal.js';
import { anInvoice, aPaymentSucceeded, INVOICE_ID, invoiceEvent } from '../../../../support/builders/events.js';
import { aPaymentEvent, facts, NOW } from '../../../../support/builders/channel-lane.js';
import { announced } from '../../../../support/builders/channel-object.js';
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
  HISTORY,
} from '../../../../support/builders/refused-renewal.js';
import {
  after,
  DAY_MS,
  declined,
  HOUR_MS,
  refused,
  relayed,
  type Rig,
  rig,
  SCHEDULE,
  state,
} from '../../../../support/rigs/retry-rig.js';
import { asCommand, decide, openReview, recordRead } from '../../../../support/rigs/decide.js';

const refuse = (state: LaneState, over: Parameters<typeof aPaymentEvent>[0] = {}, of = ctx()): LaneState =>
  decide(state, of, (l) => applyRefusal(l, aPaymentEvent({ type: 'payment.failed', status: 'failed', ...over })));
const open = recordRead(emptyLane('in_1'), ctx(), facts());

it("Crossbill stores the MoR's time, the time of arrival and the kind of a decline", () => {
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

it("the newest decline by the MoR's clock counts; at equal times a failure counts over a required action", () => {
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

it("after a newer decline Crossbill no longer waits for a retry's verdict, and clears Stripe's request for another attempt; an older decline changes nothing", () => {
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

it("Crossbill stores Stripe's latest request for another attempt only after a decline", () => {
  const asked = noteAttemptAsked(HISTORY, at(7));
  expect(asked?.askedAt).toBe(at(7).toISOString());
  expect(noteAttemptAsked(asked, at(6))).toBe(asked);
  expect(noteAttemptAsked(null, NOW)).toBeNull();
});

it('the MoR has one day for the verdict on a retry, and ten days for a bank debit', () => {
  const i = lane().invoice ?? never();
  expect(verdictDueBy(i, ctx())).toEqual(at(24 * HOUR_MS));
  expect(verdictDueBy({ ...i, paysByDebit: true }, ctx())).toEqual(at(10 * DAY_MS));
  const waits = lane({ waitingSince: NOW.toISOString() });
  expect([awaitsRetry(waits), awaitsRetry(lane())]).toEqual([true, false]);
  expect(awaitsRetry(putPayment(waits, payment({ mark: 'waiting' })))).toBe(false);
  expect(awaitsRetry(putPayment(waits, payment()))).toBe(true);
});

it('each kind of decline has its own first step in the retry schedule, counted from the arrival of the decline', () => {
  expect(decideNext(lane(), ctx())).toEqual({ do: 'retry', means: 'charge', at: at(3 * DAY_MS) });
  expect(decideNext(lane({ refusal: hard }), ctx())).toEqual({ do: 'retry', means: 'link', at: NOW });
  const confirm = { ...HISTORY.refusal, kind: 'authentication' } as const;
  expect(decideNext(lane({ refusal: confirm }), ctx())).toEqual({ do: 'retry', means: 'link', at: NOW });
});

it('the next step of a retry schedule counts from the last charge or decline, and skips withdrawn retries', () => {
  const once = lane({ retries: [retried()] });
  expect(decideNext(once, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(8 * DAY_MS) });
  const withdrawn = lane({ retries: [retried({ withdrawn: true })] });
  expect(decideNext(withdrawn, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(3 * DAY_MS) });
  const ofAnotherKind = lane({ retries: [retried({ kind: 'hard' })] });
  expect(decideNext(ofAnotherKind, ctx())).toEqual({ do: 'retry', means: 'charge', at: at(6 * DAY_MS) });
  const heardLater = { ...HISTORY.refusal, heardAt: at(4 * DAY_MS).toISOString() };
  expect(decideNext(lane({ retries: [retried()], refusal: heardLater }), ctx())).toMatchObject({
    at: at(9 * DAY_MS),
  });
});

it('the next step of a retry schedule waits until the payment link expires, unless the link was refused or replaced', () => {
  const link = (over: object) =>
    putObject(lane({ retries: [retried({ means: 'link', ref: 'lnk_1' })] }), object('payment_link', over));
  const ended = { status: 'EXPIRED', deadline: at(7 * DAY_MS) };
  expect(decideNext(link(ended), ctx(8 * DAY_MS))).toEqual({ do: 'retry', means: 'charge', at: at(12 * DAY_MS) });
  expect(decideNext(link({ ...ended, deadline: null, updatedAt: at(DAY_MS) }), ctx())).toMatchObject({
    at: at(6 * DAY_MS),
  });
  expect(decideNext(link({ ...ended, status: 'REPLACED' }), ctx())).toMatchObject({ at: at(3 * DAY_MS) });
  expect(decideNext(link({ ...ended, status: 'REFUSED' }), ctx())).toMatchObject({ at: at(5 * DAY_MS) });
  expect(decideNext(link({ ...ended, readDueAt: at(8 * DAY_MS) }), ctx(8 * DAY_MS))).toEqual({ do: 'idle' });
  expect(decideNext(link({ ...ended, kind: 'dispute', readDueAt: NOW }), ctx()).do).toBe('retry');
});

it('the next step of a retry schedule ignores replaced links, proforma invoices and closed review items', () => {
  const tried = lane({ retries: [retried()] });
  const replaced = object('payment_link', { id: 'lnk_9', status: 'REPLACED', deadline: at(9 * DAY_MS) });
  expect(decideNext(putObject(tried, replaced), ctx())).toMatchObject({ at: at(8 * DAY_MS) });
  const transfer = object('proforma', { status: 'CANCELLED', deadline: at(9 * DAY_MS), updatedAt: at(9 * DAY_MS) });
  expect(decideNext(putObject(tried, transfer), ctx())).toMatchObject({ at: at(8 * DAY_MS) });
  const item = { kind: 'amount_mismatch', subject: 'x', fact: FACTS.amount_mismatch } as const;
  const asked = openReview(lane(), ctx(), item);
  const closed: LaneState = { ...asked, reviews: asked.reviews.map((r) => ({ ...r, status: 'resolved' })) };
  expect(decideNext(closed, ctx())).toMatchObject({ do: 'retry', means: 'charge' });
});

it("Stripe's request for another attempt brings the next step forward, at the earliest half a day after the last charge or decline", () => {
  const asked = (ms: number) => decideNext(lane({ askedAt: at(ms).toISOString() }), ctx());
  expect(asked(12 * HOUR_MS)).toMatchObject({ at: at(12 * HOUR_MS) });
  expect(asked(12 * HOUR_MS - 1)).toMatchObject({ at: at(3 * DAY_MS) });
  expect(asked(4 * DAY_MS)).toMatchObject({ at: at(3 * DAY_MS) });
});

it('after its last step a retry schedule ends as the settings say; without relay and links the schedule does nothing', () => {
  const all = { retries: [1, 2, 3].map((number) => retried({ number })) };
  expect(decideNext(lane(all), ctx())).toEqual({ do: 'end', how: 'nothing', at: at(3 * DAY_MS) });
  const cancel = ctx(0, { retrySchedule: { ...SCHEDULE, end: 'cancel' } });
  expect(decideNext(lane(all), cancel)).toMatchObject({ do: 'end', how: 'cancel' });
  const noWay = ctx(0, { relay: null, recoveryLinks: null });
  expect(decideNext(lane(), noWay)).toEqual({ do: 'idle' }); // a person is told why when they ask
});

it("a payment link waits until Stripe finalizes the draft; a charge and the schedule's end do not wait", () => {
  const draft = lane({ refusal: hard }, { status: 'draft', finalizesAt: at(HOUR_MS) });
  expect(decideNext(draft, ctx())).toMatchObject({ means: 'link', at: at(HOUR_MS + 60_000) });
  const charge = lane({}, { status: 'draft', finalizesAt: at(9 * DAY_MS) });
  expect(decideNext(charge, ctx())).toMatchObject({ means: 'charge', at: at(3 * DAY_MS) });
  const soon = lane(
    { retries: [1, 2, 3].map((number) => retried({ number })) },
    { status: 'draft', finalizesAt: at(HOUR_MS) },
  );
  expect(decideNext(soon, ctx())).toMatchObject({ do: 'end', at: at(3 * DAY_MS) });
});

it.each([
  ['there is no schedule', lane(), { retrySchedule: null }],
  ['shadow mode is on', lane(), { sendsNothing: true }],
  ['no charge was declined', recordRead(emptyLane('in_1'), ctx(), facts()), {}],
  ['the invoice is unknown', emptyLane('in_1'), {}],
  ['the schedule is over', lane({ ended: { at: NOW.toISOString(), how: 'nothing', why: null } }), {}],
  ['the last retry waits for its verdict', lane({ waitingSince: NOW.toISOString() }), {}],
  [
    'a review item is open',
    openReview(lane(), ctx(), { kind: 'amount_mismatch', subject: 'x', fact: FACTS.amount_mismatch }),
    {},
  ],
  ['the invoice is paid', lane({}, { status: 'paid' }), {}],
])('the retry schedule does nothing while %s', (_, s, over) => {
  expect(decideNext(s, ctx(0, over))).toEqual({ do: 'idle' });
});
/** An overdue renewal without any verdict. */
const unnotified = (row: Partial<InvoiceRow> = {}): LaneState => {
  const s = recordRead(emptyLane('in_1'), ctx(), facts());
  return { ...s, invoice: { ...(s.invoice ?? never()), expectedBy: at(-1), paysByDebit: false, ...row } };
};
const why = (state: LaneState, of = ctx()): string | null => findObstacle(state, of);

it('Crossbill allows a retry of a declined renewal only after the call of the earlier retry is done', () => {
  expect(why(lane())).toBeNull();
  expect(why(putPayment(lane(), payment({ mark: 'none' })))).toBeNull();
  const sent = ordered();
  const answered = sent.calls.map((m) => ({ ...m, status: 'done' as const }));
  expect(why({ ...lane(), calls: answered })).toBeNull();
  expect(why({ ...lane(), calls: sent.calls.map((m) => ({ ...m, kind: 'relay_event' as const })) })).toBeNull();
});

it.each([
  ['the invoice is paid.', () => lane({}, { status: 'paid' })],
  ['the invoice is void.', () => lane({}, { status: 'void' })],
  ['the invoice is deleted.', () => recordRead(lane(), ctx(), null)],
  ['the invoice is marked uncollectible on Stripe.', () => lane({}, { status: 'uncollectible' })],
  ['it is the first invoice of a subscription', () => lane({}, { billingReason: 'subscription_create' })],
  ['payment pay_1 has not failed, so its money may', () => putPayment(lane(), payment({ mark: 'proving' }))],
  ['payment pmt_1 has not failed', () => putPayment(lane(), payment({ mark: 'proving', paymentId: null }))],
  [
    'the MoR already took money for it (payment pay_1).',
    () => putPayment(lane(), payment({ mark: 'parked', succeededAt: NOW })),
  ],
  [
    'money was given back for it',
    () => putRefund(lane(), newRefund(ctx(), payment(), { amount: 1n, reason: null, origin: 'event' })),
  ],
  ['the MoR has reported no failed charge of it.', () => recordRead(emptyLane('in_1'), ctx(), facts())],
  ['it is not final yet', () => recordRead(emptyLane('in_1'), ctx(), facts({ status: 'draft' }))],
  ['Crossbill expects its first answer by 2026-11-21', () => unnotified({ expectedBy: at(DAY_MS) })],
  ['Crossbill is finding out whether the customer pays by bank debit', () => unnotified({ paysByDebit: null })],
  ['it needs MOR_RELAY_URL and an invoice without a part payment', () => unnotified({ amountRemaining: 1n })],
  ['the MoR has reported no failed charge of it.', () => emptyLane('in_1')],
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
  ['a proforma invoice for it is open', () => putObject(lane(), object('proforma', { status: 'ISSUED' }))],
])('Crossbill refuses a retry because %s', (words, s) => {
  expect(why(s())).toContain(words);
});

it('a retry without a verdict prevents another retry until the verdict is overdue', () => {
  const waits = lane({ waitingSince: NOW.toISOString() }, {}, { expectedBy: at(DAY_MS) });
  expect(why(waits)).toContain('Crossbill has waited for the answer since 2026-11-20');
  expect(why(waits, ctx(DAY_MS))).toBeNull();
  expect(why(lane({ waitingSince: NOW.toISOString() }))).toBeNull();
  expect(why(lane({}, {}, { expectedBy: at(DAY_MS) }))).toBeNull();
});

it('without relay and links, or for a partly paid invoice without links, Crossbill refuses a retry', () => {
  const bare = { relay: null, recoveryLinks: null };
  expect(why(lane(), ctx(0, bare))).toContain('no way is set up. For charges, set MOR_RELAY_URL');
  const part = lane({}, { amountRemaining: 1n });
  expect(why(part, ctx(0, { recoveryLinks: null }))).toContain(
    'a part of it is paid, and the MoR charges whole invoices',
  );
  expect(why(part)).toBeNull(); // by a link
});
it('a retry is a charge or a payment link as the schedule says, or the other kind if the scheduled kind is not set up', () => {
  const charge = ctx(0, { recoveryLinks: null });
  const link = ctx(0, { relay: null });
  expect([decideMeans(lane(), ctx()), decideMeans(lane(), link)]).toEqual(['charge', 'link']);
  expect([decideMeans(lane({ refusal: hard }), ctx()), decideMeans(lane({ refusal: hard }), charge)]).toEqual([
    'link',
    'charge',
  ]);
  expect(decideMeans(lane(), ctx(0, { relay: null, recoveryLinks: null }))).toBeNull();
  expect(decideMeans(lane({}, { amountRemaining: 1n }), ctx())).toBe('link');
  expect(decideMeans(lane({}, {}, { amountRemaining: null }), ctx())).toBe('charge');
  expect(decideMeans(emptyLane('in_1'), ctx())).toBeNull();
});

it("without a retry schedule an operator's retry charges again after a soft decline, and makes a link after a hard one", () => {
  const none = ctx(0, { retrySchedule: null });
  expect([decideMeans(lane(), none), decideMeans(lane({ refusal: hard }), none)]).toEqual(['charge', 'link']);
  const used = lane({ refusal: hard, retries: [retried({ kind: 'hard', means: 'link' })] });
  expect(decideMeans(used, ctx())).toBe('link');
});

const method = (ms: number, over: Partial<ConfirmedMethod> = {}): ConfirmedMethod => ({
  ...{ id: 'met_1', at: at(ms).toISOString(), by: 'shop', ...over },
});

function notified(state: LaneState, confirmedMethod: ConfirmedMethod, ms = 0): LaneState {
  return decide(state, ctx(ms), (l) => void applyMethod(l, confirmedMethod));
}

async function confirm(rig: Rig, over: Partial<ConfirmedMethod> = {}): Promise<void> {
  rig.h.clock.advance(1_000);
  const command = asCommand((l) => applyMethod(l, { id: 'met_1', at: l.now.toISOString(), by: 'shop', ...over }));
  await rig.h.command(INVOICE_ID, command);
  await rig.h.drain();
}

it('a confirmed payment method leads immediately to one charge, after any decline and with any schedule', async () => {
  for (const retrySchedule of [{ ...SCHEDULE, hard: [] }, null]) {
    const r = rig({ recoveryLinks: null, retrySchedule });
    await refused(r, 'stolen_card');
    expect(relayed(r)).toHaveLength(0);
    await confirm(r);
    expect(relayed(r)).toHaveLength(1);
    expect((await state(r)).invoice?.retries?.retries).toMatchObject([
      { means: 'charge', by: 'shop', method: 'met_1' },
    ]);
  }
});

it('a confirmed payment method leads to one charge, even if its confirmation comes twice and the bank declines the charge', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r, 'expired_card');
  await confirm(r);
  await confirm(r, { at: at(-1).toISOString() });
  await r.h.take(declined(r, 'insufficient_funds'));
  await r.h.idle(48);
  expect(relayed(r)).toHaveLength(1);
  await confirm(r, { id: 'met_2' });
  expect(relayed(r)).toHaveLength(2);
});

it('with an unpaid payment link, Crossbill reads the link again before the MoR charges a confirmed payment method', async () => {
  const r = rig({ retrySchedule: null });
  await refused(r, 'expired_card');
  await r.h.drain();
  expect((await state(r)).objects).toMatchObject([{ kind: 'payment_link', status: 'PAYABLE' }]);
  const reads = r.links.reads;
  await confirm(r);
  expect(r.links.reads).toBeGreaterThan(reads);
  expect(relayed(r)).toHaveLength(1);
});

it('without a relay a confirmed payment method leads to one payment link', async () => {
  const r = rig({ relay: null, retrySchedule: null });
  r.h.platform.change(INVOICE_ID, { status: 'open' });
  await refused(r, 'expired_card');
  await confirm(r);
  await after(r, 3_600_000);
  expect((await state(r)).objects.filter((o) => o.kind === 'payment_link')).toHaveLength(1);
});

it('a confirmed payment method of an invoice that is paid on Stripe leads to no charge', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r, 'expired_card');
  r.h.platform.payAnotherWay(INVOICE_ID);
  await confirm(r);
  expect(relayed(r)).toHaveLength(0);
});

it('the MoR gets a charge request for a newly confirmed payment method only after the old method is declined', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await r.h.take(invoiceEvent('invoice.finalized'));
  await confirm(r);
  expect(relayed(r)).toHaveLength(0);
  await r.h.take(declined(r, 'expired_card'));
  expect(relayed(r)).toHaveLength(1);
});

const refusal = hard;

it("a confirmed payment method is charged now, even after the schedule's end, unless a newer charge went out", () => {
  const ended = { at: at(1_000).toISOString(), how: 'nothing', why: null } as const;
  expect(decideNext(notified(lane({ refusal, ended }), method(2_000)), ctx(3_000))).toMatchObject({
    ...{ do: 'retry', means: 'charge', at: at(2_000), method: { id: 'met_1' } },
  });
  const since = lane({ refusal, retries: [retried({ at: at(2_500).toISOString(), kind: 'hard' })] });
  expect(decideNext(notified(since, method(2_000)), ctx(3_000))).not.toHaveProperty('method');
  const back = lane({ refusal, retries: [retried({ at: at(2_500).toISOString(), withdrawn: true })] });
  expect(decideNext(notified(back, method(2_000)), ctx(3_000))).toHaveProperty('method');
});

it('without relay and links, the timeline names the settings missing for a charge of the confirmed payment method', () => {
  const noWay = ctx(1_000, { relay: null, recoveryLinks: null });
  const line = (ctx: typeof noWay): string =>
    decide(lane({ refusal }), ctx, (l) => void applyMethod(l, method(1_000))).journal.at(-1)?.text ?? '';
  expect(line(noWay)).toMatch(/MOR_RELAY_URL.*RECOVERY_LINK_RETURN_URL/);
  expect(line(ctx(1_000))).toContain('shop');
  expect(line(ctx(1_000))).not.toContain('MOR_RELAY_URL');
});

const s = lane({ refusal });
const blocks: readonly [string, LaneState, Parameters<typeof ctx>[1]?][] = [
  ['shadow mode', s, { sendsNothing: true }],
  ['a charge that the MoR has not answered', lane({ refusal, waitingSince: at(0).toISOString() })],
  [
    'an open review item',
    openReview(s, ctx(), { kind: 'conflicting_event', subject: 'x', fact: FACTS.conflicting_event }),
  ],
  ['a capture on a link', putObject(s, payable({ detail: { observed: [announced()] } }))],
  ['an unpaid proforma invoice', putObject(s, object('proforma', { status: 'OUTSTANDING', morId: 'pf_1' }))],
  [
    'a link whose last read failed',
    putObject(s, payable({ detail: { silent: { since: at(0).toISOString(), answer: '503', passes: true } } })),
  ],
  ['a link without an id from the MoR', putObject(s, payable({ status: 'REQUESTED', morId: null }))],
  ['an invoice that is void', lane({ refusal }, { status: 'void' })],
  ['an invoice that is marked uncollectible', lane({ refusal }, { status: 'uncollectible' })],
];
it.each(blocks)('a confirmed payment method waits because of %s', (_, blocked, over = {}) => {
  const row = blocked.invoice;
  if (row === null) throw new Error('the lane has an invoice');
  const known = { ...blocked, invoice: { ...row, method: method(1_000) } };
  expect(decideNext(known, ctx(2_000, over))).toEqual({ do: 'idle' });
});

it('a confirmed payment method leads to no charge after the subscription has ended', () => {
  const ended = shown({ subscriptionStatus: 'canceled' });
  const over = decide(notified(s, method(1_000)), ctx(2_000), (l) => orderIfWanted(l, ended));
  expect(over.calls).toEqual([]);
  expect(decideNext(over, ctx(3_000))).toEqual({ do: 'idle' });
});

it('a paid invoice keeps no confirmed payment method', () => {
  const taken = putPayment(s, payment({ mark: 'waiting', succeededAt: at(0) }));
  for (const one of [taken, lane({ refusal }, { status: 'paid' })]) expect(notified(one, method(1_000))).toBe(one);
});

function payable(over: object = {}) {
  return newMorObject(at(0), {
    id: 'lnk_1',
    kind: 'payment_link',
    invoiceId: 'in_1',
    status: 'PAYABLE',
    morId: 'pl_1',
    ...over,
  });
}

it('Crossbill marks the invoice paid if the MoR charges the confirmed payment method', async () => {
  const r = rig({ retrySchedule: null, recoveryLinks: null });
  await refused(r, 'expired_card');
  await confirm(r);
  await r.h.take(
    aPaymentSucceeded({ paymentId: 'pay_new', at: r.h.clock.now(), amount: Number(anInvoice().amountDue) }),
  );
  expect((await state(r)).invoice).toMatchObject({ status: 'paid' });
});
