// What the MoR answers about a payment link, what a paid one is worth, and when a link that stands is a danger.
import { expect, it } from '@jest/globals';
import { aKind, FACTS } from '../../../../support/builders/item-facts.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { type MorObjectRow } from '../../../../../src/shared/domain/mor-object.js';
import { type LinkFacts } from '../../../../../src/shared/domain/ports/mor-channels.js';
import {
  createLinkCall,
  linkItems,
  recoveryLookup,
  settleLinks,
  settleRecovery,
} from '../../../../../src/features/links/rules/link.js';
import { applyObjectRead } from '../../../../support/rigs/object-calls.js';
import { asSettleRule } from '../../../../support/rigs/settle-rule.js';
import { declares } from '../../../../../src/engine/items.js';
import { openObjectItems } from '../../../../../src/core/mor-objects/rules/open-objects.js';
import { type PaymentEvent } from '../../../../../src/engine/event.js';
import { settle } from '../../../../support/builders/settled.js';
import { byEvent, refusal } from '../../../../support/builders/asked-refund.js';
import { aPaymentEvent, LINK, NOW, open } from '../../../../support/builders/channel-lane.js';
import {
  aLink,
  announced,
  aProforma,
  asking,
  eur,
  linkFacts,
  withObjects,
} from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';
import { at, ctx, lane, payment, withInvoice } from '../../../../support/builders/waiting-payment.js';
import { applyEvent, decide, onStates, openReview } from '../../../../support/rigs/decide.js';
import { type Ctx } from '../../../../../src/engine/context.js';
import { putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { HISTORY } from '../../../../support/builders/refused-renewal.js';
import { SCHEDULE } from '../../../../support/rigs/retry-rig.js';

const LATER = 5_000;
const later = ctx({}, LATER);
/** The MoR shows the link so. */
const take = (object: MorObjectRow, link: Partial<LinkFacts> = {}, state = lane()): LaneState => {
  const facts = { kind: 'payment_link', link: linkFacts(link) } as const;
  const read = applyObjectRead(
    withObjects(state, object),
    object.id,
    { ok: true, status: 200, requestId: null, value: facts },
    later,
  );
  return decide(read, later, declares(linkItems));
};
const notified = { observed: [announced({ at: at(-1_000).toISOString(), charge: 'ch_9' })] };
const about = (state: LaneState, over: Pick<ReviewRow, 'kind' | 'subject'>): LaneState =>
  openReview(state, ctx(), { ...aKind(over.kind), subject: over.subject });

it("a read of a payment link updates the link's URL, expiry and price, and keeps each value that the MoR leaves out", () => {
  const shown = { url: 'https://pay/2', priced: eur(1990n), due: eur(1000n), expiresAt: at(9_000) };
  expect(take(aLink(), shown).objects).toMatchObject([
    {
      ...{ url: 'https://pay/2', amount: 1990n, currency: 'EUR', deadline: at(9_000) },
      ...{ detail: { priced: '19.90', due: '10.00' }, readDueAt: null, readAttempts: 0 },
    },
  ]);
  expect(take(aLink({ currency: 'USD' }), { priced: eur(1990n) }).objects).toMatchObject([{ currency: 'EUR' }]);
  expect(take(aLink(), { priced: null, due: null }).objects).toMatchObject([
    { amount: 2990n, currency: 'EUR', deadline: at(60_000), detail: { priced: null, due: null } },
  ]);
});

it('a payment link changes only if the MoR reports another status', () => {
  expect(take(aLink()).objects).toMatchObject([{ status: 'PAYABLE', updatedAt: NOW }]);
  expect(take(aLink(), { status: 'EXPIRED' }).objects).toMatchObject([{ status: 'EXPIRED', updatedAt: at(LATER) }]);
  expect(take(aLink()).journal).toEqual([]);
  expect(take(aLink(), { status: 'EXPIRED' }).journal.map((l) => l.text)).toEqual([`payment link ${LINK} is EXPIRED`]);
});

const paid = (object: MorObjectRow, link: Partial<LinkFacts> = {}, state = lane()): LaneState =>
  take(object, { status: 'PAID', due: eur(0n), ...link }, state);

it.each([
  ['29.90 EUR where nothing is outstanding', {}, 2990n],
  ['29.90 EUR where the MoR names nothing outstanding', { due: null }, 2990n],
  ['20.00 EUR where 9.90 EUR are outstanding', { due: eur(990n) }, 2000n],
  ['0.01 EUR where all but a cent is outstanding', { due: eur(2989n) }, 1n],
  ['its requested amount where the MoR names no price', { priced: null }, 2990n],
  ['the MoR’s price, whatever its requested amount', { priced: eur(1990n) }, 1990n],
])('a paid link has a payment of %s', (_, f, amount) => {
  const s = paid(aLink(), f);
  expect(s.payments).toMatchObject([
    { origin: 'payment_link', reference: LINK, amount, currency: 'EUR', mark: 'waiting', customerId: 'cus_1' },
  ]);
  expect(s.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(amount) }]);
  expect(s.objects).toMatchObject([{ status: 'PAID', paymentRowId: s.payments[0]?.id, readDueAt: null }]);
  expect([s.objects[0]?.readAttempts, open(s)]).toEqual([0, []]);
});

