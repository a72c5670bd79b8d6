// Payments that the MoR announces: on a link of ours, by card, and further ones on a link.
import { expect, it } from '@jest/globals';
import {
  eur,
  aLink,
  announced,
  aProforma,
  channelEvent,
  withObjects,
} from '../../../../support/builders/channel-object.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { announcedOn, type Observation } from '../../../../../src/shared/domain/mor-object.js';
import { putPayment } from '../../../../support/builders/put-rows.js';
import { moneyAnnounced } from '../../../../../src/core/books/rules/open-money.js';
import { furtherIn, applyCaptured } from '../../../../../src/features/links/rules/announced.js';
import {
  away,
  captured,
  CHARGED_NEXT,
  dismissed,
  givenBack,
  gone,
  hours,
  isPaid,
  openItems,
  paid,
  taken,
  withLink,
  withTwoCharges,
} from '../../../../support/builders/announced-link.js';
import { aRefund, INVOICE_ID } from '../../../../support/builders/events.js';
import { LINK, NOW } from '../../../../support/builders/channel-lane.js';
import { retry, type rig, state } from '../../../../support/rigs/retry-rig.js';
import { at, ctx, lane, payment } from '../../../../support/builders/waiting-payment.js';
import { asEventRule } from '../../../../support/rigs/decide.js';

const UUID = '3f2b8a1c-5d6e-4f70-8a9b-0c1d2e3f4a5b';
const capture = (data: object, created: Date | null = NOW) => channelEvent('payment.captured', data, created);
const later = ctx({}, 5_000);
const take = (state: LaneState, data: object, created: Date | null = NOW) =>
  asEventRule(applyCaptured)(state, capture(data, created), later);
const onLink = (over: Partial<PaymentRow> = {}): PaymentRow =>
  payment({ origin: 'payment_link', reference: LINK, paymentId: null, processorChargeId: null, ...over });

const s = withObjects(
  lane(),
  aLink({ id: 'lnk_0', morId: 'link_0' }),
  aLink({ readAttempts: 4, readDueAt: at(60_000) }),
);

it("after a capture Crossbill immediately reads the capture's payment link, and does not yet book a payment", () => {
  const { state, verdict: outcome } = take(s, { paymentLinkId: LINK, capturedAt: at(-9_000), pspReference: 'ch_9' });
  expect(state.objects).toMatchObject([
    { id: 'lnk_0', readDueAt: null, detail: {} },
    {
      ...{ id: 'lnk_1', readDueAt: at(5_000), readAttempts: 0 },
      detail: { observed: [{ source: 'event', eventId: 'evt_1', charge: 'ch_9', at: at(-9_000).toISOString() }] },
    },
  ]);
  expect(state.objects).toHaveLength(2);
  expect([state.payments, outcome]).toEqual([[], { status: 'done', reason: 'Crossbill reads the link to confirm it' }]);
});

it.each([
  ['the time in the capture', { capturedAt: at(-9_000) }, NOW, at(-9_000)],
  ['the time of its event', {}, at(-4_000), at(-4_000)],
  ['its arrival if the event has no time', {}, null, at(5_000)],
])('Crossbill dates a capture on a payment link by %s', (_, data, created, when) => {
  const { state } = take(s, { link: LINK, ...data }, created);
  const names = { charge: null, paymentId: null, amount: null, currency: null };
  const times = { at: when.toISOString(), heardAt: at(5_000).toISOString() };
  expect(state.objects[1]?.detail).toEqual({
    observed: [{ source: 'event', eventId: 'evt_1', ...names, ...times }],
  });
});

it('a payment link keeps each capture with its ids and amount, in the order of arrival', () => {
  const first = take(s, { link: LINK, amount: { amount: '29.90', currency: 'EUR' } }).state;
  const second = take(first, { link: LINK, chargeId: 'ch_9', processorReferences: { payment: 'pay_nine' } }).state;
  expect(second.objects[1]?.detail.observed).toMatchObject([
    { charge: null, paymentId: null, amount: '2990', currency: 'EUR' },
    { charge: 'ch_9', paymentId: 'pay_nine', amount: null, currency: null },
  ]);
});

it("a capture finds its payment link only by the MoR's link id or by Crossbill's idempotency key", () => {
  const requested = withObjects(s, aLink({ id: 'lnk_2', morId: null, status: 'REQUESTED' }));
  const by = (data: object) => take(requested, data).state.objects.map((o) => o.detail.observed !== undefined);
  expect(by({ link: 'link_0' })).toEqual([true, false, false]);
  expect(by({ key: 'crossbill:create_payment_link:lnk_2:1' })).toEqual([false, false, true]);
  expect(by({ link: 'link_9' })).toEqual([false, false, false]);
  const proforma = withObjects(lane(), aProforma({ morId: LINK }));
  expect(take(proforma, { link: LINK }).state).toBe(proforma);
});

