// Which refund is meant: one asked for again under its key, one under a name that the MoR does not know, one announced without an id.
import { tryChoice } from '../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { askRefund } from '../../../support/rigs/ask-refund.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../../src/shared/domain/refund-row.js';
import { type Delivery } from '../../../../src/shared/domain/ports/inbox.js';
import { refundable } from '../../../../src/shared/domain/status.js';
import { tellStep } from '../../../support/builders/tell-step.js';
import {
  anInvoice,
  aPaymentSucceeded,
  aRefund,
  COMPLETION,
  delivery,
  INVOICE_ID,
  START,
} from '../../../support/builders/events.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { paid } from '../../../support/builders/paid-lane.js';
import { completeSignup } from '../../../support/rigs/complete-signup.js';
import { type Trouble } from '../../../support/fakes/fake-platform.js';

const KEY = ['caller', 'ops', 'K'];

/** Of 3.00 EUR. */
async function askByKey(harness: LaneHarness, scope = KEY): Promise<RefundRow> {
  const p = (await harness.state(INVOICE_ID)).payments[0];
  const request = { amount: 300n, reason: 'goodwill', metadata: null, by: 'ops' };
  const made = await harness.command(INVOICE_ID, (s, ctx) => askRefund(s, p?.id ?? '', request, ctx, scope));
  if (!made.ok) throw new Error(made.code);
  return made.value;
}

/** Of 10.00 EUR: 3.00 is given back once, shown once, and 7.00 can still be given back. */
async function givenBackOnce(harness: LaneHarness): Promise<RefundRow> {
  const s = await harness.state(INVOICE_ID);
  const [stands, ...others] = s.refunds.filter((r) => r.status !== 'joined');
  const [p] = s.payments;
  if (stands === undefined || p === undefined) throw new Error('a row is missing');
  expect(others).toEqual([]);
  expect([stands.status, p.amountRefunded, refundable(p, s.refunds, 0n)]).toEqual(['succeeded', 300n, 700n]);
  expect(harness.platform.notes).toHaveLength(1);
  expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  expect(openKinds(s)).toEqual([]);
  return stands;
}

it('if a caller requests a refund already known from its event, the MoR and Stripe still have one refund', async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
  const asked = await askByKey(h);
  expect(asked.status).toBe('requested');
  const before = await h.state(INVOICE_ID);
  await h.drain();
  const stands = await givenBackOnce(h);
  expect(stands).toMatchObject({ morRefundId: 'rfnd_api1', askedAs: asked.id, origin: 'api' });
  const after = await h.state(INVOICE_ID);
  expect(tellStep(before, after).map((t) => t.type)).toEqual([]);
  await h.idle(15 * 24);
  await givenBackOnce(h);
});

it('a refund request repeated with its Idempotency-Key returns the same refund, and Crossbill sends the refund once', async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
  await askByKey(h);
  await h.drain();
  const again = await askByKey(h);
  expect([again.morRefundId, again.status]).toEqual(['rfnd_api1', 'succeeded']);
  await h.drain();
  expect(h.gateway.made).toHaveLength(1);
});

it("if the MoR's late answer names a known refund, Crossbill merges the request into that refund and leaves no item open", async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
  h.gateway.trouble.push(...Array.from({ length: 400 }, () => 'lost-answer' as const));
  await askByKey(h);
  await h.drain();
  expect((await h.state(INVOICE_ID)).refunds.map((r) => r.status)).toEqual(['succeeded', 'unknown']);
  h.gateway.trouble.length = 0;
  await h.idle(2);
  await givenBackOnce(h);
});

it("if the MoR made a requested refund before an event without an id, event and request are one refund with the id of the MoR's answer", async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: null, processorRefundId: null }));
  h.gateway.distort = (a) => ({ ...a, createdAt: new Date(0) });
  const asked = await askByKey(h);
  await h.drain();
  expect(await givenBackOnce(h)).toMatchObject({
    morRefundId: 'rfnd_api1',
    processorRefundId: 're_api1',
    askedAs: asked.id,
  });
});

