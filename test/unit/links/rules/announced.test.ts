// Payments that the MoR announces: on a link of ours, by card, and further ones on a link.
import { describe, expect, it } from '@jest/globals';
import { putPayment } from '../../../../src/engine/change.js';
import { type LaneState, type PaymentRow } from '../../../../src/domain/model.js';
import { asEventRule } from '../../../../src/engine/adapter.js';
import { takeCaptured } from '../../../../src/links/rules/announced.js';
import { LINK, NOW } from '../../../support/channel-lane.js';
import { aLink, aProforma, channelEvent, withObjects } from '../../../support/channel-object.js';
import { at, ctx, lane, payment } from '../../../support/waiting-payment.js';

const UUID = '3f2b8a1c-5d6e-4f70-8a9b-0c1d2e3f4a5b';
const captured = (data: object, created: Date | null = NOW) => channelEvent('payment.captured', data, created);
const later = ctx({}, 5_000);
const take = (s: LaneState, data: object, created: Date | null = NOW) =>
  asEventRule(takeCaptured)(s, captured(data, created), later);
const onLink = (over: Partial<PaymentRow> = {}): PaymentRow =>
  payment({ origin: 'payment_link', reference: LINK, paymentId: null, processorChargeId: null, ...over });

describe('a capture on a payment link', () => {
  const s = withObjects(
    lane(),
    aLink({ id: 'lnk_0', morId: 'link_0' }),
    aLink({ readAttempts: 4, readDueAt: at(60_000) }),
  );

  it('has the link read at once, and counts for nothing before that', () => {
    const { state, verdict } = take(s, { paymentLinkId: LINK, capturedAt: at(-9_000), pspReference: 'ch_9' });
    expect(state.objects).toMatchObject([
      { id: 'lnk_0', readDueAt: null, detail: {} },
      {
        ...{ id: 'lnk_1', readDueAt: at(5_000), readAttempts: 0 },
        detail: { observed: [{ source: 'event', eventId: 'evt_1', charge: 'ch_9', at: at(-9_000).toISOString() }] },
      },
    ]);
    expect(state.objects).toHaveLength(2);
    expect([state.payments, verdict]).toEqual([[], { status: 'done', reason: 'the link is read to confirm it' }]);
  });

  it.each([
    ['the time that it names', { capturedAt: at(-9_000) }, NOW, at(-9_000)],
    ['its own time', {}, at(-4_000), at(-4_000)],
    ['the time when it came, where it names none', {}, null, at(5_000)],
  ])('happened at %s', (_, data, created, when) => {
    const { state } = take(s, { link: LINK, ...data }, created);
    const names = { charge: null, paymentId: null, amount: null, currency: null };
    const times = { at: when.toISOString(), heardAt: at(5_000).toISOString() };
    expect(state.objects[1]?.detail).toEqual({
      observed: [{ source: 'event', eventId: 'evt_1', ...names, ...times }],
    });
  });

  it('is kept with the amount that it names, after those before it', () => {
    const first = take(s, { link: LINK, amount: { amount: '29.90', currency: 'EUR' } }).state;
    const second = take(first, { link: LINK, chargeId: 'ch_9', processorReferences: { payment: 'pay_9' } }).state;
    expect(second.objects[1]?.detail.observed).toMatchObject([
      { charge: null, paymentId: null, amount: '2990', currency: 'EUR' },
      { charge: 'ch_9', paymentId: 'pay_9', amount: null, currency: null },
    ]);
  });

  it('is found by the link’s name at the MoR or by the key of our request, and by no other name', () => {
    const requested = withObjects(s, aLink({ id: 'lnk_2', morId: null, status: 'REQUESTED' }));
    const by = (data: object) => take(requested, data).state.objects.map((o) => o.detail.observed !== undefined);
    expect(by({ link: 'link_0' })).toEqual([true, false, false]);
    expect(by({ key: 'crossbill:create_payment_link:lnk_2:1' })).toEqual([false, false, true]);
    expect(by({ link: 'link_9' })).toEqual([false, false, false]);
    const proforma = withObjects(lane(), aProforma({ morId: LINK }));
    expect(take(proforma, { link: LINK }).state).toBe(proforma);
  });

  it('whose payment is recorded changes no look; the payment gets the charge, once', () => {
    const other = payment({ id: 'pmt_0', reference: LINK, processorChargeId: null });
    const elsewhere = onLink({ id: 'pmt_9', reference: 'link_0' });
    const booked = { ...s, objects: s.objects.map((o) => (o.id === 'lnk_1' ? { ...o, paymentRowId: 'pmt_1' } : o)) };
    const paid = [other, elsewhere, onLink()].reduce(putPayment, booked);
    const { state, verdict } = take(paid, { link: LINK, psp_reference: 'ch_9' });
    expect(state.payments.map((p) => p.processorChargeId)).toEqual([null, null, 'ch_9']);
    expect(state.objects[1]).toMatchObject({ readDueAt: at(60_000), readAttempts: 0 });
    expect(verdict.reason).toBe('the payment on this link is already recorded');
    expect(take(state, { link: LINK, chargeId: 'ch_8' }).state.payments[2]?.processorChargeId).toBe('ch_9');
  });
});