it.each([
  ['names no price, and neither amount nor currency is known', { amount: null, currency: null }, { priced: null }],
  ['names no price, and no amount is known', { amount: null }, { priced: null, due: null }],
  ['names no price, and no currency is known', { currency: null }, { priced: null, due: null }],
  ['says that the whole price is outstanding', {}, { due: eur(2990n) }],
  ['says that more than the price is outstanding', {}, { due: eur(3000n) }],
])('a paid link opens a review item and books nothing if the MoR %s', (_, over, f) => {
  const s = paid(aLink(over), f);
  expect([s.payments, s.entries]).toEqual([[], []]);
  expect(open(s)).toMatchObject([{ kind: 'conflicting_event', subject: 'lnk_1', fact: { code: 'link-paid' } }]);
});

it('the payment of a paid link has the time and charge of its capture; without a capture, the time when Crossbill read the link', () => {
  expect(paid(aLink({ detail: notified })).payments).toMatchObject([
    { succeededAt: at(-1_000), processorChargeId: 'ch_9' },
  ]);
  expect(paid(aLink()).payments).toMatchObject([{ succeededAt: at(LATER), processorChargeId: null }]);
});

it('after a link is PAID, Crossbill stops reading the link, and a second answer with PAID adds no payment', () => {
  const o = aLink({ readDueAt: at(1), readAttempts: 3 });
  const s = paid(o);
  expect(s.objects).toMatchObject([{ readDueAt: null, readAttempts: 0 }]);
  expect(s.journal.map((l) => l.text)).toEqual([
    `payment link ${LINK} is PAID`,
    'the link confirms the payment of 29.90 EUR',
  ]);
  const again = take(s.objects[0] ?? never(), { status: 'PAID', due: null }, s);
  expect([again.payments, again.entries, again.journal]).toEqual([s.payments, s.entries, s.journal]);
});

it('a paid link closes the review item of its own capture and no other item', () => {
  const asked = take(aLink({ detail: notified, readAttempts: 8, readDueAt: NOW }), { status: 'EXPIRED' });
  expect(open(asked).map((r) => r.topic)).toEqual(['link-not-paid']);
  const two = about(asked, { kind: 'double_payment', subject: 'lnk_1' });
  const done = paid(two.objects[0] ?? never(), {}, two);
  expect(open(done).map((r) => [r.kind, r.subject])).toEqual([['double_payment', 'lnk_1']]);
  expect(done.reviews[0]).toMatchObject({
    ...{ status: 'resolved', resolution: 'cleared', resolvedBy: 'crossbill' },
  });
});