it('if the MoR made a requested refund after an event without an id, event and request are two refunds', async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: null, processorRefundId: null }));
  h.gateway.distort = (a) => ({ ...a, createdAt: new Date(h.clock.now().getTime() + 86_400_000) });
  await askByKey(h);
  await h.drain();
  const s = await h.state(INVOICE_ID);
  expect(s.refunds.map((r) => [r.status, r.origin])).toEqual([
    ['succeeded', 'event'],
    ['succeeded', 'api'],
  ]);
  expect(s.payments[0]?.amountRefunded).toBe(600n);
});

it('after a request is merged into a known refund, the event of a later refund makes a separate refund', async () => {
  const h = await paid();
  await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', total: null }));
  await askByKey(h);
  await h.drain();
  await h.take(aRefund({ refundId: null, processorRefundId: null, total: 600 }));
  const s = await h.state(INVOICE_ID);
  expect(s.refunds.map((r) => [r.status, r.origin])).toEqual([
    ['succeeded', 'api'],
    ['joined', 'api'],
    ['succeeded', 'event'],
  ]);
  expect(s.payments[0]?.amountRefunded).toBe(600n);
});

it.each([
  { totals: [300, 600], keys: ['K1', 'K2'] },
  { totals: [300, 600], keys: ['K2', 'K1'] },
  { totals: [600, 300], keys: ['K1', 'K2'] },
  { totals: [600, 300], keys: ['K2', 'K1'] },
] as const)(
  'each of two equal refund requests matches its own earlier event: running totals $totals, request keys $keys',
  async ({ totals, keys }) => {
    const h = await paid();
    const since = h.clock.now().getTime();
    const at = { 300: new Date(since + 60_000), 600: new Date(since + 3_600_000) };
    h.clock.advance(3 * 3_600_000);
    for (const total of totals) {
      const unnamed = { refundId: null, processorRefundId: null };
      await h.take(aRefund({ ...unnamed, eventId: `evt_${total}`, total, at: at[total] }));
    }
    for (const key of keys) {
      const [id, createdAt] = key === 'K1' ? ['rfnd_1', at[300]] : ['rfnd_2', at[600]];
      h.gateway.distort = (a) => ({ ...a, morRefundId: id, processorRefundId: `re_${id}`, createdAt });
      await askByKey(h, ['caller', 'ops', key]);
      await h.drain();
    }
    await h.idle(48);
    const s = await h.state(INVOICE_ID);
    const stand = s.refunds.filter((r) => r.status !== 'joined');
    expect(new Map(stand.map((r) => [r.totalAfter, r.morRefundId]))).toEqual(
      new Map([
        [300n, 'rfnd_1'],
        [600n, 'rfnd_2'],
      ]),
    );
    expect([s.payments[0]?.amountRefunded, h.platform.notes.length, openKinds(s)]).toEqual([600n, 2, []]);
    expect(balances(s)).toEqual({ mor_receivable: 400n, settled_invoices: -400n });
  },
);

// `payment.refunded` with neither refund id, which Document 3 allows: its running total tells it from another refund.
const named = (count: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_named_${count}`, refundId: `rfnd_${count}`, amount, total });
const unnamed = (count: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_bare_${count}`, refundId: null, processorRefundId: null, amount, total });

async function counted(
  harness: LaneHarness,
): Promise<{ sum: bigint; rows: number; notes: number; open: readonly string[] }> {
  const s = await harness.state(INVOICE_ID);
  const sum = s.payments[0]?.amountRefunded ?? 0n;
  return { sum, rows: s.refunds.length, notes: harness.platform.notes.length, open: openKinds(s) };
}

it('a refund event without an id is a new refund if its running total is higher, even for the same amount', async () => {
  const h = await paid();
  await h.take(unnamed(1, 300, 300), unnamed(2, 300, 600), named(3, 300, 900));
  expect(await counted(h)).toEqual({ sum: 900n, rows: 3, notes: 3, open: [] });
});

it("a refund event without an id belongs to Crossbill's own request, before or after the MoR's answer", async () => {
  for (const first of [true, false]) {
    const h = await paid();
    if (first) h.gateway.trouble.push('lost-answer');
    const p = (await h.state(INVOICE_ID)).payments[0];
    const wish = { amount: 400n, reason: null, metadata: null, by: 'ops' } as const;
    await h.command(INVOICE_ID, (s, ctx) => askRefund(s, p?.id ?? '', wish, ctx));
    await h.take(unnamed(1, 400, 400));
    await h.idle();
    expect(await counted(h)).toEqual({ sum: 400n, rows: 1, notes: 1, open: [] });
  }
});

