// A signup is completed: the charge that the browser names becomes the first invoice's payment, and is not believed before it is proven.
import { chooseItem, tryChoice } from '../../../../support/rigs/choose-item.js';
import { describe, expect, it } from '@jest/globals';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { putPayment } from '../../../../support/builders/put-rows.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type Resolution } from '../../../../../src/shared/domain/review-row.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import {
  type Completion,
  isUnsettled,
  signupLateAt,
  unsettledItems,
} from '../../../../../src/core/signups/rules/signup.js';
import { completeSignup } from '../../../../support/rigs/complete-signup.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  COMPLETION,
  delivery,
  INVOICE_ID,
  invoiceEvent,
} from '../../../../support/builders/events.js';
import { NOW, open } from '../../../../support/builders/channel-lane.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';
import { at, ctx as on, lane, payment } from '../../../../support/builders/waiting-payment.js';
import { closeReviews, type Commanded, openReview } from '../../../../support/rigs/decide.js';
import { aKind } from '../../../../support/builders/item-facts.js';
import { asSettleRule } from '../../../../support/rigs/settle-rule.js';
import { declares } from '../../../../../src/engine/items.js';
import { money } from '../../../../../src/shared/domain/money.js';
import { balances, LaneHarness, openKinds } from '../../../../support/rigs/lane-harness.js';

const ctx = (over: Partial<DecisionSettings> = {}): Ctx => on(over, 5_000);
const complete = (state: LaneState, over: Partial<Completion> = {}, of = ctx()) =>
  completeSignup(state, { ...COMPLETION, ...over }, of);
const state = (commanded: Commanded<PaymentRow>): LaneState => (commanded.ok ? commanded.state : never());
const value = (commanded: Commanded<PaymentRow>): PaymentRow => (commanded.ok ? commanded.value : never());
const EUR25 = { said: eur(2500n) };
const off = ctx({ signupChargeCheck: 'off' });