it.each([
  [1, 1_000],
  [2, 2_000],
  [4, 8_000],
  [7, 64_000],
])('after %i unconfirmed reads of a captured link, Crossbill waits %i ms for the next read', (readAttempts, pause) => {
  const s = take(aLink({ detail: notified, readDueAt: NOW, readAttempts: readAttempts - 1 }));
  expect(s.objects).toMatchObject([{ readDueAt: at(LATER + pause), readAttempts }]);
  expect([s.payments, open(s)]).toEqual([[], []]);
});

it('if eight reads of a link do not confirm its capture, a review item opens and Crossbill goes on reading the link', () => {
  const s = take(aLink({ detail: notified, readDueAt: NOW, readAttempts: 7 }), { status: 'EXPIRED' });
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'conflicting_event', subject: 'lnk_1' },
      fact: { code: 'link-not-paid', status: 'EXPIRED' },
    },
  ]);
  expect(s.objects[0]?.readDueAt).toEqual(at(LATER + 128_000));
});

it('Crossbill does not read a link again without a capture, or after its payment is booked', () => {
  for (const over of [{ detail: {} }, { detail: notified, paymentRowId: 'pmt_1' }]) {
    expect(take(aLink({ ...over, readDueAt: at(1), readAttempts: 8 })).objects).toMatchObject([
      { readDueAt: null, readAttempts: 0 },
    ]);
  }
});

const readPaid = (state: LaneState) => settle(take(aLink(), { status: 'PAID', due: eur(0n) }, state), later);
const charged = (state: LaneState, over: Partial<PaymentEvent> = {}) =>
  settle(applyEvent(state, aPaymentEvent({ eventId: 'evt_9', ...over }), later).state, later);
const doubles = (state: LaneState) =>
  open(state).flatMap((r) => (r.kind === 'double_payment' && r.paymentRowId !== null ? r.fact : []));

it('a paid link and a card payment of the same amount open an item that says to ask the MoR first', () => {
  const asks = [{ code: 'paid-twice', maybeOne: true }];
  expect(doubles(charged(readPaid(lane())))).toMatchObject(asks);
  expect(doubles(readPaid(charged(lane())))).toMatchObject(asks);
});

it('a paid link and a card payment of another amount open an item that says to refund the second payment', () => {
  const fact = { code: 'paid-twice', taken: eur(1990n), maybeOne: false };
  expect(doubles(charged(readPaid(lane()), { amount: 1990n }))).toMatchObject([fact]);
});

const expired = (due: LinkFacts['due'], values = aLink(), over: Partial<LinkFacts> = {}) =>
  open(take(values, { status: 'EXPIRED', due, ...over }));

it('an expired link with less outstanding than its price opens an item with the amount that seems paid', () => {
  expect(expired(eur(1990n))).toMatchObject([
    {
      ...{ kind: 'conflicting_event', subject: 'lnk_1' },
      fact: { code: 'link-part-paid', priced: eur(2990n), outstanding: eur(1990n), part: eur(1000n) },
    },
  ]);
  expect(expired(eur(2989n))).toHaveLength(1);
});

it('an expired link opens no item if its whole price is outstanding, the amounts are unknown, or its payment is booked', () => {
  expect([expired(eur(2990n)), expired(null), expired(eur(1990n), aLink({ paymentRowId: 'pmt_1' }))]).toEqual([
    ...[[], [], []],
  ]);
  const usd = { minor: 1990n, currency: 'USD' };
  expect([expired(usd), expired(eur(1990n), aLink(), { priced: null })]).toEqual([[], []]);
  expect(open(take(aLink(), { due: eur(1990n) }))).toEqual([]); // it can still be paid
});

const refusedReply = { status: 409, code: 'no_active_arrangement', message: 'no' };
const automatic = { automatic: true, jurisdiction: 'GB' };
const requested = (over: Partial<MorObjectRow> = {}) =>
  asking(withObjects(lane(), aLink({ id: 'lnk_0' })), aLink({ status: 'REQUESTED', morId: null, ...over }));
