// A signup's charge that was proven by a look-up, and what the MoR says of it afterwards.
import { wordsOf } from '../../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { completeSignup } from '../../support/complete-signup.js';
import { money } from '../../../src/domain/money.js';
import {
  anInvoice,
  aPaymentFailed,
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
])('a proven charge that failed %s; the invoice stays paid', async (_what, afterMs, kinds) => {
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

it('a charge of which the MoR cannot be asked for a day is shown to a person before Stripe ends the subscription, and proven after that', async () => {
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

it('a charge that a person gave up, since the MoR did not know it, counts once the MoR says that it was captured', async () => {
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
])('a charge that failed, was given up, and was captured %s', async (_, afterMs, mark) => {
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

describe('a signup of 10.00 EUR whose backend says that 25.00 EUR were taken', () => {
  it.each<readonly [bigint, string, string[]]>([
    [1000n, 'confirmed', ['conflicting_event']],
    [2500n, 'parked', ['amount_mismatch', 'conflicting_event']],
  ])('is the 10.00 EUR that the MoR was asked for: where %s are due, it is %s', async (amountDue, mark, open) => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ billingReason: 'subscription_create', amountDue }));
    h.gateway.charges.add('ch_first');
    for (const said of [money(2500n, 'EUR'), money(2500n, 'EUR')])
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, { ...COMPLETION, said }, ctx));
    await h.rest();
    const s = await h.state(INVOICE_ID);
    expect(s.payments.map((p) => [p.amount, p.mark])).toEqual([[1000n, mark]]);
    expect(openKinds(s)).toEqual(open);
    expect(wordsOf(s.reviews[0]).summary).toContain(
      'completed with 25.00 EUR for charge ch_first; 10.00 EUR was asked for',
    );
  });
});
