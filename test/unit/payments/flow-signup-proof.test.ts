// A signup's charge that was proven by a look-up, and what the MoR says of it afterwards.
import { wordsOf } from '../../support/item-words.js';
import { expect, it } from '@jest/globals';
import { completeSignup } from '../../support/complete-signup.js';
import { type LaneState, type Resolution } from '../../../src/domain/model.js';
import { money } from '../../../src/domain/money.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  COMPLETION,
  delivery,
  INVOICE_ID,
  invoiceEvent,
} from '../../support/builders.js';
import { balances, LaneHarness, openKinds } from '../../support/lane-harness.js';
import { resolveReview } from '../../support/decide.js';

it.each([
  ['later than it was proven asks a person', 86_400_000, ['conflicting_event']],
  ['before it was proven, by a first try, says nothing', -86_400_000, []],
])('a proven charge of a signup with a failure %s; the invoice stays paid', async (_what, afterMs, kinds) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  h.gateway.charges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.rest();
  const at = new Date(h.clock.now().getTime() + afterMs);
  await h.take(aPaymentFailed({ at, intentId: 'pi_first', paymentId: 'pay_s' }));
  const s = await h.state(INVOICE_ID);
  expect(s.payments).toMatchObject([{ paymentId: 'pay_s', mark: 'confirmed', status: 'succeeded' }]);
  expect(openKinds(s)).toEqual(kinds);
});