it('a capture on a link with a booked payment adds the charge once and plans no read', () => {
  const other = payment({ id: 'pmt_0', reference: LINK, processorChargeId: null });
  const elsewhere = onLink({ id: 'pmt_9', reference: 'link_0' });
  const booked = { ...s, objects: s.objects.map((o) => (o.id === 'lnk_1' ? { ...o, paymentRowId: 'pmt_1' } : o)) };
  const paid = [other, elsewhere, onLink()].reduce(putPayment, booked);
  const { state, verdict: outcome } = take(paid, { link: LINK, psp_reference: 'ch_9' });
  expect(state.payments.map((p) => p.processorChargeId)).toEqual([null, null, 'ch_9']);
  expect(state.objects[1]).toMatchObject({ readDueAt: at(60_000), readAttempts: 0 });
  expect(outcome.reason).toBe('the payment on this link is already recorded');
  expect(take(state, { link: LINK, chargeId: 'ch_8' }).state.payments[2]?.processorChargeId).toBe('ch_9');
});

const uuids = (state: LaneState) =>
  state.objects.filter((o) => o.kind === 'capture').map((o) => [o.morId, o.status, o.paymentRowId]);

it("Crossbill stores the MoR's uuid of a captured card payment, and books nothing from the capture", () => {
  const s = [payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' }), payment()].reduce(
    putPayment,
    lane(),
  );
  const { state, verdict: outcome } = take(s, { paymentId: UUID, charge: 'ch_1', payment: 'pay_1' });
  expect(uuids(state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
  expect(state.objects[0]?.updatedAt).toEqual(at(5_000));
  expect(outcome).toEqual({ status: 'done', reason: 'a card payment: its own payment.* event counts' });
  expect([state.payments, state.entries]).toEqual([s.payments, []]);
  const unknown = take(lane(), { payment_id: UUID.toUpperCase() }).state;
  expect(uuids(unknown)).toEqual([[UUID.toUpperCase(), 'CAPTURED', null]]);
});

it("Crossbill stores the MoR's uuid with the booked payment of a payment link", () => {
  const s = withObjects(lane(), aLink({ paymentRowId: 'pmt_1' }));
  expect(uuids(take(s, { link: LINK, paymentId: UUID }).state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
});

it("Crossbill stores the MoR's uuid of a payment one time, and a later capture with a charge connects the uuid with the payment", () => {
  const first = take(lane(), { paymentId: UUID }).state;
  expect(take(first, { paymentId: UUID }).state).toBe(first);
  const known = putPayment(first, payment());
  expect(uuids(take(known, { paymentId: UUID, charge: 'ch_1' }).state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
  const other = { ...first, objects: first.objects.map((o) => ({ ...o, status: 'UNKNOWN' })) };
  expect(uuids(take(other, { paymentId: UUID }).state)).toEqual([[UUID, 'CAPTURED', null]]);
});

it.each([
  ['names no payment', {}],
  ['names its payment by another id', { paymentId: 'pay_1' }],
  ['has text after the uuid', { paymentId: `${UUID}1` }],
  ['has text before the uuid', { paymentId: `x${UUID}` }],
])('Crossbill stores no uuid of a payment from a `payment.captured` event that %s', (_, data) => {
  const s = lane();
  expect(take(s, data).state).toBe(s);
});

it("the MoR's payment id in a capture becomes the id of the link's payment, unless another payment has that id", () => {
  const ofLink = (payment: PaymentRow, over: object = {}, ...more: PaymentRow[]) => {
    const s = [...more, payment].reduce(putPayment, withObjects(lane(), aLink({ paymentRowId: payment.id })));
    return take(s, { link: LINK, paymentId: 'pay_nine', ...over }).state.payments.at(-1);
  };
  expect(ofLink(onLink())).toMatchObject({ paymentId: 'pay_nine', identifiedBy: null });
  const byHand = onLink({ paymentId: 'pay_8', identifiedBy: 'ada' });
  expect(ofLink(byHand)).toMatchObject({ paymentId: 'pay_nine', identifiedBy: null });
  expect(ofLink(onLink({ paymentId: 'pay_8' }))).toMatchObject({ paymentId: 'pay_8' });
  expect(ofLink(onLink({ processorChargeId: 'ch_1' }))).toMatchObject({ paymentId: 'pay_nine' });
  expect(ofLink(onLink({ processorChargeId: 'ch_1' }), { chargeId: 'ch_2' })).toMatchObject({ paymentId: null });
  expect(ofLink(onLink(), {}, payment({ id: 'pmt_0', paymentId: 'pay_nine' }))).toMatchObject({ paymentId: null });
  expect(ofLink(onLink(), { link: 'link_9' })).toMatchObject({ paymentId: null });
});

type Rig = ReturnType<typeof rig>;

const FURTHER = `${INVOICE_ID}:announced`;
const NAMES = [
  ['a charge', { pspReference: 'ch_10' }],
  ['the MoR’s payment id', { pspReference: undefined, paymentId: 'pay_ten' }],
  ['charge and payment id', { pspReference: 'ch_10', paymentId: 'pay_ten' }],
  ['no id', { pspReference: undefined }],
] as const;

const again = (rig: Rig, names: object = NAMES[2][1], id = 'evt_captured_2'): Promise<unknown> =>
  rig.h.take(captured(rig, id, { paymentLinkId: 'link_1', ...names }));

const items = async (rig: Rig): Promise<readonly (readonly [ReviewRow['kind'], string])[]> =>
  (await openItems(rig)).map((x) => [x.kind, x.kind === 'double_payment' ? '' : x.subject]);
const ONE_ITEM = [['conflicting_event', FURTHER]];
const SECOND = [['double_payment', '']];

/** A link whose first payment, of charge ch_9, is marked: a read of it showed the link as paid. */
async function marked(): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r));
  await hours(r, 2);
  expect(await taken(r)).toEqual(['ch_9 confirmed']);
  return r;
}

it.each(NAMES)(
  'if the capture of a second payment on a link names %s, one review item opens and the first payment stays marked',
  async (_, names) => {
    const r = await marked();
    await again(r, names);
    await hours(r, 3);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], ONE_ITEM]);
    const s = await state(r);
    expect(s.entries.map((e) => e.reason)).toEqual(['payment_collected', 'payment_marked']);
    expect(s.objects[0]?.detail.observed?.map((x) => [x.source, x.eventId])).toEqual([
      ['event', 'evt_captured'],
      ['read', null],
      ['event', 'evt_captured_2'],
    ]);
  },
);

