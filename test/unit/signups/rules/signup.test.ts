// A signup is completed: the charge that the browser names becomes the first invoice's payment, and is not believed before it is proven.
import { withWords } from '../../../support/item-words.js';
import { expect, it } from '@jest/globals';
import { type Ctx, emptyLane } from '../../../../src/engine/context.js';
import { putPayment } from '../../../support/put-rows.js';
import { type LaneState, type PaymentRow } from '../../../../src/domain/model.js';
import { type FlowSettings } from '../../../../src/domain/settings.js';
import { type Completion } from '../../../../src/signups/rules/signup.js';
import { completeSignup } from '../../../support/complete-signup.js';
import { COMPLETION } from '../../../support/builders.js';
import { NOW, open } from '../../../support/channel-lane.js';
import { eur } from '../../../support/channel-object.js';
import { never } from '../../../support/never.js';
import { at, ctx as on, lane, payment } from '../../../support/waiting-payment.js';
import { closeReviews, type Commanded } from '../../../support/decide.js';

const ctx = (over: Partial<FlowSettings> = {}): Ctx => on(over, 5_000);
const complete = (s: LaneState, over: Partial<Completion> = {}, of = ctx()) =>
  completeSignup(s, { ...COMPLETION, ...over }, of);
const state = (c: Commanded<PaymentRow>): LaneState => (c.ok ? c.state : never());
const value = (c: Commanded<PaymentRow>): PaymentRow => (c.ok ? c.value : never());
const EUR25 = { said: eur(2500n) };
const off = ctx({ signupChargeCheck: 'off' });

it('a completed signup is a payment of the requested amount without proof or ledger entry', () => {
  const done = complete(emptyLane('in_1'));
  expect(state(done).payments).toMatchObject([
    {
      ...{ invoiceId: 'in_1', customerId: 'cus_oak', origin: 'signup', amount: 1000n, currency: 'EUR' },
      ...{ processorChargeId: 'ch_first', processorPaymentIntentId: 'pi_first', reference: 'ch_first' },
      ...{ signupId: 'sup_1', status: 'processing', mark: 'proving', succeededAt: null, paymentId: null },
    },
  ]);
  expect(value(done)).toEqual(state(done).payments[0]);
  expect([state(done).entries, open(state(done))]).toEqual([[], []]);
  expect(state(done).journal.map((l) => l.text)).toEqual(['signup sup_1 names charge ch_first of 10.00 EUR']);
  expect(state(done).invoice?.invoiceId).toBe('in_1');
});

it('a completed signup counts at once where the settings turn the check off', () => {
  const done = complete(emptyLane('in_1'), {}, off);
  const taken = { mark: 'waiting', status: 'succeeded', succeededAt: at(5_000) };
  expect(state(done).payments).toMatchObject([taken]);
  expect(value(done)).toMatchObject(taken);
  expect(state(done).entries).toMatchObject([{ amount: eur(1000n) }]);
  expect(done.ok).toBe(true);
  const beside = complete(putPayment(lane(), payment({ id: 'pmt_0' })), {}, off);
  expect(value(beside)).toMatchObject({ ...taken, signupId: 'sup_1' });
});

it('the browser’s result names the payment of a signup at the MoR, and Crossbill refuses a taken name', () => {
  expect(value(complete(lane(), { paymentId: 'pay_9' }))).toMatchObject({
    ...{ paymentId: 'pay_9', identifiedBy: 'signup sup_1' },
  });
  for (const paymentId of [null, undefined])
    expect(value(complete(lane(), paymentId === undefined ? {} : { paymentId })).paymentId).toBeNull();
  const holder = putPayment(lane(), payment({ paymentId: 'pay_9' }));
  expect(complete(holder, { paymentId: 'pay_9' })).toMatchObject({ ok: false, code: 'payment_id_taken' });
});