describe('the MoR’s uuid of a captured payment', () => {
  const uuids = (s: LaneState) =>
    s.objects.filter((o) => o.kind === 'capture').map((o) => [o.morId, o.status, o.paymentRowId]);

  it('is kept beside the card payment that the event names; the payment’s own event is what counts', () => {
    const s = [payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' }), payment()].reduce(
      putPayment,
      lane(),
    );
    const { state, verdict } = take(s, { paymentId: UUID, charge: 'ch_1', payment: 'pay_1' });
    expect(uuids(state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
    expect(state.objects[0]?.updatedAt).toEqual(at(5_000));
    expect(verdict).toEqual({ status: 'done', reason: 'a card payment: its own payment.* event counts' });
    expect([state.payments, state.entries]).toEqual([s.payments, []]);
    const unknown = take(lane(), { payment_id: UUID.toUpperCase() }).state;
    expect(uuids(unknown)).toEqual([[UUID.toUpperCase(), 'CAPTURED', null]]);
  });

  it('is kept beside the payment of the link, once that is recorded', () => {
    const s = withObjects(lane(), aLink({ paymentRowId: 'pmt_1' }));
    expect(uuids(take(s, { link: LINK, paymentId: UUID }).state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
  });

  it('is kept once; a later event that names the payment puts it there', () => {
    const first = take(lane(), { paymentId: UUID }).state;
    expect(take(first, { paymentId: UUID }).state).toBe(first);
    const known = putPayment(first, payment());
    expect(uuids(take(known, { paymentId: UUID, charge: 'ch_1' }).state)).toEqual([[UUID, 'CAPTURED', 'pmt_1']]);
    const other = { ...first, objects: first.objects.map((o) => ({ ...o, status: 'UNKNOWN' })) };
    expect(uuids(take(other, { paymentId: UUID }).state)).toEqual([[UUID, 'CAPTURED', null]]);
  });

  it.each([
    ['names no payment', {}],
    ['names it otherwise', { paymentId: 'pay_1' }],
    ['has more than a uuid in its place', { paymentId: `${UUID}1` }],
    ['has something before it', { paymentId: `x${UUID}` }],
  ])('is not kept from an event that %s', (_, data) => {
    const s = lane();
    expect(take(s, data).state).toBe(s);
  });
});

describe('the MoR’s id in a capture on a link', () => {
  it('names the payment of the link that the event names without a charge, unless another payment has that name', () => {
    const ofLink = (p: PaymentRow, over: object = {}, ...more: PaymentRow[]) => {
      const s = [...more, p].reduce(putPayment, withObjects(lane(), aLink({ paymentRowId: p.id })));
      return take(s, { link: LINK, paymentId: 'pay_9', ...over }).state.payments.at(-1);
    };
    expect(ofLink(onLink())).toMatchObject({ paymentId: 'pay_9', identifiedBy: null });
    const byHand = onLink({ paymentId: 'pay_8', identifiedBy: 'ada' });
    expect(ofLink(byHand)).toMatchObject({ paymentId: 'pay_9', identifiedBy: null });
    expect(ofLink(onLink({ paymentId: 'pay_8' }))).toMatchObject({ paymentId: 'pay_8' });
    expect(ofLink(onLink({ processorChargeId: 'ch_1' }))).toMatchObject({ paymentId: 'pay_9' });
    expect(ofLink(onLink({ processorChargeId: 'ch_1' }), { chargeId: 'ch_2' })).toMatchObject({ paymentId: null });
    expect(ofLink(onLink(), {}, payment({ id: 'pmt_0', paymentId: 'pay_9' }))).toMatchObject({ paymentId: null });
    expect(ofLink(onLink(), { link: 'link_9' })).toMatchObject({ paymentId: null });
  });
});