const settings = { recoveryLinks: { jurisdiction: 'GB', returnUrl: 'https://shop.example', expiresSec: 600 } };
const reply = { kind: 'create_payment_link', link: linkFacts({ morId: 'link_7' }) } as const;

it("the MoR's answer to a link request updates that payment link and no other link", () => {
  const { s, m } = requested();
  const made = onStates(createLinkCall).answered(s, m, reply, later).objects;
  expect(made.map((o) => [o.id, o.morId, o.status])).toEqual([
    ['lnk_0', LINK, 'PAYABLE'],
    ['lnk_1', 'link_7', 'PAYABLE'],
  ]);
  expect(onStates(createLinkCall).answered(lane(), m, reply, later).objects).toEqual([]);
});

it("if the MoR refuses an operator's link request, the link stores the refusal and no review item opens", () => {
  for (const detail of [{}, { ...automatic, automatic: false }]) {
    const { s, m } = requested({ detail });
    const notified = onStates(createLinkCall).refused(s, m, refusal(refusedReply), later);
    expect(notified.objects.map((o) => o.status)).toEqual(['PAYABLE', 'REFUSED']);
    expect(notified.objects[1]?.detail.refusal).toMatchObject(refusedReply);
    expect([open(notified), notified.journal]).toEqual([[], []]);
    expect(onStates(createLinkCall).refused(lane(), m, refusal(refusedReply), later)).toEqual(lane());
  }
});

it('if the MoR refuses an automatic link for the configured country, a review item opens', () => {
  const { s, m } = requested({ detail: automatic });
  const notified = onStates(createLinkCall).refused(s, m, refusal(refusedReply), ctx(settings));
  expect(notified.objects.map((o) => o.status)).toEqual(['PAYABLE', 'REFUSED']);
  expect(open(notified)).toMatchObject([
    {
      ...{ kind: 'effect_failed', subject: 'create_payment_link:lnk_1' },
      fact: {
        code: 'recovery-refused',
        call: 'create_payment_link',
        status: 409,
        error: 'no_active_arrangement',
        said: '409 no_active_arrangement no',
      },
    },
  ]);
});

it("if the MoR refuses a link for the customer's country, Crossbill requests a link for the configured country", () => {
  const { s, m } = requested({ detail: { ...automatic, jurisdiction: 'AT' } });
  const notified = onStates(createLinkCall).refused(s, m, refusal(refusedReply), ctx(settings));
  expect(notified.objects).toMatchObject([{ status: 'PAYABLE' }, { id: 'lnk_1', status: 'REPLACED' }]);
  expect(open(notified)).toEqual([]);
  expect(notified.journal.map((l) => l.text)).toEqual([
    'the MoR does not collect in AT: use the jurisdiction in the settings',
  ]);
});

it('a payment link is marked unanswered while the MoR does not answer its request', () => {
  const { s, m } = requested();
  expect(onStates(createLinkCall).silent(s, m, refusal({ kind: 'unknown' }), later).objects[1]?.detail.unanswered).toBe(
    true,
  );
});

it("an operator's retry replaces only the refused link, and Crossbill requests another link under a new key", () => {
  const s = withObjects(
    lane(),
    aLink({ id: 'lnk_0', status: 'REFUSED', morId: null }),
    aLink({ status: 'REFUSED', morId: null }),
  );
  const after = (state: LaneState, resolution: 'retry' | 'dismiss', subject = 'create_payment_link:lnk_1') => {
    const r = about(state, { kind: 'effect_failed', subject }).reviews[0] ?? never();
    const done = onStates(createLinkCall).resolve(state, r, { resolution, note: null, by: 'ada' }, later) ?? never();
    return done.ok ? done.state : never();
  };
  expect(after(s, 'retry').objects).toMatchObject([
    { id: 'lnk_0', status: 'REFUSED', updatedAt: NOW },
    { id: 'lnk_1', status: 'REPLACED', updatedAt: at(LATER) },
  ]);
  expect(after(s, 'dismiss')).toBe(s);
  expect(after(s, 'retry', 'create_payment_link:lnk_9')).toBe(s);
  const made = withObjects(lane(), aLink());
  expect(after(made, 'retry')).toBe(made);
});

