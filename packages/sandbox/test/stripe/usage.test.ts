// Amounts that are not final at `invoice.created`: the grace period, usage of metered prices, invoices filled by hand.
import { expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { idOf, type Rig, renewed, rigForEach, startRig, subscribe } from '../rig.js';

const HOUR = 3600;

let rig: Rig;
rigForEach((started) => (rig = started));

const read = (id: string): Promise<Stripe.Invoice> => rig.stripe.invoices.retrieve(id);
const usage = (subscription: string, quantity: number) =>
  rig.control('POST', '/stripe/usage', { subscription, quantity });

/** A customer with a metered price of 0.10 EUR. */
async function metered(): Promise<{ readonly subscription: Stripe.Subscription; readonly customerId: string }> {
  const customer = await rig.stripe.customers.create({ email: 'ada@example.com' });
  const product = await rig.stripe.products.create({ name: 'Calls' });
  const price = await rig.stripe.prices.create({
    product: product.id,
    currency: 'eur',
    unit_amount: 10,
    recurring: { interval: 'month', usage_type: 'metered', meter: 'mtr_1' },
  });
  const subscription = await rig.stripe.subscriptions.create({ customer: customer.id, items: [{ price: price.id }] });
  return { subscription, customerId: customer.id };
}

it("the sandbox's Stripe starts a metered subscription without money, and names the price's usage type", async () => {
  const { subscription } = await metered();
  expect(subscription.status).toBe('active');
  expect(await read(idOf(subscription.latest_invoice))).toMatchObject({ status: 'paid', total: 0 });
  const [item] = subscription.items.data;
  expect(item?.price.recurring).toMatchObject({ usage_type: 'metered', meter: 'mtr_1' });
  expect(item).not.toHaveProperty('quantity');
});

it("the sandbox's Stripe makes a metered renewal's draft of 0, and bills the usage of the draft's hour at finalization", async () => {
  const { subscription } = await metered();
  const id = await renewed(rig, subscription.id);
  await rig.advance(1);
  expect(rig.events('invoice.created').at(-1)?.data.object).toMatchObject({ id, amount_due: 0, status: 'draft' });
  await usage(subscription.id, 300);
  await usage(subscription.id, 120);
  expect(await read(id)).toMatchObject({ status: 'draft', amount_due: 4200 });
  await rig.advance(HOUR + 5);
  expect(rig.events('invoice.finalized').at(-1)?.data.object).toMatchObject({ id, amount_due: 4200 });
  await usage(subscription.id, 7); // the next period's
  expect(await read(await renewed(rig, subscription.id))).toMatchObject({ amount_due: 70 });
});

it("the sandbox's Stripe closes a metered renewal without usage as paid, with nothing due", async () => {
  const { subscription } = await metered();
  const id = await renewed(rig, subscription.id);
  await rig.advance(HOUR + 5);
  expect(await read(id)).toMatchObject({ status: 'paid', amount_due: 0, amount_paid: 0 });
});

it("the sandbox's Stripe takes lines on an invoice by hand after its creation, and finalizes the invoice with their sum", async () => {
  const { customer } = await subscribe(rig, 'ada@example.com');
  const invoice = await rig.stripe.invoices.create({ customer: customer.id, auto_advance: true, currency: 'eur' });
  await rig.advance(1);
  expect(rig.events('invoice.created').at(-1)?.data.object).toMatchObject({ id: invoice.id, amount_due: 0 });
  for (const amount of [1500, 700])
    await rig.stripe.invoiceItems.create({ customer: customer.id, invoice: invoice.id, amount, currency: 'eur' });
  await rig.advance(HOUR + 5);
  expect(await read(invoice.id)).toMatchObject({ status: 'open', amount_due: 2200 });
});

it("the sandbox's Stripe finalizes a draft after the account's grace period, up to 72 hours", async () => {
  const { subscription, invoiceId } = await subscribe(rig, 'ada@example.com');
  await rig.stripe.invoices.pay(invoiceId, { paid_out_of_band: true });
  expect((await rig.control('POST', '/stripe/grace-period', { hours: 73 })).status).toBe(400);
  await rig.control('POST', '/stripe/grace-period', { hours: 72 });
  const draft = await read(await renewed(rig, subscription.id));
  expect((draft.automatically_finalizes_at ?? 0) - draft.created).toBe(72 * HOUR);
  await rig.advance(71 * HOUR);
  expect((await read(draft.id)).status).toBe('draft');
  await rig.advance(HOUR + 5);
  expect((await read(draft.id)).status).toBe('open');
});

it('a sandbox may start with a long grace period', async () => {
  const slow = await startRig({ graceHours: 24 });
  try {
    const { customer } = await subscribe(slow, 'ada@example.com');
    const draft = await slow.stripe.invoices.create({ customer: customer.id, auto_advance: true });
    expect((draft.automatically_finalizes_at ?? 0) - draft.created).toBe(24 * HOUR);
  } finally {
    await slow.close();
  }
});
