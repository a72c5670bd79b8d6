// What a `payment.captured` tells of the payment whose charge it names.
import { expect, it } from '@jest/globals';
import { putPayment } from '../../../support/builders/put-rows.js';
import { capturedId } from '../../../../src/shared/domain/events/mor-service-event.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import { learnFromCapture } from '../../../../src/core/payments/rules/payment.js';
import { LINK } from '../../../support/builders/channel-lane.js';
import { channelEvent } from '../../../support/builders/channel-object.js';
import { at, ctx, lane, payment } from '../../../support/builders/waiting-payment.js';
import { decide } from '../../../support/rigs/decide.js';

const captured = (data: object) => channelEvent('payment.captured', data);
const later = ctx({}, 5_000);
const onLink = (over: Partial<PaymentRow> = {}): PaymentRow =>
  payment({ origin: 'payment_link', reference: LINK, paymentId: null, processorChargeId: null, ...over });

it('Crossbill reads the payment id of a payment.captured event only if the event names exactly one pay_… id', () => {
  expect(capturedId(captured({ a: { b: 'pay_1' }, c: 'pay_1', d: 'ch_1', e: 'x_pay_' }))).toBe('pay_1');
  expect(capturedId(captured({ a: 'pay_1', b: 'pay_2' }))).toBeNull();
  expect(capturedId(captured({ a: 'ch_1' }))).toBeNull();
  expect(capturedId(channelEvent('dispute.action_needed', { paymentId: 'pay_1' }))).toBeNull();
});

const named = (payment: PaymentRow, data: object, id: string | null = 'pay_9', ...more: PaymentRow[]) =>
  decide([...more, payment].reduce(putPayment, lane()), later, (l) =>
    learnFromCapture(l, captured(data), id),
  ).payments.at(-1);
const nameless = payment({ paymentId: null });

it('a payment.captured event gives its payment id to the payment with the event’s charge, and to no other payment', () => {
  expect(named(nameless, { charge: 'ch_1' })).toMatchObject({ paymentId: 'pay_9', identifiedBy: null });
  const strangers: readonly (readonly [PaymentRow, object])[] = [
    [nameless, { charge: 'ch_9' }],
    [payment({ paymentId: null, processorChargeId: null }), {}],
    [payment({ paymentId: null, origin: 'proforma', reference: LINK }), { link: LINK }],
    [onLink(), { link: 'link_9' }],
  ];
  for (const [p, data] of strangers) expect(named(p, data)).toEqual(p);
});

it('the payment id of a payment.captured event replaces an id typed by an operator, and never an id from the MoR', () => {
  const byHand = payment({ paymentId: 'pay_8', identifiedBy: 'ada' });
  expect(named(byHand, { charge: 'ch_1' })).toMatchObject({ paymentId: 'pay_9', identifiedBy: null });
  expect(named(byHand, { charge: 'ch_1' }, null)).toEqual(byHand);
  expect(named(payment(), { charge: 'ch_1' })).toMatchObject({ paymentId: 'pay_1' });
  expect(named(nameless, { charge: 'ch_1' }, null)).toEqual(nameless);
});

it('a payment.captured event never gives its payment id to a second payment', () => {
  const holder = payment({ id: 'pmt_0', paymentId: 'pay_9', processorChargeId: 'ch_0' });
  expect(named(nameless, { charge: 'ch_1' }, 'pay_9', holder)).toEqual(nameless);
  const stranger = { ...holder, paymentId: 'pay_7' };
  expect(named(nameless, { charge: 'ch_1' }, 'pay_9', stranger)).toMatchObject({ paymentId: 'pay_9' });
  const confirmed = payment({ paymentId: 'pay_9', identifiedBy: 'ada' });
  expect(named(confirmed, { charge: 'ch_1' })).toMatchObject({ paymentId: 'pay_9', identifiedBy: null });
});

const proving = payment({
  paymentId: null,
  origin: 'signup',
  mark: 'proving',
  succeededAt: null,
  status: 'processing',
});
const amount = { amount: '29.90', currency: 'EUR' };
const learned = (payment: PaymentRow, data: object): LaneState =>
  decide(putPayment(lane(), payment), later, (l) => learnFromCapture(l, captured(data), 'pay_1'));

it('a payment.captured event with the signup’s amount proves the charge, and Crossbill books the payment', () => {
  const s = learned(proving, { charge: 'ch_1', amount });
  expect(s.payments).toMatchObject([{ paymentId: 'pay_1', mark: 'waiting', status: 'succeeded', succeededAt: at(0) }]);
  expect(s.entries).toMatchObject([{ reason: 'payment_collected', amount: { minor: 2990n, currency: 'EUR' } }]);
  expect(s.journal.map((l) => l.text)).toEqual(['charge ch_1 is proven: the MoR captured it']);
});