const polls: (Date | null)[] = [];
const remaining = asSettleRule(settleLinks, declares(openObjectItems));
const settled = (state: LaneState, of = ctx()): LaneState => remaining(state, of, (when) => polls.push(when));
const paidLane = lane({ status: 'paid' });

it.each(['paid', 'void'] as const)(
  "a payable link on a %s invoice opens a double_payment item with the link's expiry",
  (status) => {
    polls.length = 0;
    const s = settled(withObjects(lane({ status }), aLink()));
    expect(open(s)).toMatchObject([
      {
        ...{ kind: 'double_payment', subject: 'lnk_1' },
        fact: { code: 'still-payable', what: 'payment_link', status, until: at(60_000).toISOString() },
      },
    ]);
    expect(polls).toEqual([at(60_000)]);
    const nameless = settled(withObjects(lane({ status }), aLink({ morId: null, deadline: null })));
    expect(open(nameless)[0]?.fact).toMatchObject({ code: 'still-payable', object: 'lnk_1', until: null });
  },
);

it('a payable link opens no item if its invoice is open, uncollectible or unknown, or if the link already has a capture', () => {
  const detail = { observed: [announced()] };
  const unknown = { ...paidLane, invoice: null };
  for (const s of [
    withObjects(lane(), aLink()),
    withObjects(lane({ status: 'uncollectible' }), aLink()),
    withObjects(unknown, aLink()),
    withObjects(paidLane, aLink({ detail, readDueAt: NOW })),
  ]) {
    expect(settled(s)).toBe(s);
  }
});

it("a payment link expires at its deadline, and only the link's double_payment item closes", () => {
  let s = settled(withObjects(paidLane, aLink()));
  s = about(s, { kind: 'double_payment', subject: 'pmt_1' });
  s = about(s, { kind: 'conflicting_event', subject: 'lnk_1' });
  expect(open(settled(s, ctx({}, 59_999)))).toHaveLength(3);
  polls.length = 0;
  const over = settled(s, ctx({}, 60_000));
  expect(over.objects).toMatchObject([{ id: 'lnk_1', status: 'EXPIRED', updatedAt: at(60_000), morId: LINK }]);
  expect(open(over).map((r) => r.subject)).toEqual(['pmt_1', 'lnk_1']);
  expect(over.reviews[0]).toMatchObject({ resolution: 'cleared' });
  expect(polls).toEqual([]);
  const ended = withObjects(lane({ status: 'paid' }), aLink({ status: 'PAID' }));
  expect(settled(ended)).toBe(ended);
});

// When a refused renewal gets a payment link.
const HOUR_MS = 3_600_000;
const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 };
const asked = (ms = 0, over: Partial<DecisionSettings> = {}): Ctx => ctx({ recoveryLinks: LINKS, ...over }, ms);
const refused = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...payment({ mark: 'none', status: 'failed', succeededAt: null, verdictAt: at(0), ...over }),
  amount: over.amount ?? 2990n,
});
/** A renewal of 29.90 EUR, read just now, whose charge was refused. */
function renewal(
  row: Partial<InvoiceRow> = {},
  facts: Partial<InvoiceFacts> = {},
  ...payments: PaymentRow[]
): LaneState {
  const s = (payments.length === 0 ? [refused()] : payments).reduce(putPayment, lane(facts));
  return withInvoice(s, { expectedBy: at(HOUR_MS), ...row });
}
const made = (state: LaneState, of = asked()): readonly MorObjectRow[] =>
  decide(state, of, settleRecovery).objects.filter((o) => !state.objects.includes(o));
const own = { automatic: true, jurisdiction: 'GB' };