it('refund events with and without refund ids give the same sums in any order', async () => {
  const notified = [named(1, 300, 300), unnamed(2, 400, 700), unnamed(3, 300, 1000), unnamed(4, 300, 300)];
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(notified, { minLength: 4 }), async (order) => {
      const h = await paid();
      for (const event of order) await h.take(event);
      expect(await counted(h)).toEqual({ sum: 1000n, rows: 3, notes: 3, open: [] });
    }),
    { numRuns: 24 },
  );
});

// A payment that gets another name while its mark is on the way to Stripe: the MoR corrects what a signup or a person called it.
const STEPS = [
  ['payment_record', 'report_payment'],
  ['payment_record', 'attach_payment'],
  ['out_of_band', 'set_reference'],
  ['out_of_band', 'pay_out_of_band'],
] as const;

/** The signup's payment is called `pay_typo`, and Stripe does not take `kind` at first. */
async function misnamed(markMode: (typeof STEPS)[number][0], kind: string, ...what: Trouble[]): Promise<LaneHarness> {
  const h = LaneHarness.inMemory({ settings: { markMode } });
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  h.gateway.charges.add('ch_first');
  h.platform.fail(kind, ...what);
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, paymentId: 'pay_typo' }, ctx));
  await h.drain();
  return h;
}

const corrected = aPaymentSucceeded({ paymentId: 'pay_right', chargeId: 'ch_first', intentId: 'pi_first' });

async function isIdle(harness: LaneHarness): Promise<{ s: LaneState; facts: object }> {
  await harness.idle(48);
  const s = await harness.state(INVOICE_ID);
  const pending = s.calls.filter((m) => m.status === 'pending').length;
  const unmarked = balances(s)['unmarked_payments'] ?? 0n;
  const payments = s.payments.map((p) => [p.paymentId, p.mark]);
  return {
    s,
    facts: { payments, pending, unmarked, open: openKinds(s), is: harness.platform.invoices.get(INVOICE_ID)?.status },
  };
}

it.each(STEPS)(
  'with mark mode %s, the invoice gets paid if the MoR corrects the payment id during the call %s',
  async (markMode, kind) => {
    const h = await misnamed(markMode, kind, 'retry');
    await h.take(corrected);
    expect((await isIdle(h)).facts).toEqual({
      ...{ payments: [['pay_right', 'confirmed']], pending: 0, unmarked: 0n, open: [], is: 'paid' },
    });
  },
);

it('if the MoR corrects a mistyped payment id and the mistyped id belongs to another payment, Crossbill keeps both payments apart', async () => {
  const h = await misnamed('payment_record', 'report_payment', 'retry');
  await h.take(corrected);
  await h.take(aPaymentSucceeded({ eventId: 'evt_2', paymentId: 'pay_typo', chargeId: 'ch_2', intentId: 'pi_2' }));
  expect((await isIdle(h)).facts).toMatchObject({
    payments: [
      ['pay_right', 'confirmed'],
      ['pay_typo', 'parked'],
    ],
    ...{ pending: 0, open: ['double_payment'] },
  });
});

it('if Stripe refuses to record a payment whose id the MoR corrected, the review item names this payment', async () => {
  const h = await misnamed('payment_record', 'report_payment', 'retry', 'refused');
  await h.take(corrected);
  const { s, facts } = await isIdle(h);
  expect(facts).toMatchObject({ payments: [['pay_right', 'parked']], open: ['effect_failed'] });
  expect(s.reviews.at(-1)?.paymentRowId).toBe(s.payments[0]?.id);
});

it('if the MoR does not know a payment id typed by an operator, Crossbill removes the id and still marks the invoice paid', async () => {
  const h = await misnamed('payment_record', 'report_payment', 'retry', 'retry');
  const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
  const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
  await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
  expect((await isIdle(h)).facts).toMatchObject({ payments: [[null, 'confirmed']], unmarked: 0n, is: 'paid' });
});

