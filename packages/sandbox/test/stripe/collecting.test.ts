// Stripe's own handling of charge_automatically invoices: it charges its own cards, asks, tries again and gives up.
import { expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { type Rig, idOf, report, rigForEach, subscribe, renewed } from '../rig.js';

const HOUR = 3600;
const DAY = 24 * HOUR;

let rig: Rig;
rigForEach((started) => (rig = started));

async function card(customer: string, name = 'pm_card_visa'): Promise<string> {
  return (await rig.stripe.paymentMethods.attach(name, { customer })).id;
}

/** A paid first invoice; then the subscription loses its own default method. */
async function running() {
  const made = await subscribe(rig, 'ada@example.com');
  await rig.stripe.invoices.pay(made.invoiceId, { paid_out_of_band: true });
  await rig.stripe.subscriptions.update(made.subscription.id, { default_payment_method: '' });
  return { ...made, customerId: made.customer.id, subscriptionId: made.subscription.id };
}

const read = (id: string): Promise<Stripe.Invoice> => rig.stripe.invoices.retrieve(id, { expand: ['payments'] });
const statusOf = async (subscription: string): Promise<string> =>
  (await rig.stripe.subscriptions.retrieve(subscription)).status;
const notified = (type: string, id: string): number =>
  rig.events(type).filter((e) => e.data.object['id'] === id || e.data.object['invoice'] === id).length;

it("when the sandbox's Stripe finalizes a draft, it makes a payment intent and charges the customer's saved card", async () => {
  const { customerId, subscriptionId } = await running();
  const method = await card(customerId);
  await rig.stripe.customers.update(customerId, { invoice_settings: { default_payment_method: method } });
  const id = await renewed(rig, subscriptionId);
  await rig.advance(HOUR - 60);
  expect((await read(id)).status).toBe('draft');
  await rig.advance(120);
  const paid = await read(id);
  expect(paid).toMatchObject({ status: 'paid', amount_paid: 2990, attempt_count: 1, next_payment_attempt: null });
  const [payment] = paid.payments?.data ?? [];
  expect(payment).toMatchObject({ status: 'paid', amount_paid: 2990, payment: { type: 'payment_intent' } });
  const intent = idOf(payment?.payment.payment_intent ?? null);
  expect(await rig.stripe.paymentIntents.retrieve(intent)).toMatchObject({ status: 'succeeded', amount: 2990 });
  for (const type of ['invoice.payment_succeeded', 'invoice.paid', 'invoice_payment.paid'])
    expect(notified(type, id)).toBe(1);
  expect(notified('invoice.payment_attempt_required', id)).toBe(0);
});

it("the sandbox's Stripe charges a card saved at Stripe although the MoR charges the invoice too", async () => {
  const { customerId, subscriptionId } = await running();
  await rig.stripe.customers.update(customerId, { source: 'tok_visa' });
  await rig.control('POST', '/cards', { customer_id: customerId, outcome: 'succeed' });
  const id = await renewed(rig, subscriptionId);
  await rig.advance(HOUR + 60);
  expect(rig.events('payment.succeeded').map((e) => e.data.object['merchant_invoice_id'])).toEqual([id]);
  expect((await read(id)).payments?.data.map((p) => [p.payment.type, p.status])).toEqual([['payment_intent', 'paid']]);
  const record = await report(rig, 2990, 'ch_mor');
  await expect(rig.stripe.invoices.attachPayment(id, { payment_record: record.id })).rejects.toMatchObject({
    code: 'invoice_already_paid',
  });
});

it("the sandbox's Stripe looks for a card at the invoice, the subscription and its `default_source`, the customer and its `default_source`, in this order", async () => {
  const { customerId, subscriptionId } = await running();
  const { invoices, subscriptions, customers, charges } = rig.stripe;
  await customers.update(customerId, { source: 'tok_visa' });
  const source = (await customers.retrieve(customerId)) as Stripe.Customer;
  const order = [idOf(source.default_source)];
  const [ofCustomer, ofSource, ofSubscription, ofInvoice] = [
    await card(customerId),
    await card(customerId),
    await card(customerId),
    await card(customerId),
  ];
  const steps: ((invoice: string) => Promise<unknown>)[] = [
    () => Promise.resolve(),
    () => customers.update(customerId, { invoice_settings: { default_payment_method: ofCustomer } }),
    () => subscriptions.update(subscriptionId, { default_source: ofSource }),
    () => subscriptions.update(subscriptionId, { default_payment_method: ofSubscription }),
    (invoice) => invoices.update(invoice, { default_payment_method: ofInvoice }),
  ];
  order.push(ofCustomer, ofSource, ofSubscription, ofInvoice);
  for (const step of steps) {
    const id = await renewed(rig, subscriptionId);
    await step(id);
    await rig.advance(HOUR + 60);
  }
  const taken = (await charges.list({ limit: 10 })).data.map((c) => c.payment_method).reverse();
  expect(taken).toEqual(order);
});

it("the sandbox's Stripe leaves an invoice open after a declined card, and marks it paid after the next good attempt", async () => {
  const { customerId, subscriptionId } = await running();
  const method = await card(customerId);
  await rig.stripe.subscriptions.update(subscriptionId, { default_payment_method: method });
  await rig.control('POST', '/stripe/cards', { payment_method: method, outcome: ['decline', 'requires_action'] });
  const id = await renewed(rig, subscriptionId);
  await rig.advance(HOUR + 60);
  const open = await read(id);
  expect(open).toMatchObject({ status: 'open', attempt_count: 1, attempted: true });
  expect((open.next_payment_attempt ?? 0) - (open.status_transitions.finalized_at ?? 0)).toBe(3 * DAY);
  expect(notified('invoice.payment_failed', id)).toBe(1);
  expect(await statusOf(subscriptionId)).toBe('past_due');
  await rig.advance(3 * DAY);
  expect(notified('invoice.payment_action_required', id)).toBe(1);
  await rig.advance(5 * DAY);
  expect(await read(id)).toMatchObject({ status: 'paid', attempt_count: 3, next_payment_attempt: null });
  expect(await statusOf(subscriptionId)).toBe('active');
});

it("the sandbox's Stripe charges a card at a manual request, and refunds the charge manually or by a credit note", async () => {
  const { customer, invoiceId } = await subscribe(rig, 'ada@example.com');
  const { invoices, creditNotes, refunds } = rig.stripe;
  await expect(invoices.pay(invoiceId)).rejects.toMatchObject({ statusCode: 400, code: 'resource_missing' });
  const bad = await card(customer.id, 'pm_card_chargeCustomerFail');
  await expect(invoices.pay(invoiceId, { payment_method: bad })).rejects.toMatchObject({
    statusCode: 402,
    code: 'card_declined',
  });
  const paid = await invoices.pay(invoiceId, { payment_method: await card(customer.id), expand: ['payments'] });
  expect(paid.status).toBe('paid');
  const note = await creditNotes.create({ invoice: invoiceId, amount: 990, refund_amount: 990 });
  expect(note.refunds).toMatchObject([{ type: 'refund', amount_refunded: 990 }]);
  const intent = idOf(paid.payments?.data.find((p) => p.status === 'paid')?.payment.payment_intent ?? null);
  const refund = await refunds.create({ payment_intent: intent });
  expect(refund).toMatchObject({ amount: 2000, status: 'succeeded' });
  await creditNotes.create({
    invoice: invoiceId,
    amount: 2000,
    refunds: [{ refund: refund.id, amount_refunded: 2000 }],
  });
  await expect(refunds.create({ payment_intent: intent })).rejects.toMatchObject({ code: 'charge_already_refunded' });
});

it("the sandbox's Stripe retries an invoice without a payment method on days 3, 8 and 15, then leaves the invoice open", async () => {
  const { subscriptionId } = await running();
  const id = await renewed(rig, subscriptionId);
  await rig.advance(HOUR + 60);
  for (const [days, attempts] of [
    [0, 1],
    [3, 2],
    [5, 3],
    [7, 4],
    [14, 4],
  ] as const) {
    await rig.advance(days * DAY);
    expect((await read(id)).attempt_count).toBe(attempts);
    expect(notified('invoice.payment_failed', id)).toBe(attempts);
  }
  expect(await read(id)).toMatchObject({ status: 'open', next_payment_attempt: null });
  expect(await statusOf(subscriptionId)).toBe('past_due');
});

it("the sandbox's Stripe cancels the subscription after the last attempt if the retry settings say so", async () => {
  const { subscriptionId } = await running();
  const settings = { days: [1], then: 'cancel' };
  expect((await rig.control('POST', '/stripe/retry-settings', settings)).body).toEqual(settings);
  const id = await renewed(rig, subscriptionId);
  await rig.advance(HOUR + 60);
  await rig.advance(DAY);
  expect(await statusOf(subscriptionId)).toBe('canceled');
  expect(await read(id)).toMatchObject({ status: 'open', auto_advance: false, attempt_count: 2 });
});

it("the sandbox's Stripe sends invoice.payment_attempt_required at each attempt until somebody reports a payment", async () => {
  const { subscription, invoiceId } = await subscribe(rig, 'ada@example.com');
  await rig.stripe.invoices.pay(invoiceId, { paid_out_of_band: true });
  const id = await renewed(rig, subscription.id);
  await rig.advance(HOUR + 60);
  expect(notified('invoice.payment_attempt_required', id)).toBe(1);
  expect(await statusOf(subscription.id)).toBe('active'); // no verdict yet
  await rig.advance(3 * DAY);
  expect(notified('invoice.payment_attempt_required', id)).toBe(2);
  expect(notified('invoice.payment_failed', id)).toBe(0);
  expect(await statusOf(subscription.id)).toBe('past_due');
  const record = await report(rig, 2990, 'ch_1');
  await rig.stripe.invoices.attachPayment(id, { payment_record: record.id });
  expect(await statusOf(subscription.id)).toBe('active');
  await rig.advance(14 * DAY);
  expect(notified('invoice.payment_attempt_required', id)).toBe(2);
});

it("the sandbox's Stripe never tries to charge an invoice without auto_advance or with collection by e-mail", async () => {
  const { subscriptionId } = await running();
  const id = await renewed(rig, subscriptionId);
  await rig.stripe.invoices.finalizeInvoice(id, { auto_advance: false });
  const sent = await subscribe(rig, 'bob@example.com', { collection_method: 'send_invoice', days_until_due: 14 });
  await rig.advance(10 * DAY);
  for (const one of [id, sent.invoiceId])
    expect(await read(one)).toMatchObject({ status: 'open', attempt_count: 0, next_payment_attempt: null });
});

it("the sandbox's Stripe charges the first invoice of a subscription at once, unless payment_behavior is default_incomplete", async () => {
  const customer = await rig.stripe.customers.create({ email: 'grace@example.com' });
  const product = await rig.stripe.products.create({ name: 'Larch Pro' });
  const monthly = {
    product: product.id,
    currency: 'eur',
    unit_amount: 2990,
    recurring: { interval: 'month' },
  } as const;
  const price = await rig.stripe.prices.create(monthly);
  const wanted = { customer: customer.id, items: [{ price: price.id }] };
  await expect(rig.stripe.subscriptions.create(wanted)).rejects.toMatchObject({
    statusCode: 400,
    code: 'resource_missing',
  });
  expect((await rig.stripe.subscriptions.list({ customer: customer.id })).data).toEqual([]);
  const waiting = await rig.stripe.subscriptions.create({ ...wanted, payment_behavior: 'default_incomplete' });
  expect(waiting.status).toBe('incomplete');
  const method = await card(customer.id);
  await rig.stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: method } });
  const charged = await rig.stripe.subscriptions.create(wanted);
  expect([charged.status, (await read(idOf(charged.latest_invoice))).status]).toEqual(['active', 'paid']);
  await rig.control('POST', '/stripe/cards', { payment_method: method, outcome: 'decline' });
  const declined = await rig.stripe.subscriptions.create(wanted);
  expect([declined.status, (await read(idOf(declined.latest_invoice))).status]).toEqual(['incomplete', 'open']);
});