it('the review item of a second payment on a link lists every capture with its ids, amount and source', async () => {
  const r = await marked();
  await again(r, { ...NAMES[2][1], amount: { amount: '10.00', currency: 'EUR' } });
  const [item] = await openItems(r);
  const seen = [
    { source: 'event', id: 'evt_captured', charge: 'ch_9' },
    { source: 'read' },
    { source: 'event', payment: 'pay_ten', charge: 'ch_10', money: eur(1000n) },
  ].map((x) => expect.objectContaining(x));
  expect(item?.fact).toMatchObject({ observations: expect.arrayContaining(seen) });
});

it.each([
  ['the charge', { pspReference: 'ch_9' }],
  ['the charge and the payment id', { pspReference: 'ch_9', paymentId: 'pay_nine' }],
])('if a second capture on a link names %s of the first payment, no review item opens', async (_, names) => {
  const r = await marked();
  await again(r, names);
  await hours(r, 3);
  expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], []]);
});

it('if two captures come before the read of a link, Crossbill marks the invoice paid with the first payment only', async () => {
  const r = await withTwoCharges(away);
  isPaid(r);
  await hours(r, 12);
  expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], ONE_ITEM]);
});

it.each(['before', 'after'])(
  'a second payment on a link becomes a double payment if its payment.succeeded event comes %s the capture',
  async (when) => {
    const r = await marked();
    if (when === 'before') await paid(r, 'pay_ten', 'ch_10');
    await again(r);
    if (when === 'after') await paid(r, 'pay_ten', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 parked'], SECOND]);
    await givenBack(r, 'pay_ten', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 closed'], []]);
  },
);

it.each([
  ['without its amount', {}, ONE_ITEM],
  ['with its amount', { amount: { amount: '10.00', currency: 'EUR' } }, SECOND],
])(
  "after a full refund of a link's second payment (its capture comes %s), the review item closes and the ledger has the refund",
  async (_, sum, part) => {
    const r = await marked();
    await again(r, { ...NAMES[2][1], ...sum });
    await r.h.take(aRefund({ paymentId: 'pay_ten', chargeId: 'ch_10', amount: 400 }));
    await hours(r, 1);
    expect(await items(r)).toEqual(part);
    const remaining = { refundId: 'rfnd_2', amount: 600, total: 1000 };
    await r.h.take(aRefund({ paymentId: 'pay_ten', chargeId: 'ch_10', ...remaining }));
    await hours(r, 3);
    const { payments, refunds, entries } = await state(r);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 closed'], []]);
    expect(payments.map((p) => p.amountRefunded)).toContain(1000n);
    expect(refunds.map((x) => x.mirror)).toEqual(['not_needed', 'not_needed']);
    expect(entries.slice(2).map((e) => [e.reason, e.amount.minor])).toEqual([
      ['payment_collected', 1000n],
      ['refund_paid', 400n],
      ['refund_paid', 600n],
      ['refund_of_unmarked', 400n],
      ['refund_of_unmarked', 600n],
    ]);
  },
);

it('a dismissed item of a second payment on a link opens again only for a capture with a new charge', async () => {
  const r = await marked();
  await again(r);
  await dismissed(r);
  await again(r, { pspReference: 'ch_10' }, 'evt_repeat');
  await hours(r, 3);
  expect(await items(r)).toEqual([]);
  await again(r, { pspReference: 'ch_11' }, 'evt_news');
  await hours(r, 3);
  expect(await items(r)).toEqual(ONE_ITEM);
});

it('while the review item of a second payment on a link is open, Crossbill sends no retry, relayed event or new link', async () => {
  const r = await withTwoCharges(gone);
  await hours(r, 12);
  const own = (await openItems(r)).findIndex((x) => x.subject !== FURTHER);
  await dismissed(r, own);
  expect(await items(r)).toEqual(ONE_ITEM);
  expect(moneyAnnounced(await state(r))).not.toBeNull();
  const before = (await state(r)).calls.length;
  expect(await retry(r)).toMatchObject({ ok: false });
  await hours(r, 72);
  expect((await state(r)).calls).toHaveLength(before);
  await dismissed(r);
  expect(moneyAnnounced(await state(r))).toBeNull();
  expect(await retry(r)).toMatchObject({ ok: true });
});

const on = (...observed: Observation[]) => aLink({ detail: { observed } });
const named = (charge: string | null, paymentId: string | null) => announced({ charge, paymentId });
const names = (seen: Observation): readonly (string | null)[] => [seen.charge, seen.paymentId];

it.each<[string, readonly Observation[], readonly (readonly (string | null)[])[]]>([
  [
    'captures with two charges on a link are two payments',
    [named('ch_1', null), named('ch_2', null)],
    [
      ['ch_1', null],
      ['ch_2', null],
    ],
  ],
  [
    'captures with one charge on a link are one payment',
    [named('ch_1', null), named('ch_1', 'pay_1')],
    [['ch_1', 'pay_1']],
  ],
  [
    'captures with one payment id on a link are one payment',
    [named(null, 'pay_1'), named('ch_1', 'pay_1')],
    [['ch_1', 'pay_1']],
  ],
  [
    'captures with one payment id and two charges keep the first charge',
    [named('ch_1', 'pay_1'), named('ch_2', 'pay_1')],
    [['ch_1', 'pay_1']],
  ],
  [
    'captures without ids on a link are two payments',
    [named(null, null), named(null, null)],
    [
      [null, null],
      [null, null],
    ],
  ],
  [
    'the read of a link is not counted as a payment',
    [announced({ source: 'read' }), named('ch_1', null)],
    [['ch_1', null]],
  ],
])('%s', (_, observed, expected) => {
  expect(announcedOn(on(...observed)).map(names)).toEqual(expected);
});

it('each capture on a link counts as a further payment, except the first capture and the captures of booked payments', () => {
  const link = on(named('ch_1', null), named('ch_2', null), named(null, 'pay_3'), named('ch_4', null));
  const s = withObjects(lane(), { ...link, paymentRowId: 'pmt_1' });
  const books = [
    payment({ processorChargeId: 'ch_1' }),
    payment({ id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2' }),
    payment({ id: 'pmt_3', paymentId: 'pay_3', processorChargeId: null, identifiedBy: 'ada' }),
  ];
  expect(furtherIn({ ...s, payments: books }).map(names)).toEqual([
    [null, 'pay_3'],
    ['ch_4', null],
  ]);
});

it('a capture on a link counts as a second payment if its charge differs from the charge of the booked payment', () => {
  const s = withObjects(lane(), { ...on(named('ch_9', null)), paymentRowId: 'pmt_1' });
  expect(furtherIn({ ...s, payments: [payment({ processorChargeId: 'ch_1' })] }).map(names)).toEqual([['ch_9', null]]);
});
