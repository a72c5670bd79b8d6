// A payment gets the MoR's id from a person, and an event names its payment.
import { expect, it } from '@jest/globals';
import { type LedgerEntry } from '../../../../../src/shared/domain/ledger-entry.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { effectName } from '../../../../../src/shared/domain/payment-name.js';
import { emptyLane, type Ctx } from '../../../../../src/engine/context.js';
import { putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { closePayment, paymentThatCame } from '../../../../../src/core/books/rules/payment-state.js';
import { findPayment, newPayment, paymentNamed, withIds } from '../../../../../src/core/books/rules/payment-rows.js';
import { identifyPayment } from '../../../../../src/core/books/rules/identify-payment.js';
import { collectedCharges, collect, settleAmount } from '../../../../../src/core/books/rules/collect.js';
import { byEvent, ctx, lane, payment } from '../../../../support/builders/asked-refund.js';
import { aCtx, aPaymentEvent, LINK, NOW } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { aLink, withObjects } from '../../../../support/builders/channel-object.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import { asCommand, decide, openReview } from '../../../../support/rigs/decide.js';
import { isOfSharedCharge } from '../../../../../src/core/books/rules/open-money.js';
import { paymentCollected, paymentMarked } from '../../../../../src/shared/domain/postings.js';
import { aPaymentFailed, aPaymentSucceeded, invoiceEvent } from '../../../../support/builders/events.js';
import { openKinds } from '../../../../support/rigs/lane-harness.js';
import { after, DAY_MS, HOUR_MS, type Rig, relayed, retry, state } from '../../../../support/rigs/retry-rig.js';
import { booked, dismiss, named, refusedNow } from '../../../../support/builders/shared-charge.js';
import { FACTS } from '../../../../support/builders/item-facts.js';

const name = (state: LaneState, id: string, paymentId: string, by: string) =>
  asCommand((on) => identifyPayment(on, id, paymentId, by))(state, ctx());

const nameless = payment({ paymentId: null });

it('after the operator gives a payment its MoR id, Crossbill refuses a different id with 409', () => {
  const named = name(lane(nameless), 'pmt_1', 'pay_9', 'ops');
  if (!named.ok) throw new Error(named.code);
  expect(named.value).toMatchObject({ paymentId: 'pay_9', identifiedBy: 'ops' });
  expect(name(named.state, 'pmt_1', 'pay_9', 'shop')).toMatchObject({ ok: true, state: named.state });
  expect(name(named.state, 'pmt_1', 'pay_8', 'ops')).toMatchObject({
    ...{ ok: false, status: 409, code: 'payment_already_identified', field: 'payment_id' },
  });
});

it('Crossbill refuses an MoR id for a payment with 409 if another payment of the invoice has this id', () => {
  const s = lane(nameless, payment({ id: 'pmt_2', paymentId: 'pay_2' }));
  expect(name(s, 'pmt_1', 'pay_2', 'ops')).toMatchObject({
    ...{ ok: false, status: 409, code: 'payment_id_taken', field: 'payment_id' },
    message: 'pay_2 is the id of payment pmt_2 of invoice in_1 already.',
  });
  expect(name(s, 'pmt_9', 'pay_2', 'ops')).toMatchObject({ ok: false, status: 404 });
});

const other = waiting.payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' });
const own = waiting.payment({ processorPaymentIntentId: 'pi_1' });

it.each([
  ['the payment’s id at the MoR', 'pay_1'],
  ['the payment’s id at Crossbill', 'pmt_1'],
  ['the charge id', 'ch_1'],
  ['the payment intent id', 'pi_1'],
  ['a refund’s id at the MoR', 'rfnd_1'],
  ['a refund’s id at the processor', 're_1'],
  ['a refund’s id at Crossbill', 'ref_event'],
  ['the id of its payment link', LINK],
])('an event of the MoR finds its payment by %s', (_, id) => {
  const refunded = putRefund(
    waiting.lane({}, other, own),
    byEvent({ morRefundId: 'rfnd_1', processorRefundId: 're_1' }),
  );
  const s = withObjects(
    refunded,
    aLink({ id: 'lnk_0', morId: 'link_0', paymentRowId: 'pmt_0' }),
    aLink({ paymentRowId: 'pmt_1' }),
  );
  expect(paymentNamed(s, new Set([id]))?.id).toBe('pmt_1');
  expect(paymentNamed(s, new Set(['x']))).toBeNull();
});

it('an event without a payment’s id belongs to the only successful payment of its invoice', () => {
  const refused = waiting.payment({ id: 'pmt_0', paymentId: null, processorChargeId: null, succeededAt: null });
  const named = (state: LaneState) => paymentNamed(withObjects(state, aLink()), new Set([LINK]))?.id ?? null;
  expect(named(waiting.lane({}, refused, own))).toBe('pmt_1');
  expect(named(waiting.lane({}, refused))).toBeNull();
  expect(named(waiting.lane())).toBeNull();
});

const now = aCtx();
const empty = emptyLane('in_1');
const aPayment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(now, { invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', ...over });

it('Crossbill finds the payment of an event by the MoR’s id, or for a signup by its charge or payment intent', () => {
  const signup = aPayment({ id: 's', origin: 'signup', processorChargeId: 'ch_1', processorPaymentIntentId: 'pi_9' });
  const named = aPayment({ id: 'n', paymentId: 'pay_1' });
  const of = (paymentEvent: Parameters<typeof aPaymentEvent>[0], ...rows: PaymentRow[]): string | undefined =>
    findPayment(rows.reduce(putPayment, empty), aPaymentEvent(paymentEvent))?.id;
  expect(of({}, signup, named)).toBe('n');
  expect(of({}, signup)).toBe('s');
  expect(of({ processorChargeId: 'ch_2', processorPaymentIntentId: 'pi_9' }, signup)).toBe('s');
  expect(of({ processorChargeId: 'ch_2' }, signup)).toBeUndefined();
  expect(of({ processorChargeId: null }, { ...signup, processorChargeId: null })).toBeUndefined();
  expect(of({}, { ...signup, paymentId: 'pay_2', identifiedBy: 'ops' })).toBe('s'); // whatever people call it
  expect(of({}, { ...signup, paymentId: 'pay_2' })).toBeUndefined();
  expect(of({}, { ...signup, origin: 'renewal' })).toBeUndefined();
});

it('a payment takes over every id of its event, and the MoR’s payment id replaces an id from the operator', () => {
  const known = aPayment({
    id: 's',
    origin: 'signup',
    processorChargeId: 'ch_1',
    paymentId: 'pay_wrong',
    identifiedBy: 'ops',
  });
  expect(withIds(putPayment(empty, known), aPaymentEvent({ processorPaymentIntentId: 'pi_1' }), now)).toMatchObject({
    ...{
      id: 's',
      paymentId: 'pay_1',
      identifiedBy: null,
      processorChargeId: 'ch_1',
      processorPaymentIntentId: 'pi_1',
    },
  });
  const made = withIds(empty, aPaymentEvent({ status: 'failed' }), now);
  expect(made).toMatchObject({
    paymentId: 'pay_1',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    status: 'failed',
    mark: 'none',
  });
  const own = aPayment({ paymentId: 'pay_1', processorChargeId: 'ch_own', processorPaymentIntentId: 'pi_own' });
  expect(withIds(putPayment(empty, own), aPaymentEvent(), now)).toMatchObject({
    processorChargeId: 'ch_own',
    processorPaymentIntentId: 'pi_own',
  });
});

it('after a payment comes in, Crossbill requests no other charge for the invoice; a refused payment stops no charge', () => {
  const refused = aPayment({ paymentId: 'pay_1', mark: 'none' });
  expect(paymentThatCame(putPayment(empty, refused))).toBeNull();
  expect(paymentThatCame(putPayment(empty, { ...refused, mark: 'parked' }))).toBe('payment pay_1 came');
  expect(effectName(aPayment({ id: 'pmt_7' }))).toBe('pmt_7');
});

it('a payment closed by the operator keeps the status `succeeded`, or gets the status `failed` if the payment never succeeded', () => {
  const s = (payment: PaymentRow): LaneState['payments'] =>
    decide(putPayment(empty, payment), now, (l) => closePayment(l.findPayment(payment.id) ?? never())).payments;
  expect(s(aPayment({ mark: 'parked', succeededAt: now.now }))).toMatchObject([
    { mark: 'closed', status: 'succeeded' },
  ]);
  expect(s(aPayment({ mark: 'parked', status: 'processing' }))).toMatchObject([{ mark: 'closed', status: 'failed' }]);
});

const charged = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
    ...{ processorChargeId: 'ch_1', succeededAt: NOW, mark: 'waiting', ...over },
  });
const elsewhere: Ctx = { ...aCtx(), chargesElsewhere: new Map([['ch_1', { invoiceId: 'in_0', payment: 'pay_0' }]]) };
const collected = (payment: PaymentRow, ctx: Ctx, ...others: PaymentRow[]): LaneState =>
  decide([...others, payment].reduce(putPayment, emptyLane('in_1')), ctx, (lane) => {
    collect(lane, lane.findPayment(payment.id) ?? never(), 'evt_1');
  });

it('Crossbill does not book a charge again for a second invoice, and opens a review item with both invoices', () => {
  const s = collected(charged({ proveDueAt: NOW }), elsewhere);
  expect(s.entries).toEqual([]);
  expect(s.payments).toMatchObject([{ mark: 'parked', succeededAt: null, proveDueAt: null }]);
  expect(s.reviews).toMatchObject([
    {
      ...{ kind: 'double_payment', status: 'open', paymentRowId: 'pmt_1', actions: ['dismiss'] },
      fact: { code: 'charge-elsewhere', charge: 'ch_1', holder: 'pay_0', holderInvoice: 'in_0' },
    },
  ]);
  expect(s.reviews.map(isOfSharedCharge)).toEqual([true]);
});

it.each(['waiting', 'none', 'proving', 'parked'] as const)(
  'Crossbill parks a payment with the mark status %s if its charge belongs to another invoice',
  (mark) => {
    expect(collected(charged({ mark }), elsewhere).payments).toMatchObject([{ mark: 'parked' }]);
  },
);

it('a payment closed by the operator stays closed if its charge turns out to belong to another invoice', () => {
  expect(collected(charged({ mark: 'closed' }), elsewhere).payments).toMatchObject([
    { mark: 'closed', status: 'failed', succeededAt: null },
  ]);
});

it('Crossbill books the charge of a payment if no other invoice has this charge', () => {
  for (const p of [charged({ processorChargeId: 'ch_2' }), charged({ processorChargeId: null })]) {
    const s = collected(p, elsewhere);
    expect(s.entries).toEqual([paymentCollected(p, 2990n, NOW, 'evt_1')]);
    expect(s.reviews).toEqual([]);
  }
});

it('if two payments of one invoice have the same charge, Crossbill books both payments, and only one entry has the charge id', () => {
  const second = charged({ id: 'pmt_2', paymentId: 'pay_2' });
  const charges = (payment: PaymentRow, ...others: PaymentRow[]) =>
    collected(payment, aCtx(), ...others).entries.map((e) => [e.subject, e.processorChargeId]);
  expect(charges(second, charged())).toEqual([['pmt_2', null]]);
  expect(charges(second, charged({ succeededAt: null }))).toEqual([['pmt_2', 'ch_1']]);
  expect(charges(second, charged({ processorChargeId: 'ch_9' }))).toEqual([['pmt_2', 'ch_1']]);
  expect(charges(charged())).toEqual([['pmt_1', 'ch_1']]);
});

it('Crossbill checks only newly collected charges for an earlier booking on another invoice', () => {
  const entries: LedgerEntry[] = [
    paymentCollected(charged(), 1n, NOW, null),
    paymentMarked(charged({ processorChargeId: 'ch_2' }), 1n, NOW),
    paymentCollected(charged({ processorChargeId: null }), 1n, NOW, null),
  ];
  expect(collectedCharges(entries)).toEqual(['ch_1']);
});

/** The renewal's success names a charge that is booked for another invoice. */
async function sharing(over: Parameters<typeof booked>[0] = {}): Promise<Rig> {
  const r = booked(over);
  await r.h.take(invoiceEvent('invoice.finalized'), named(r));
  expect(openKinds(await state(r))).toEqual(['double_payment']);
  return r;
}

it("while an item is open about a renewal's charge already booked on another invoice, Crossbill requests no new charge", async () => {
  const r = await sharing();
  expect((await retry(r)).ok).toBe(false);
  await after(r, 3 * DAY_MS);
  expect([relayed(r), (await state(r)).objects]).toEqual([[], []]);
});

it.each([{}, { retrySchedule: null }])(
  'after an operator dismisses a charge already booked on another invoice, only renewal_overdue opens (changed settings: %j)',
  async (over) => {
    const r = await sharing(over);
    await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(refusedNow(r));
    await r.h.idle(49);
    const s = await state(r);
    expect(s.payments).toMatchObject([{ mark: 'closed', status: 'failed' }]);
    expect([openKinds(s), s.objects, relayed(r), s.entries]).toEqual([['renewal_overdue'], [], [], []]);
  },
);

it('after an operator dismisses a charge already booked on another invoice, Crossbill retries only after the next decline', async () => {
  const r = booked();
  await r.h.take(invoiceEvent('invoice.finalized'), aPaymentFailed({ paymentId: 'pay_a', at: r.h.clock.now() }));
  await after(r, HOUR_MS);
  await r.h.take(named(r));
  await dismiss(r);
  expect((await state(r)).invoice?.nextTryAt).toBeNull();
  await r.h.idle(25);
  expect([openKinds(await state(r)), relayed(r)]).toEqual([['renewal_overdue'], []]);
  await r.h.take(aPaymentFailed({ paymentId: 'pay_b', at: r.h.clock.now() }));
  await after(r, 3 * DAY_MS);
  expect([openKinds(await state(r)), relayed(r).length]).toEqual([[], 1]);
});

it('Crossbill opens no second item if the MoR repeats a dismissed charge already booked on another invoice', async () => {
  const r = await sharing();
  await dismiss(r);
  await after(r, HOUR_MS);
  await r.h.take(named(r, { eventId: 'evt_again' }));
  const s = await state(r);
  expect([openKinds(s), s.entries, s.payments.map((p) => p.mark)]).toEqual([[], [], ['closed']]);
});

it.each([false, true])(
  "a renewal's payment has the charge id of another invoice; the MoR then sends the right id, and Stripe's invoice is paid (dismissed: %s)",
  async (isDismissed) => {
    const r = await sharing();
    if (isDismissed) await dismiss(r);
    await after(r, HOUR_MS);
    await r.h.take(named(r, { chargeId: 'ch_own', eventId: 'evt_own' }));
    await r.h.idle(1);
    const s = await state(r);
    expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
    expect(s.entries.map((e) => [e.reason, e.processorChargeId])).toEqual([
      ['payment_collected', 'ch_own'],
      ['payment_marked', 'ch_own'],
    ]);
  },
);

it('a second payment pays a renewal after an operator dismissed a charge already booked on another invoice', async () => {
  const r = await sharing();
  await dismiss(r);
  await after(r, HOUR_MS);
  const at = r.h.clock.now();
  await r.h.take(aPaymentFailed({ paymentId: 'pay_a', at }));
  await after(r, HOUR_MS);
  await r.h.take(aPaymentSucceeded({ paymentId: 'pay_won', chargeId: 'ch_won', at: r.h.clock.now() }));
  await r.h.idle(24);
  const s = await state(r);
  expect([s.invoice?.status, openKinds(s)]).toEqual(['paid', []]);
  expect(r.h.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

const parked = charged({ id: 'pmt_1', signupId: 'sup_1', origin: 'signup', mark: 'parked' });
const asked = (state: LaneState, subject = 'sup_1'): LaneState =>
  openReview(state, aCtx(), { kind: 'amount_mismatch', subject, fact: FACTS.amount_mismatch });
const known = (payment: PaymentRow): LaneState => putPayment(emptyLane('in_1'), payment);
const amountSettled = (state: LaneState): LaneState =>
  decide(state, aCtx(), (l) => settleAmount(l, l.findPayment('pmt_1') ?? never(), 'said rightly'));
const settled = (payment: PaymentRow): LaneState => amountSettled(asked(asked(known(payment)), 'pmt_1'));

it('as soon as a signup’s amount is certain, Crossbill closes the item about the amount, and the payment waits for its mark', () => {
  const s = settled(parked);
  expect(s.reviews).toMatchObject([
    { subject: 'sup_1', status: 'resolved', resolution: 'cleared', note: 'said rightly' },
    { subject: 'pmt_1', status: 'open' },
  ]);
  expect(s.payments).toMatchObject([{ mark: 'waiting' }]);
});

it('a signup payment without proof of its charge keeps its mark status when its amount becomes certain', () => {
  const marks = (over: Partial<PaymentRow>): string | undefined => settled({ ...parked, ...over }).payments[0]?.mark;
  expect(marks({ succeededAt: null })).toBe('parked');
  expect(marks({ succeededAt: null, mark: 'proving' })).toBe('proving');
  expect(marks({ mark: 'confirmed' })).toBe('confirmed');
});

it('if the amount of a renewal, or of a signup without an open review item, becomes certain, nothing changes', () => {
  const s = known(parked);
  expect(amountSettled(s)).toBe(s);
  const renewal = asked(known({ ...parked, signupId: null }), 'null');
  expect(amountSettled(renewal)).toBe(renewal);
});