it('a charge with a silent MoR opens an item before Stripe ends the subscription, and the proof closes it', async () => {
  const h = LaneHarness.inMemory();
  const first = { billingReason: 'subscription_create', createdAt: h.clock.now() } as const;
  h.platform.put(anInvoice(first));
  h.gateway.silent = true;
  await h.take(invoiceEvent('invoice.created', { ...first, status: 'open' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  const kinds = async (hours: number) => {
    for (let i = 0; i < hours; i++) await h.rest(1);
    return openKinds(await h.state(INVOICE_ID));
  };
  expect([await kinds(17), await kinds(2)]).toEqual([[], ['signup_overdue']]);
  h.gateway.silent = false;
  h.gateway.charges.add('ch_first');
  expect(await kinds(1)).toEqual([]);
  expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
});

it('a given-up charge counts once the MoR reports its capture', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.rest();
  const item = (await h.state(INVOICE_ID)).reviews.find((r) => r.kind === 'signup_unproven');
  const choice = { resolution: 'dismiss', note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  const [id, type] = ['evt_captured', 'payment.captured'];
  const data = { chargeId: 'ch_first', amount: { amount: '10.00', currency: 'EUR' } };
  const created = h.clock.now().toISOString();
  await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect([s.payments.map((p) => p.mark), balances(s)['mor_receivable'], openKinds(s)]).toEqual([
    ['confirmed'],
    1000n,
    [],
  ]);
});

it.each([
  ['before it failed, and was told late, stays given up', -60_000, 'closed'],
  ['after it failed counts', 60_000, 'confirmed'],
])('a failed and given-up charge, captured %s', async (_, afterMs, mark) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  h.clock.advance(300_000);
  const failedAt = h.clock.now().getTime();
  await h.take(aPaymentFailed({ at: h.clock.now(), intentId: 'pi_first', paymentId: 'pay_s' }));
  const item = (await h.state(INVOICE_ID)).reviews.find((r) => r.kind === 'signup_unproven');
  const choice = { resolution: 'dismiss', note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  const [id, type] = ['evt_captured', 'payment.captured'];
  const data = { chargeId: 'ch_first', amount: { amount: '10.00', currency: 'EUR' } };
  const created = new Date(failedAt + afterMs).toISOString();
  h.clock.advance(120_000);
  await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect(s.payments.map((p) => p.mark)).toEqual([mark]);
  expect(balances(s)['mor_receivable']).toBe(mark === 'confirmed' ? 1000n : undefined);
});

const eur25 = money(2500n, 'EUR');

async function said(amountDue = 2500n): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create', amountDue }));
  h.gateway.charges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
  await h.rest();
  return h;
}

async function shown(h: LaneHarness): Promise<object> {
  const s = await h.state(INVOICE_ID);
  return {
    payments: s.payments.map((p) => [p.amount, p.mark]),
    collected: s.entries.filter((e) => e.reason === 'payment_collected').map((e) => e.amount.minor),
    reported: h.platform.records.length,
    open: openKinds(s),
  };
}

it.each([1000n, 2500n])(
  'Crossbill books the asked 10.00 EUR of a signup with a claim of 25.00, and marks nothing with %s due',
  async (amountDue) => {
    const h = await said(amountDue);
    expect(await shown(h)).toMatchObject({
      payments: [[1000n, 'parked']],
      collected: [1000n],
      reported: 0,
      open: ['amount_mismatch'],
    });
    const [item] = (await h.state(INVOICE_ID)).reviews;
    expect(wordsOf(item).summary).toContain('completed with 25.00 EUR for charge ch_first; 10.00 EUR was asked for');
  },
);

it('a second completion with the right charge closes the item, and an item about the amount opens', async () => {
  const h = await said();
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect(s.reviews.map((r) => [r.status, r.resolution, wordsOf(r).summary])).toEqual([
    ['resolved', 'cleared', expect.stringContaining('25.00 EUR for charge')],
    ['open', null, '10.00 EUR was taken; 25.00 EUR is due'],
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
  'after the choice %s with %s due, the payment of a signup with a wrong number is %s',
  async (resolution, amountDue, mark, open) => {
    const h = await said(amountDue);
    const [item] = (await h.state(INVOICE_ID)).reviews;
    const choice = { resolution, note: null, by: 'ada' };
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
    await h.rest();
    await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx)); // repeated: nothing new
    expect(await shown(h)).toMatchObject({ payments: [[1000n, mark]], open });
  },
);

it("a person can dismiss a wrong signup amount only after the MoR's answer, and Crossbill marks nothing", async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create', amountDue: 1000n }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
  const [item] = (await h.state(INVOICE_ID)).reviews;
  const dismiss = (): Promise<unknown> =>
    h.command(INVOICE_ID, (s, ctx) =>
      resolveReview(s, item?.id ?? '', { resolution: 'dismiss', note: null, by: 'ada' }, ctx),
    );
  expect(await dismiss()).toMatchObject({ ok: false, status: 409, code: 'resolution_not_available' });
  expect(await shown(h)).toMatchObject({ payments: [[1000n, 'proving']], open: ['amount_mismatch'] });
  h.gateway.charges.add('ch_first');
  await h.rest();
  expect(await dismiss()).toMatchObject({ ok: true });
  expect(await shown(h)).toEqual({ payments: [[1000n, 'closed']], collected: [1000n], reported: 0, open: [] });
});

it('a refused refund of a signup with a wrong number marks nothing, and the item stays until a choice', async () => {
  const h = await said(1000n);
  h.gateway.payments.set('pay_s', { minor: 900n, currency: 'EUR', refunded: 0n }); // the MoR took 9.00
  const choose = async (resolution: Resolution): Promise<LaneState> => {
    const item = (await h.state(INVOICE_ID)).reviews.find((r) => r.status === 'open');
    const choice = { resolution, note: null, by: 'ada' };
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
    await h.rest();
    return h.state(INVOICE_ID);
  };
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25, paymentId: 'pay_s' }, ctx));
  for (const failed of [['failed'], ['failed', 'failed']]) {
    const s = await choose('refund');
    expect(s.refunds.map((r) => r.status)).toEqual(failed);
    expect(await shown(h)).toMatchObject({ payments: [[1000n, 'parked']], reported: 0, open: ['amount_mismatch'] });
    expect(wordsOf(s.reviews.at(-1)).proposal).toMatch(/^The refund of 10\.00 EUR failed: .*If it took less/);
  }
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx)); // repeated: nothing new
  expect(await shown(h)).toMatchObject({ open: ['amount_mismatch'] });
  await choose('apply');
  expect(await shown(h)).toMatchObject({ payments: [[1000n, 'confirmed']], reported: 1, open: [] });
});

it.each([
  ['before the charge was proven', 0],
  ['after it', 1],
])('the MoR’s own 10.00 EUR %s settles the wrong number of a signup', async (_when, hours) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  if (hours > 0) h.gateway.charges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
  await h.rest(hours);
  await h.take(aPaymentSucceeded({ paymentId: 'pay_s', chargeId: 'ch_first', intentId: 'pi_first' }));
  await h.rest();
  expect(await shown(h)).toMatchObject({ payments: [[1000n, 'confirmed']], collected: [1000n], open: [] });
});

it('a settled number does not prove an unknown charge of a signup', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said: eur25 }, ctx));
  await h.rest(48);
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch', 'signup_unproven']);
  const item = (await h.state(INVOICE_ID)).reviews.find((r) => r.kind === 'amount_mismatch');
  const choice = { resolution: 'apply', note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  await h.rest();
  expect(await shown(h)).toMatchObject({ payments: [[1000n, 'parked']], reported: 0, open: ['signup_unproven'] });
});
