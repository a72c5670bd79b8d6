// The merchant's backend: customers and subscriptions on Stripe, signups, other cards and payment links through Crossbill, and what Crossbill tells.
// It keeps everything in memory; where a real shop needs its database, a comment says so.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createClient, CrossbillError, NotVerifiedError, verifyWebhook } from '@crossbill/client';
import express from 'express';
import Stripe from 'stripe';
import { BadOrder, COUNTRIES, CURRENCY, PLANS, readOrder, taxRequest, textOf, TRIAL_DAYS } from './order.js';

/** Starts the shop. Gives its address and a way to end it. Rejects when the port is taken. */
export async function startShop(settings) {
  const stripe = stripeOf(settings);
  const crossbill = createClient({ baseUrl: settings.crossbillUrl, apiKey: settings.crossbillKey });
  const prices = await makePrices(stripe);

  // In your database:
  const sessions = new Map(); // cookie → customer id
  const orders = new Map(); // order id → order; the browser makes the id, so a second click is the same order
  const seen = new Map(); // webhook-id → notification; the same one may come twice

  const app = express().disable('x-powered-by');
  const customerOf = (req) => sessions.get(/(?:^|; )shop=([\w-]+)/.exec(req.headers.cookie ?? '')?.[1]);
  const ordersOf = (customerId) => [...orders.values()].filter((o) => o.customerId === customerId);

  // What Crossbill tells: the bytes as they came, so before any parser of JSON.
  app.post('/hooks/crossbill', express.raw({ type: 'application/json' }), (req, res) => {
    const event = verifyWebhook(req.body, req.headers, settings.notifySecret);
    const id = req.headers['webhook-id'];
    if (!seen.has(id)) seen.set(id, event);
    res.status(204).end();
  });

  app.use(express.static(fileURLToPath(new URL('./public', import.meta.url))), express.json());

  app.get('/api/shop', (_req, res) => {
    const { publishableKey, confirmScript } = settings;
    res.json({
      plans: PLANS,
      currency: CURRENCY,
      countries: COUNTRIES,
      trialDays: TRIAL_DAYS,
      publishableKey,
      confirmScript,
    });
  });

  // 1. "Buy": customer and subscription on Stripe, a signup at Crossbill. The browser gets the client secret and confirms.
  app.post('/api/orders', async (req, res) => {
    const order = await makeOrder(readOrder(req.body));
    orders.set(order.id, order);
    const session = randomUUID();
    sessions.set(session, order.customerId);
    res.cookie('shop', session, { httpOnly: true, sameSite: 'lax' });
    const { id, clientSecret } = order;
    res.status(201).json({ id, clientSecret });
  });

  async function makeOrder({ id, plan, trial, name, email, address }) {
    const once = (what) => ({ idempotencyKey: `${id}-${what}` }); // the same click twice makes nothing twice
    const where = {
      line1: address.line1,
      city: address.city,
      postal_code: address.postalCode,
      country: address.country,
    };
    const customer = await stripe.customers.create({ name, email, address: where }, once('customer'));
    // A custom payment method as the default keeps Stripe from charging by itself: the MoR does.
    const custom = { type: 'custom', custom: { type: settings.paymentMethodType } };
    const method = await stripe.paymentMethods.create(custom, once('method'));
    await stripe.paymentMethods.attach(method.id, { customer: customer.id }, once('attach'));
    const subscription = await stripe.subscriptions.create(
      {
        customer: customer.id,
        default_payment_method: method.id,
        items: [{ price: prices.get(plan.id) }],
        expand: ['latest_invoice'],
        ...(trial ? { trial_period_days: TRIAL_DAYS } : { payment_behavior: 'default_incomplete' }),
      },
      once('subscription'),
    );
    const about = { id: customer.id, name, email, country: address.country };
    const invoiceId = subscription.latest_invoice.id;
    const tax = taxRequest(plan, name, address);
    const signup = await crossbill.createSignup(
      trial
        ? { kind: 'trial', customer: about, payment_method_types: ['card', 'sepa_debit'], tax }
        : // Crossbill compares the total with the invoice, and refuses before the customer pays anything else.
          { kind: 'payment', customer: about, invoice_id: invoiceId, description: `${plan.name}, first month`, tax },
      once('signup'),
    );
    return {
      id,
      plan: plan.id,
      trial,
      country: address.country,
      customerId: customer.id,
      subscriptionId: subscription.id,
      invoiceId,
      amount: signup.amount_total, // null for a trial
      signupId: signup.id,
      clientSecret: signup.client_secret,
      confirmed: false,
    };
  }

  // 2. The browser has confirmed: its charge is the payment of the first invoice. Crossbill believes it once the MoR has proven it.
  app.post('/api/orders/:id/complete', async (req, res) => {
    const order = ordersOf(customerOf(req)).find((o) => o.id === req.params.id);
    if (order === undefined) return res.status(404).json({ message: 'No such order.' });
    if (!order.trial) {
      await crossbill.completeSignup(order.signupId, {
        charge_id: textOf(req.body, 'chargeId'),
        payment_id: textOf(req.body, 'paymentId'),
        invoice_id: order.invoiceId,
        amount: order.amount,
        currency: CURRENCY,
      });
    }
    order.confirmed = true;
    res.status(202).end();
  });

  // 3. The customer's page. Access follows what Crossbill told, not what the browser said.
  app.get('/api/me', async (req, res) => {
    const customer = customerOf(req);
    const order = ordersOf(customer).findLast((o) => o.confirmed);
    if (order === undefined) return res.json({ order: null });
    const [subscription, invoices] = await Promise.all([
      stripe.subscriptions.retrieve(order.subscriptionId),
      stripe.invoices.list({ subscription: order.subscriptionId, limit: 12 }),
    ]);
    const told = [...seen.values()].filter((event) => event.data.customer_id === customer);
    res.json({
      order: { plan: order.plan, status: subscription.status, trialEnd: subscription.trial_end },
      invoices: invoices.data.map((i) => ({
        ...stateOf(i, told),
        id: i.id,
        at: i.created,
        amount: i.amount_due,
        stripe: i.status,
      })),
      needsCard: needsCard(told),
      told: told.map(({ type, timestamp, data }) => ({ type, at: timestamp, invoice: data.invoice_id ?? null })),
    });
  });

  // 4. An invoice that stayed open can be paid by a link.
  app.post('/api/invoices/:id/payment-link', async (req, res) => {
    const invoice = await stripe.invoices.retrieve(req.params.id);
    const order = ordersOf(customerOf(req)).find((o) => o.customerId === invoice.customer);
    if (order === undefined) return res.status(404).json({ message: 'No such invoice.' });
    const link = { jurisdiction: order.country, return_url: `${address(server)}/?account` };
    res.status(201).json({ url: (await crossbill.createPaymentLink(invoice.id, link)).url });
  });

  // 5. Another card. A hard decline asks for it (`customer.method_needed`); the browser confirms it as it did at the signup.
  app.post('/api/payment-method', async (req, res) => {
    const customer = customerOf(req);
    if (customer === undefined) return res.status(404).json({ message: 'Nobody is signed in.' });
    const once = { idempotencyKey: `${customer}-${textOf(req.body, 'id')}` };
    const setup = await crossbill.createPaymentMethod(customer, { payment_method_types: ['card'] }, once);
    res.status(201).json({ clientSecret: setup.client_secret, setupIntentId: setup.setup_intent_id });
  });

  // Crossbill has the open invoices charged again, each once, however often this is reported.
  app.post('/api/payment-method/confirmed', async (req, res) => {
    const customer = customerOf(req);
    if (customer === undefined) return res.status(404).json({ message: 'Nobody is signed in.' });
    await crossbill.confirmPaymentMethod(customer, { setup_intent_id: textOf(req.body, 'setupIntentId') });
    res.status(202).end();
  });

  app.use((error, _req, res, _next) => {
    if (error instanceof NotVerifiedError) return res.status(400).end();
    if (error instanceof BadOrder) return res.status(400).json({ message: error.message });
    console.error(error);
    if (error instanceof CrossbillError && error.status === 400)
      return res
        .status(400)
        .json({ message: error.errors.map((e) => `${e.field} ${e.message}`).join(', ') || error.message });
    res.status(502).json({ message: 'Something went wrong on our side. Nothing was charged twice; please try again.' });
  });

  const server = app.listen(settings.port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const close = () => new Promise((closed) => server.close(closed).closeAllConnections());
  return { url: address(server), close };
}

const address = (server) => `http://127.0.0.1:${server.address().port}`;

/** `paid`, `open` (money is awaited), `failed` (Crossbill told that it was left open) or `ended` (nothing is left of the money). */
function stateOf(invoice, told) {
  const about = told.filter((event) => event.data.invoice_id === invoice.id);
  const types = about.map((event) => event.type);
  // Notifications come in no order: the newest that says what is left of the money counts.
  const counted = about.filter((event) => typeof event.data.amount_left === 'number');
  const newest = counted.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).at(-1);
  if (newest?.data.amount_left === 0) return { state: 'ended' };
  if (types.includes('invoice.paid') || invoice.amount_due === 0) return { state: 'paid' };
  const failed = types.some((type) => type === 'invoice.left_open' || type === 'invoice.action_required');
  return { state: failed ? 'failed' : 'open' };
}

/** The newest of these two: a card was declined for good, or an invoice was paid since. */
function needsCard(told) {
  const types = ['customer.method_needed', 'invoice.paid'];
  return told.findLast((event) => types.includes(event.type))?.type === 'customer.method_needed';
}

async function makePrices(stripe) {
  const prices = new Map();
  for (const { id, name, amount } of PLANS) {
    const once = (what) => ({ idempotencyKey: `shop-${what}-${id}-${amount}` });
    const product = await stripe.products.create({ name }, once('product'));
    const price = { product: product.id, unit_amount: amount, currency: CURRENCY, recurring: { interval: 'month' } };
    prices.set(id, (await stripe.prices.create(price, once('price'))).id);
  }
  return prices;
}

function stripeOf({ stripeKey, stripeBase }) {
  const { protocol, hostname, port } = new URL(stripeBase);
  const where = { protocol: protocol.slice(0, -1), host: hostname, ...(port === '' ? {} : { port }) };
  return new Stripe(stripeKey, { ...where, maxNetworkRetries: 2, telemetry: false });
}