it.each(['report_refund', 'issue_credit_note'])(
  'if the MoR corrects a payment id during the call %s, Stripe still shows the refund once',
  async (kind) => {
    const h = await misnamed('payment_record', kind, 'retry', 'retry');
    h.gateway.payments.set('pay_typo', { minor: 1000n, currency: 'EUR', refunded: 0n });
    const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
    const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
    await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
    await h.drain();
    await h.take(corrected);
    const { s, facts } = await isIdle(h);
    expect(facts).toMatchObject({ payments: [['pay_right', 'confirmed']], pending: 0, open: ['conflicting_event'] });
    expect([s.refunds.map((r) => r.mirror), h.platform.effects['issue_credit_note']]).toEqual([['done'], 1]);
    expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  },
);

/** Paid, and all of it asked back of `pay_typo`, another customer's payment; then the MoR's own word comes. */
async function refundedAs(
  prepare: (harness: LaneHarness) => void = () => undefined,
  waitMs = 0,
  word = corrected,
): Promise<LaneHarness> {
  const h = await misnamed('payment_record', 'report_payment');
  h.gateway.payments.set('pay_typo', { minor: 1000n, currency: 'EUR', refunded: 0n });
  h.gateway.payments.set('pay_right', { minor: 1000n, currency: 'EUR', refunded: 0n });
  prepare(h);
  const id = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
  const refund = { amount: 300n, reason: null, metadata: null, by: 'ada' };
  await h.command(INVOICE_ID, (s, ctx) => askRefund(s, id, refund, ctx));
  await h.drain();
  h.clock.advance(waitMs);
  await h.take(word);
  return h;
}
const gaveBack = (harness: LaneHarness): bigint | undefined => harness.gateway.payments.get('pay_typo')?.refunded;

const data = { paymentId: 'pay_right', processorChargeId: 'ch_first' };
const body = { id: 'evt_captured', type: 'payment.captured', created: START.toISOString(), data };

it.each([
  ['payment.succeeded', corrected],
  ['payment.captured', delivery('mor_events', body.id, body.type, INVOICE_ID, body)],
])(
  'if the event %s corrects a mistyped payment id after a refund under the mistyped id, a review item names both payments',
  async (_, word) => {
    const h = await refundedAs(undefined, 0, word);
    const amount = { minor: 300n, currency: 'EUR' };
    expect((await isIdle(h)).s.reviews.filter((r) => r.status === 'open')).toMatchObject([
      { kind: 'conflicting_event', fact: { code: 'payment-renamed', from: 'pay_typo', to: 'pay_right', amount } },
    ]);
    await h.take(aPaymentSucceeded({ eventId: 'evt_again', paymentId: 'pay_right', chargeId: 'ch_first' }));
    expect(openKinds(await h.state(INVOICE_ID))).toEqual(['conflicting_event']);
  },
);

it('if the MoR corrects the payment id before the refund goes out, the refund fails and can be requested for the right payment', async () => {
  const h = await refundedAs((x) => void x.gateway.trouble.push('retry'));
  const { s } = await isIdle(h);
  expect([gaveBack(h), s.refunds[0]?.status, s.refunds[0]?.failure?.code]).toEqual([0n, 'failed', 'payment_renamed']);
  expect(openKinds(s)).toEqual(['refund_stuck']);
  const again = { amount: 300n, reason: null, metadata: null, by: 'ada' };
  await h.command(INVOICE_ID, (x, ctx) => askRefund(x, s.payments[0]?.id ?? '', again, ctx));
  await isIdle(h);
  expect([gaveBack(h), h.gateway.payments.get('pay_right')?.refunded]).toEqual([0n, 300n]);
});

it.each<[string, Trouble, number]>([
  ['after a lost refund request', 'lost-request', 0],
  ['after a crash during the refund request', 'retry', 60_000],
])(
  'if the MoR corrects the payment id %s, nobody can resend the refund and its amount stays reserved',
  async (_, trouble, waitMs) => {
    const h = await refundedAs((x) => void x.gateway.trouble.push(trouble), waitMs);
    const { s, facts } = await isIdle(h);
    expect(facts).toMatchObject({ pending: 0, open: ['conflicting_event', 'refund_stuck'] });
    expect([gaveBack(h), s.refunds[0]?.status]).toEqual([0n, 'unknown']);
    const retried = await tryChoice(h, 'retry', { kind: 'refund_stuck' });
    expect(retried).toMatchObject({ ok: false, code: 'payment_renamed' });
  },
);