it('after a declined renewal, Crossbill requests a payment link with the amount due and the configured country', () => {
  const s = decide(renewal({}, { amountRemaining: 1990n }), asked(), settleRecovery);
  expect(s.objects).toMatchObject([
    {
      ...{ kind: 'payment_link', invoiceId: 'in_1', status: 'REQUESTED', amount: 1990n, currency: 'EUR' },
      ...{ morId: null, detail: own },
    },
  ]);
  expect(s.calls).toMatchObject([{ kind: 'create_payment_link', status: 'pending', subject: s.objects[0]?.id }]);
  expect(JSON.parse(s.calls[0]?.wire.body ?? '')).toMatchObject({
    ...{ ...LINKS, amount: { minor: '1990', currency: 'EUR' } },
  });
  expect(s.journal.map((l) => l.text)).toEqual(['make a payment link of 19.90 EUR (GB): the renewal was not paid']);
});

it('a declined renewal gets no payment link unless Crossbill read the open invoice within the last ten seconds', () => {
  for (const s of [
    renewal({ platformStatus: 'draft' }),
    renewal({ platformStatus: 'unknown' }),
    renewal({ readAt: at(-10_001) }),
  ])
    expect(decide(s, asked(), settleRecovery)).toBe(s);
  expect(made(renewal({ readAt: at(-10_000) }))).toHaveLength(1);
  const nothing = { ...lane(), invoice: null };
  expect(decide(nothing, asked(), settleRecovery)).toBe(nothing);
});

const second = refused({ id: 'pmt_2', paymentId: 'pay_2' });
const item = openReview(renewal(), asked(), { kind: 'dispute', subject: 'x', fact: FACTS.dispute });
it.each<readonly [string, LaneState, Ctx?]>([
  ['links are not set up', renewal(), asked(0, { recoveryLinks: null })],
  ['a retry schedule decides', renewal(), asked(0, { retrySchedule: SCHEDULE })],
  ['the invoice is paid', renewal({}, { status: 'paid' })],
  ['the invoice is void', renewal({}, { status: 'void' })],
  ['the invoice is uncollectible', renewal({}, { status: 'uncollectible' })],
  ['no charge was declined', { ...lane(), payments: [] }],
  ['the invoice is a signup’s', renewal({ billingReason: 'subscription_create' })],
  ['no charge by the MoR is expected', renewal({ expectedBy: null })],
  ['one of two payments was taken', renewal({}, {}, second, refused({ mark: 'waiting' }))],
  ['a payment came by bank transfer', renewal({}, {}, second, refused({ origin: 'proforma' }))],
  ['a payment was refunded', putRefund(renewal(), byEvent())],
  ['the invoice has an open review item', item],
  ['the invoice has a proforma invoice', withObjects(renewal(), aProforma())],
  ['another link is payable', withObjects(renewal(), aLink())],
  ['a link is already requested', withObjects(renewal(), aLink({ status: 'REQUESTED' }))],
  ['the MoR refused its link', withObjects(renewal(), aLink({ status: 'REFUSED', detail: own }))],
  [
    'an operator’s charge waits for its verdict',
    renewal({ retries: { ...HISTORY, waitingSince: at(0).toISOString() } }),
  ],
])('a declined renewal gets no payment link if %s', (_, s, of = asked()) => {
  expect(made(s, of)).toEqual([]);
  const later = asked(HOUR_MS, of.settings);
  expect(recoveryLookup.wanted(new Lane(s, later))).toBeNull();
});

it.each<readonly [string, LaneState]>([
  ['its review item is resolved', { ...item, reviews: item.reviews.map((r) => ({ ...r, status: 'resolved' })) }],
  ['its proforma invoice was not issued', withObjects(renewal(), aProforma({ status: 'ISSUANCE_FAILED' }))],
  ['the MoR refused an operator’s link', withObjects(renewal(), aLink({ status: 'REFUSED' }))],
  ['a refused link was replaced', withObjects(renewal(), aLink({ status: 'REPLACED', detail: own }))],
  ['it has earlier retries', renewal({ retries: HISTORY })],
])('a declined renewal gets a payment link although %s', (_, s) => {
  expect(made(s)).toHaveLength(1);
});