it('a completed signup adds a payment of the requested amount without proof and without a ledger entry', () => {
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

it('with SIGNUP_CHARGE_CHECK=off a completed signup is immediately a successful payment', () => {
  const done = complete(emptyLane('in_1'), {}, off);
  const taken = { mark: 'waiting', status: 'succeeded', succeededAt: at(5_000) };
  expect(state(done).payments).toMatchObject([taken]);
  expect(value(done)).toMatchObject(taken);
  expect(state(done).entries).toMatchObject([{ amount: eur(1000n) }]);
  expect(done.ok).toBe(true);
  const beside = complete(putPayment(lane(), payment({ id: 'pmt_0' })), {}, off);
  expect(value(beside)).toMatchObject({ ...taken, signupId: 'sup_1' });
});

it("the browser's result gives a signup's payment its MoR id, and Crossbill refuses the id of another payment", () => {
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
])('if the MoR reported a payment with the %s of a signup, the signup adds no second payment', (_, over) => {
  const s = known(over);
  const done = complete(s);
  expect(state(done).payments).toEqual([s.payments[0], { ...s.payments[1], signupId: 'sup_1' }]);
  expect(value(done)).toMatchObject({ id: 'pmt_1', signupId: 'sup_1', mark: 'waiting' });
  expect(state(done).journal).toEqual([]);
});

it("if a signup's charge and payment intent differ from those of the known payment, the signup adds a second payment", () => {
  expect(state(complete(known({ processorChargeId: 'ch_x' }))).payments).toHaveLength(3);
  const nameless = known({ processorChargeId: 'ch_x', processorPaymentIntentId: null });
  expect(state(complete(nameless, { paymentIntentId: null })).payments).toHaveLength(3);
});

it('Crossbill refuses a signup with the charge of another signup, and accepts a repeat of a signup with its own charge', () => {
  expect(complete(known({ signupId: 'sup_0' }))).toMatchObject({
    ...{ ok: false, status: 409, code: 'charge_already_used', field: 'charge_id' },
  });
  expect(value(complete(known({ signupId: 'sup_1' })))).toMatchObject({ id: 'pmt_1', signupId: 'sup_1' });
});

it('a signup still needs proof if an earlier charge of its payment intent was declined', () => {
  const declined = { ...ofIntent, mark: 'none', status: 'failed', succeededAt: null, amount: 5n } as const;
  const done = complete(known({ ...declined, recordedAt: at(-9_000) }));
  expect(state(done).payments[1]).toMatchObject({
    ...{ id: 'pmt_1', mark: 'proving', origin: 'signup', status: 'processing', amount: 1000n, currency: 'EUR' },
    ...{ processorChargeId: 'ch_first', reference: 'ch_first', signupId: 'sup_1', recordedAt: at(5_000) },
  });
  expect([state(done).payments.length, state(done).entries]).toEqual([2, []]);
});

it('a completed signup does not change a payment that already succeeded, waits for its proof or is parked', () => {
  for (const over of [
    { mark: 'none', succeededAt: NOW },
    { mark: 'proving', succeededAt: null },
    { mark: 'parked', succeededAt: null },
  ] as const) {
    const s = known({ ...over, signupId: 'sup_1' });
    expect(state(complete(s)).payments).toEqual(s.payments);
  }
});

it('a signup of 10.00 EUR that is completed with 25.00 EUR opens an amount_mismatch item with both amounts', () => {
  const done = complete(lane(), EUR25);
  expect(state(done).payments).toMatchObject([{ amount: 1000n, mark: 'proving' }]);
  expect(open(state(done))).toMatchObject([
    {
      ...{ kind: 'amount_mismatch', subject: 'sup_1', paymentRowId: value(done).id },
      fact: {
        code: 'completed-otherwise',
        signup: 'sup_1',
        charge: 'ch_first',
        stated: eur(2500n),
        asked: eur(1000n),
        failed: null,
      },
    },
  ]);
  expect(open(state(complete(lane(), { said: { minor: 1000n, currency: 'USD' } })))).toHaveLength(1);
});

it("after an operator's decision the same wrong signup amount opens no second item, but a different amount opens an item", () => {
  const asked = state(complete(lane(), EUR25));
  const settled = (resolution: 'apply' | 'cleared') =>
    closeReviews(asked, ctx(), () => true, { by: null, resolution, note: null });
  expect(open(state(complete(settled('apply'), EUR25)))).toEqual([]);
  expect(open(state(complete(settled('apply'), { said: eur(2600n) })))).toHaveLength(1);
  expect(open(state(complete(settled('cleared'), EUR25)))).toHaveLength(1);
});

it("a second completion with the right amount closes the signup's amount_mismatch item", () => {
  const asked = state(complete(lane(), EUR25));
  const done = complete(asked);
  expect(open(state(done))).toEqual([]);
  expect(state(done).reviews).toMatchObject([
    { resolution: 'cleared', note: 'the signup was completed with the right amount' },
  ]);
});

it('Crossbill does not compare a signup with a payment of unknown amount', () => {
  const s = putPayment(lane(), { ...payment({ processorChargeId: 'ch_first' }), amount: null });
  expect(open(state(complete(s, EUR25)))).toEqual([]);
});

describe('a signup payment under way', () => {
  const watchUnsettled = asSettleRule(declares(unsettledItems));
  const MINUTE_MS = 60_000;
  const HOUR_MS = 60 * MINUTE_MS;
  const ctx = (ms = 0) => on({}, ms);
  const proving = (over: Partial<PaymentRow> = {}): PaymentRow => ({
    ...payment({ origin: 'signup', signupId: 'sup_1', paymentId: null, succeededAt: null, status: 'processing' }),
    ...{ mark: 'proving', proveDueAt: at(0), ...over },
  });
  const known = (...payments: PaymentRow[]): LaneState => payments.reduce(putPayment, lane());

  const pending = (over: Partial<PaymentRow> = {}) => proving({ pendingSince: at(0), ...over });
  const first = (over: Partial<InvoiceRow> = {}): InvoiceRow => ({
    ...(lane({ billingReason: 'subscription_create', createdAt: at(-HOUR_MS) }).invoice ?? never()),
    ...over,
  });
  const polls: (Date | null)[] = [];
  const watched = (payment: PaymentRow, ms: number, state = known(payment)): LaneState => {
    polls.length = 0;
    return watchUnsettled({ ...state, invoice: first() }, ctx(ms), (when) => polls.push(when));
  };

  it('a signup payment counts as unsettled if its bank debit is pending and its proof is missing', () => {
    expect([pending(), proving(), pending({ mark: 'waiting' })].map(isUnsettled)).toEqual([true, false, false]);
  });

  it('a signup payment without any answer from the MoR for 17 hours opens a signup_overdue item', () => {
    const silent = proving({ proveAttempts: 1 });
    expect([isUnsettled(silent), isUnsettled({ ...silent, mark: 'parked' })]).toEqual([true, false]);
    const s = watched(silent, 17 * HOUR_MS);
    expect(open(s)).toMatchObject([
      {
        ...{ kind: 'signup_overdue', subject: 'pmt_1', dueAt: at(22 * HOUR_MS) },
        fact: {
          code: 'charge-unconfirmed',
          signup: 'sup_1',
          charge: 'ch_1',
          amount: eur(2990n),
          since: '2026-11-20T12:00:00.000Z',
        },
      },
    ]);
  });

  it("a signup payment is late 18 hours after the invoice's creation or, if that time is unknown, after Crossbill recorded the payment", () => {
    const eighteen = at(17 * HOUR_MS);
    expect(signupLateAt(first(), pending())).toEqual(eighteen);
    expect(signupLateAt(first({ billingReason: null }), pending())).toEqual(eighteen);
    expect(signupLateAt(first({ platformCreatedAt: null }), pending())).toEqual(at(18 * HOUR_MS));
    expect(signupLateAt(null, pending())).toEqual(at(18 * HOUR_MS));
  });

  it('a signup payment has no deadline on a renewal or an ended invoice, or without a pending bank debit', () => {
    expect(signupLateAt(first({ billingReason: 'subscription_cycle' }), pending())).toBeNull();
    expect(signupLateAt(first({ platformStatus: 'void' }), pending())).toBeNull();
    expect(signupLateAt(first(), proving())).toBeNull();
    expect(signupLateAt(first({ billingReason: 'manual', platformStatus: 'void' }), proving())).toBeNull();
    expect(signupLateAt(first({ billingReason: 'manual' }), proving())).toBeNull();
  });

  it('an unsettled bank debit of a signup opens a signup_overdue item five hours before Stripe ends the subscription', () => {
    const before = watched(pending(), 17 * HOUR_MS - 1);
    expect([open(before), polls]).toEqual([[], [at(17 * HOUR_MS)]]);
    const s = watched(pending(), 17 * HOUR_MS);
    expect(open(s)).toMatchObject([
      {
        ...{ kind: 'signup_overdue', subject: 'pmt_1', paymentRowId: 'pmt_1', dueAt: at(22 * HOUR_MS) },
        fact: {
          code: 'charge-unsettled',
          signup: 'sup_1',
          charge: 'ch_1',
          amount: eur(2990n),
          since: '2026-11-20T12:00:00.000Z',
          endsAt: '2026-11-21T10:00:00.000Z',
        },
      },
    ]);
    expect(open(watched(pending({ amount: null }), 17 * HOUR_MS))[0]?.fact).toMatchObject({
      code: 'charge-unsettled',
      signup: 'sup_1',
    });
  });

  it('an unsettled payment without a signup, or on a renewal, opens no signup_overdue item', () => {
    expect(watched(pending({ signupId: null }), 20 * HOUR_MS).reviews).toEqual([]);
    expect(polls).toEqual([]);
    const renewal = { ...known(pending()), invoice: first({ billingReason: 'subscription_cycle' }) };
    expect(watchUnsettled(renewal, ctx(20 * HOUR_MS), () => undefined)).toEqual(renewal);
  });

  it('the settlement of a signup payment closes its own signup_overdue item and no other item', () => {
    const late = watched(pending(), 17 * HOUR_MS);
    const asked = openReview(late, ctx(), { ...aKind('double_payment'), subject: 'pmt_1' });
    const done = watched(proving({ mark: 'waiting' }), 0, putPayment(asked, proving({ mark: 'waiting' })));
    expect(open(done).map((r) => [r.kind, r.subject])).toEqual([['double_payment', 'pmt_1']]);
    expect(done.reviews[0]).toMatchObject({ resolution: 'cleared' });
    expect(open(watched(pending(), 18 * HOUR_MS, asked))).toHaveLength(2);
  });

  it('on a void invoice an open signup_overdue item stays open, and no new signup_overdue item opens', () => {
    const late = watched(pending(), 17 * HOUR_MS);
    const over = { ...late, invoice: first({ platformStatus: 'void' }) };
    const read = (state: LaneState) => watchUnsettled(state, ctx(20 * HOUR_MS), () => undefined);
    expect(read(over)).toEqual(over);
    expect(open(read({ ...over, reviews: [] }))).toEqual([]);
  });
});

describe('a signup on the real flow of its lane', () => {
  it.each([
    ['after', ['conflicting_event'], 86_400_000],
    ['before', [], -86_400_000],
  ])(
    "a decline %s the proof of a signup's charge opens the items %j and leaves the invoice paid",
    async (_, kinds, afterMs) => {
      const h = LaneHarness.inMemory();
      h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
      h.gateway.charges.add('ch_first');
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
      await h.idle();
      const at = new Date(h.clock.now().getTime() + afterMs);
      await h.take(aPaymentFailed({ at, intentId: 'pi_first', paymentId: 'pay_s' }));
      const s = await h.state(INVOICE_ID);
      expect(s.payments).toMatchObject([{ paymentId: 'pay_s', mark: 'confirmed', status: 'succeeded' }]);
      expect(openKinds(s)).toEqual(kinds);
    },
  );

  it('a silent MoR leads to a signup_overdue item before Stripe ends the subscription, and proof of the charge closes the item', async () => {
    const h = LaneHarness.inMemory();
    const first = { billingReason: 'subscription_create', createdAt: h.clock.now() } as const;
    h.platform.put(anInvoice(first));
    h.gateway.silent = true;
    await h.take(invoiceEvent('invoice.created', { ...first, status: 'open' }));
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
    const kinds = async (hours: number) => {
      for (let i = 0; i < hours; i++) await h.idle(1);
      return openKinds(await h.state(INVOICE_ID));
    };
    expect([await kinds(17), await kinds(2)]).toEqual([[], ['signup_overdue']]);
    h.gateway.silent = false;
    h.gateway.charges.add('ch_first');
    expect(await kinds(1)).toEqual([]);
    expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
  });

  it('Crossbill books a dismissed signup payment after the MoR reports its capture', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
    await h.idle();
    await chooseItem(h, 'dismiss', { kind: 'signup_unproven' });
    const [id, type] = ['evt_captured', 'payment.captured'];
    const data = { chargeId: 'ch_first', amount: { amount: '10.00', currency: 'EUR' } };
    const created = h.clock.now().toISOString();
    await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
    await h.idle();
    const s = await h.state(INVOICE_ID);
    expect([s.payments.map((p) => p.mark), balances(s)['mor_receivable'], openKinds(s)]).toEqual([
      ['confirmed'],
      1000n,
      [],
    ]);
  });

  it.each([
    ['before', 'closed', -60_000],
    ['after', 'confirmed', 60_000],
  ])(
    'if a signup payment failed and was dismissed, a payment.captured event from %s the failure leaves the payment %s',
    async (_, mark, afterMs) => {
      const h = LaneHarness.inMemory();
      h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
      h.clock.advance(300_000);
      const failedAt = h.clock.now().getTime();
      await h.take(aPaymentFailed({ at: h.clock.now(), intentId: 'pi_first', paymentId: 'pay_s' }));
      await chooseItem(h, 'dismiss', { kind: 'signup_unproven' });
      const [id, type] = ['evt_captured', 'payment.captured'];
      const data = { chargeId: 'ch_first', amount: { amount: '10.00', currency: 'EUR' } };
      const created = new Date(failedAt + afterMs).toISOString();
      h.clock.advance(120_000);
      await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
      await h.idle();
      const s = await h.state(INVOICE_ID);
      expect(s.payments.map((p) => p.mark)).toEqual([mark]);
      expect(balances(s)['mor_receivable']).toBe(mark === 'confirmed' ? 1000n : undefined);
    },
  );

  const eur25 = money(2500n, 'EUR');

  async function said(amountDue = 2500n): Promise<LaneHarness> {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ billingReason: 'subscription_create', amountDue }));
    h.gateway.charges.add('ch_first');
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
    await h.idle();
    return h;
  }

  async function shown(harness: LaneHarness): Promise<object> {
    const s = await harness.state(INVOICE_ID);
    return {
      payments: s.payments.map((p) => [p.amount, p.mark]),
      collected: s.entries.filter((e) => e.reason === 'payment_collected').map((e) => e.amount.minor),
      reported: harness.platform.records.length,
      open: openKinds(s),
    };
  }

  it.each([1000n, 2500n])(
    'a signup of 10.00 EUR completed with 25.00 EUR is booked as 10.00 EUR and marks no invoice of %s minor units',
    async (amountDue) => {
      const h = await said(amountDue);
      expect(await shown(h)).toMatchObject({
        payments: [[1000n, 'parked']],
        collected: [1000n],
        reported: 0,
        open: ['amount_mismatch'],
      });
      const [item] = (await h.state(INVOICE_ID)).reviews;
      expect(item?.fact).toMatchObject({
        code: 'completed-otherwise',
        charge: 'ch_first',
        stated: eur(2500n),
        asked: eur(1000n),
      });
    },
  );

  it("a second completion with the right amount closes the signup's item, and an item about the amount due opens", async () => {
    const h = await said();
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
    await h.idle();
    const s = await h.state(INVOICE_ID);
    expect(s.reviews).toMatchObject([
      { status: 'resolved', resolution: 'cleared', fact: { code: 'completed-otherwise' } },
      { status: 'open', resolution: null, fact: { code: 'amount-differs', taken: eur(1000n), due: eur(2500n) } },
    ]);
  });

  it.each<[Resolution, bigint, string, string[]]>([
    ['apply', 1000n, 'confirmed', []],
    ['apply', 2500n, 'parked', ['amount_mismatch']], // 10.00 was taken, and 15.00 are missing: another item
    ['apply', 500n, 'parked', ['amount_mismatch']], // 5.00 too much: another item
    ['retry', 1000n, 'confirmed', []],
    ['retry', 2500n, 'parked', ['amount_mismatch']], // what is due is compared: another item
    ['dismiss', 1000n, 'closed', []],
  ])(
    'after the choice %s with %s minor units due, a signup payment with a wrong amount is %s',
    async (resolution, amountDue, mark, open) => {
      const h = await said(amountDue);
      await chooseItem(h, resolution);
      await h.idle();
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx)); // repeated: nothing new
      expect(await shown(h)).toMatchObject({ payments: [[1000n, mark]], open });
    },
  );

  it("an operator can dismiss a wrong signup amount only after the MoR's answer", async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ billingReason: 'subscription_create', amountDue: 1000n }));
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
    const dismiss = (): Promise<unknown> => tryChoice(h, 'dismiss');
    expect(await dismiss()).toMatchObject({ ok: false, status: 409, code: 'resolution_not_available' });
    expect(await shown(h)).toMatchObject({ payments: [[1000n, 'proving']], open: ['amount_mismatch'] });
    h.gateway.charges.add('ch_first');
    await h.idle();
    expect(await dismiss()).toMatchObject({ ok: true });
    expect(await shown(h)).toEqual({ payments: [[1000n, 'closed']], collected: [1000n], reported: 0, open: [] });
  });

  it('if the refund of a signup with a wrong amount fails, the review item stays until the operator applies the payment', async () => {
    const h = await said(1000n);
    h.gateway.payments.set('pay_s', { minor: 900n, currency: 'EUR', refunded: 0n }); // the MoR took 9.00
    const choose = async (resolution: Resolution): Promise<LaneState> => {
      await chooseItem(h, resolution);
      await h.idle();
      return h.state(INVOICE_ID);
    };
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25, paymentId: 'pay_s' }, ctx));
    for (const failed of [['failed'], ['failed', 'failed']]) {
      const s = await choose('refund');
      expect(s.refunds.map((r) => r.status)).toEqual(failed);
      expect(await shown(h)).toMatchObject({ payments: [[1000n, 'parked']], reported: 0, open: ['amount_mismatch'] });
      expect(s.reviews.at(-1)?.fact).toMatchObject({
        code: 'completed-otherwise',
        failed: { amount: eur(1000n), said: 'refused' },
      });
    }
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx)); // repeated: nothing new
    expect(await shown(h)).toMatchObject({ open: ['amount_mismatch'] });
    await choose('apply');
    expect(await shown(h)).toMatchObject({ payments: [[1000n, 'confirmed']], reported: 1, open: [] });
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ])(
    'if a payment.succeeded event of 10.00 EUR arrives %s the proof, the item of a wrong signup amount closes',
    async (_when, hours) => {
      const h = LaneHarness.inMemory();
      h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
      if (hours > 0) h.gateway.charges.add('ch_first');
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
      await h.idle(hours);
      await h.take(aPaymentSucceeded({ paymentId: 'pay_s', chargeId: 'ch_first', intentId: 'pi_first' }));
      await h.idle();
      expect(await shown(h)).toMatchObject({ payments: [[1000n, 'confirmed']], collected: [1000n], open: [] });
    },
  );

  it("the operator's choice about a wrong signup amount does not prove an unknown charge", async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
    await h.idle(48);
    expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch', 'signup_unproven']);
    await chooseItem(h, 'apply', { kind: 'amount_mismatch' });
    await h.idle();
    expect(await shown(h)).toMatchObject({ payments: [[1000n, 'parked']], reported: 0, open: ['signup_unproven'] });
  });
});
