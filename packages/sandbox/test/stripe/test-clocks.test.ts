// Stripe's test clocks as the sandbox plays them, by the real `stripe` package.
import { expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type Rig, rigForEach } from '../rig.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const START = Math.floor(Date.UTC(2030, 0, 15) / 1000);

let rig: Rig;
rigForEach((started) => (rig = started));

async function ready(clock: string): Promise<Stripe.TestHelpers.TestClock> {
  for (;;) {
    const now = await rig.stripe.testHelpers.testClocks.retrieve(clock);
    if (now.status === 'ready') return now;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function advance(clock: string, to: number): Promise<Stripe.TestHelpers.TestClock> {
  expect((await rig.stripe.testHelpers.testClocks.advance(clock, { frozen_time: to })).status).toBe('advancing');
  return ready(clock);
}

async function subscribed(testClock: string | null) {
  const customer = await rig.stripe.customers.create(testClock === null ? {} : { test_clock: testClock });
  const product = await rig.stripe.products.create({ name: 'Rehearsal' });
  const price = await rig.stripe.prices.create({
    product: product.id,
    currency: 'eur',
    unit_amount: 500,
    recurring: { interval: 'month' },
  });
  const subscription = await rig.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    collection_method: 'send_invoice',
    days_until_due: 1,
  });
  return { customer, subscription };
}

const invoicesOf = async (customer: string) => (await rig.stripe.invoices.list({ customer })).data;

it("a test clock of the sandbox renews its own customer's subscription and leaves other customers alone", async () => {
  const clock = await rig.stripe.testHelpers.testClocks.create({ frozen_time: START, name: 'one' });
  expect(clock).toMatchObject({ status: 'ready', frozen_time: START, livemode: false });
  const { customer, subscription } = await subscribed(clock.id);
  const other = await subscribed(null);
  expect([customer.test_clock, subscription.test_clock, other.subscription.test_clock]).toEqual([
    clock.id,
    clock.id,
    null,
  ]);
  expect(subscription.items.data[0]?.current_period_start).toBe(START);
  const renewsAt = subscription.items.data[0]?.current_period_end ?? 0;
  expect(await advance(clock.id, renewsAt + 60)).toMatchObject({ frozen_time: renewsAt + 60 });
  const [draft, first] = await invoicesOf(customer.id);
  expect(draft).toMatchObject({ status: 'draft', billing_reason: 'subscription_cycle', created: renewsAt });
  expect(first).toMatchObject({ billing_reason: 'subscription_create', created: START });
  await advance(clock.id, renewsAt + HOUR + 60);
  expect((await invoicesOf(customer.id))[0]).toMatchObject({ id: draft?.id, status: 'open' });
  expect(await invoicesOf(other.customer.id)).toHaveLength(1);
  expect(rig.events('invoice.created').map((e) => e.data.object['customer'])).toEqual([
    customer.id,
    other.customer.id,
    customer.id,
  ]);
});

it("a test clock of the sandbox stands still while the account's time goes on", async () => {
  const clock = await rig.stripe.testHelpers.testClocks.create({ frozen_time: START });
  const { customer } = await subscribed(clock.id);
  await rig.advance(70 * DAY);
  expect(await invoicesOf(customer.id)).toHaveLength(1);
  expect((await ready(clock.id)).frozen_time).toBe(START);
});

it('the sandbox refuses to turn a test clock back or far ahead, and to add a fourth customer', async () => {
  const { testClocks } = rig.stripe.testHelpers;
  const clock = await testClocks.create({ frozen_time: START });
  await subscribed(clock.id);
  const refused = { statusCode: 400, type: 'StripeInvalidRequestError' };
  await expect(testClocks.advance(clock.id, { frozen_time: START })).rejects.toMatchObject(refused);
  await expect(testClocks.advance(clock.id, { frozen_time: START + 70 * DAY })).rejects.toMatchObject(refused);
  await rig.stripe.customers.create({ test_clock: clock.id });
  await rig.stripe.customers.create({ test_clock: clock.id });
  await expect(rig.stripe.customers.create({ test_clock: clock.id })).rejects.toMatchObject(refused);
  await expect(rig.stripe.customers.create({ test_clock: 'clock_none' })).rejects.toMatchObject({ statusCode: 404 });
  expect((await ready(clock.id)).frozen_time).toBe(START);
});

it('the sandbox deletes a test clock together with its customers and their subscriptions', async () => {
  const clock = await rig.stripe.testHelpers.testClocks.create({ frozen_time: START });
  const { customer, subscription } = await subscribed(clock.id);
  expect(await rig.stripe.testHelpers.testClocks.del(clock.id)).toMatchObject({ deleted: true });
  expect(await rig.stripe.customers.retrieve(customer.id)).toMatchObject({ deleted: true });
  expect((await rig.stripe.subscriptions.retrieve(subscription.id)).status).toBe('canceled');
  await expect(rig.stripe.testHelpers.testClocks.retrieve(clock.id)).rejects.toMatchObject({ statusCode: 404 });
});