it('a declined renewal gets another payment link only if a decline comes after the expiry of all earlier links', () => {
  const ended = (over: Partial<MorObjectRow> = {}) =>
    aLink({ id: 'lnk_a', status: 'EXPIRED', detail: own, deadline: at(-1_000), ...over });
  const after = (deadlines: (Date | null)[], over: Partial<MorObjectRow> = {}, ...verdicts: (Date | null)[]) => {
    const links = deadlines.map((deadline, i) => ended({ id: `lnk_${i}`, deadline, ...over }));
    const tries = verdicts.map((verdictAt, i) => refused({ id: `pmt_${i}`, paymentId: `pay_${i}`, verdictAt }));
    return made(withObjects(renewal({}, {}, ...tries), ...links), asked()).length;
  };
  expect(after([at(-1_000)])).toBe(1);
  expect(after([at(-1)], {}, at(0))).toBe(1);
  expect(after([at(0)], {}, at(0))).toBe(0);
  expect(after([at(-1_000), at(0)], {}, at(0))).toBe(0);
  expect(after([at(-1_000)], {}, at(-2_000), at(0))).toBe(1);
  expect(after([at(-1_000)], {}, at(-2_000), null)).toBe(0);
  expect(after([at(-1_000)], { readDueAt: at(0) }, at(0))).toBe(0);
  expect(after([null], { updatedAt: at(-1) }, at(0))).toBe(1);
  expect(after([null], { updatedAt: at(0) }, at(0))).toBe(0);
});

it('a declined renewal gets at most three payment links, not counting links that an operator made', () => {
  const ended = (count: number, detail: MorObjectRow['detail']) =>
    aLink({ id: `lnk_${count}`, status: 'EXPIRED', detail, deadline: at(-1_000) });
  const three = withObjects(renewal(), ended(1, own), ended(2, own));
  expect(made(withObjects(three, ended(3, {}), ended(4, {})))).toHaveLength(1);
  expect(made(withObjects(three, ended(3, own)))).toEqual([]);
});

it('each payment link of a declined renewal has its own id, and a restored database makes the same ids', () => {
  const name = (state: LaneState) => made(state)[0]?.id;
  const first = name(renewal());
  expect(first).toMatch(/^lnk_[0-9a-f]{32}$/);
  expect(name(renewal({}, {}, refused({ verdictAt: at(HOUR_MS) })))).toBe(first);
  const beside = [aLink({ id: 'lnk_x', status: 'REFUSED' }), aProforma({ status: 'REFUSED', detail: own })];
  expect(name(withObjects(renewal(), ...beside))).toBe(first);
  const aside = (count: number) => aLink({ id: `lnk_${count}`, status: 'REPLACED', detail: own });
  const names = [first, name(withObjects(renewal(), aside(1))), name(withObjects(renewal(), aside(1), aside(2)))];
  expect(new Set(names).size).toBe(3);
});

it('Crossbill reads an open, declined renewal before a link request, but not during the pause after a failed read', () => {
  const wanted = (state: LaneState, of: Ctx) => recoveryLookup.wanted(new Lane(state, of));
  const stale = renewal({ readAt: null, readDueAt: at(1_000) });
  expect(wanted(stale, asked(1_000))).toBe('in_1');
  expect(wanted(stale, asked(999))).toBeNull();
  expect(wanted(renewal({ readAt: null }), asked())).toBe('in_1');
  expect(wanted(renewal(), asked())).toBeNull();
  const draft = renewal({ platformStatus: 'draft', finalizesAt: at(HOUR_MS) });
  expect([wanted(draft, asked()), wanted(draft, asked(HOUR_MS + 60_000))]).toEqual([null, 'in_1']);
  expect(wanted({ ...renewal(), invoice: null }, asked())).toBeNull();
  expect(wanted(renewal({ platformStatus: 'unknown', expectedBy: null, readAt: null }), asked())).toBe('in_1');
});