const known = (over: Partial<PaymentRow> = {}) =>
  putPayment(
    putPayment(lane(), payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' })),
    payment({ amount: 1000n, processorChargeId: 'ch_first', ...over }),
  );
const ofIntent = { processorChargeId: 'ch_x', processorPaymentIntentId: 'pi_first' };

it.each([
  ['charge', {}],
  ['payment intent', ofIntent],
])('a known payment with the %s of a signup is its payment: the MoR’s own event is the proof', (_, over) => {
  const s = known(over);
  const done = complete(s);
  expect(state(done).payments).toEqual([s.payments[0], { ...s.payments[1], signupId: 'sup_1' }]);
  expect(value(done)).toMatchObject({ id: 'pmt_1', signupId: 'sup_1', mark: 'waiting' });
  expect(state(done).journal).toEqual([]);
});

it('a signup with another charge and intent is another payment, also without an intent in its result', () => {
  expect(state(complete(known({ processorChargeId: 'ch_x' }))).payments).toHaveLength(3);
  const nameless = known({ processorChargeId: 'ch_x', processorPaymentIntentId: null });
  expect(state(complete(nameless, { paymentIntentId: null })).payments).toHaveLength(3);
});

it('Crossbill refuses a signup with the payment of another signup, and repeats its own', () => {
  expect(complete(known({ signupId: 'sup_0' }))).toMatchObject({
    ...{ ok: false, status: 409, code: 'charge_already_used', field: 'charge_id' },
  });
  expect(value(complete(known({ signupId: 'sup_1' })))).toMatchObject({ id: 'pmt_1', signupId: 'sup_1' });
});

it('a signup with a declined earlier try of its intent still needs proof', () => {
  const declined = { ...ofIntent, mark: 'none', status: 'failed', succeededAt: null, amount: 5n } as const;
  const done = complete(known({ ...declined, recordedAt: at(-9_000) }));
  expect(state(done).payments[1]).toMatchObject({
    ...{ id: 'pmt_1', mark: 'proving', origin: 'signup', status: 'processing', amount: 1000n, currency: 'EUR' },
    ...{ processorChargeId: 'ch_first', reference: 'ch_first', signupId: 'sup_1', recordedAt: at(5_000) },
  });
  expect([state(done).payments.length, state(done).entries]).toEqual([2, []]);
});

it('a taken, checked or parked payment of a signup needs no second proof', () => {
  for (const over of [
    { mark: 'none', succeededAt: NOW },
    { mark: 'proving', succeededAt: null },
    { mark: 'parked', succeededAt: null },
  ] as const) {
    const s = known({ ...over, signupId: 'sup_1' });
    expect(state(complete(s)).payments).toEqual(s.payments);
  }
});

it('an item shows both amounts of a signup of 10.00 EUR reported with 25.00 EUR', () => {
  const done = complete(lane(), EUR25);
  expect(state(done).payments).toMatchObject([{ amount: 1000n, mark: 'proving' }]);
  expect(withWords(open(state(done)))).toMatchObject([
    {
      ...{ kind: 'amount_mismatch', subject: 'sup_1', paymentRowId: value(done).id },
      summary: 'signup sup_1 was completed with 25.00 EUR for charge ch_first; 10.00 EUR was asked for',
      proposal: expect.stringContaining('Apply it if 10.00 EUR was taken'),
    },
  ]);
  expect(open(state(complete(lane(), { said: { minor: 1000n, currency: 'USD' } })))).toHaveLength(1);
});

it('a decided amount of a signup opens no second item, until another amount comes', () => {
  const asked = state(complete(lane(), EUR25));
  const settled = (resolution: 'apply' | 'cleared') =>
    closeReviews(asked, ctx(), () => true, { by: null, resolution, note: null });
  expect(open(state(complete(settled('apply'), EUR25)))).toEqual([]);
  expect(open(state(complete(settled('apply'), { said: eur(2600n) })))).toHaveLength(1);
  expect(open(state(complete(settled('cleared'), EUR25)))).toHaveLength(1);
});

it('a second completion with the right amount closes the item of the signup', () => {
  const asked = state(complete(lane(), EUR25));
  const done = complete(asked);
  expect(open(state(done))).toEqual([]);
  expect(state(done).reviews).toMatchObject([
    { resolution: 'cleared', note: 'the signup was completed with the right amount' },
  ]);
});

it('Crossbill does not compare a signup with a payment without an amount', () => {
  const s = putPayment(lane(), { ...payment({ processorChargeId: 'ch_first' }), amount: null });
  expect(open(state(complete(s, EUR25)))).toEqual([]);
});
