// Document 3 as the sandbox plays it: signup, renewals by outcome, refunds, keys, errors.
import { expect, it } from '@jest/globals';
import { type Rig, call, newToken, rigForEach, subscribe, renewed } from '../rig.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const SETUPS = '/api/payments/cardpsp/setup-intents';
const INTENTS = '/api/payments/cardpsp/payment-intents';

let rig: Rig;
rigForEach((started) => (rig = started));

/** Signs a customer up with the MoR and marks the first invoice paid; the subscription then renews. */
async function signedUp(email: string, confirm: object = {}) {
  const made = await subscribe(rig, email);
  const intent = await rig.mor('POST', INTENTS, {
    amount: 2990,
    currency: 'EUR',
    merchant_customer: { cardpsp_id: made.customer.id, email },
  });
  const browser = await rig.control('POST', `/intents/${String(intent.body['payment_intent_id'])}/confirm`, confirm);
  await rig.stripe.invoices.pay(made.invoiceId, { paid_out_of_band: true });
  return { ...made, intent: intent.body, browser: browser.body };
}

async function renew(subscription: string): Promise<string> {
  const id = await renewed(rig, subscription);
  await rig.advance(10);
  return id;
}

it("a signup at the sandbox's MoR returns a client secret, the browser gets a charge id, and the MoR knows the charge", async () => {
  const { intent, browser, invoiceId } = await signedUp('ada@example.com');
  expect(intent).toMatchObject({ status: 'requires_payment_method' });
  expect(String(intent['client_secret'])).toMatch(/^pi_\w+_secret_\w+$/);
  const chargeId = String(browser['charge_id']);
  expect(chargeId).toMatch(/^ch_/);
  const known = await rig.mor('GET', `/api/payments/invoice?psp_reference=${chargeId}`);
  expect([200, 202]).toContain(known.status);
  expect((await rig.mor('GET', '/api/payments/invoice?psp_reference=ch_none')).status).toBe(404);
  const payments = await rig.control('GET', '/mor/payments');
  expect(payments.body).toMatchObject({
    data: [{ kind: 'signup', status: 'succeeded', merchant_invoice_id: invoiceId }],
  });
  expect(rig.events('payment.succeeded')).toHaveLength(0); // no event exists for it
});

it("the sandbox's MoR names each wrong field of a signup, and refuses an unsupported amount or currency", async () => {
  const wrong = await rig.mor('POST', INTENTS, { amount: '10', description: 'x'.repeat(256) });
  expect(wrong).toMatchObject({
    status: 400,
    body: {
      code: 'invalid_request',
      errors: [
        { field: 'amount' },
        { field: 'currency' },
        { field: 'merchant_customer.cardpsp_id' },
        { field: 'description' },
      ],
    },
  });
  const customer = { merchant_customer: { cardpsp_id: 'cus_1' } };
  const replies = [
    await rig.mor('POST', INTENTS, { amount: 1, currency: 'eur', ...customer }),
    await rig.mor('POST', INTENTS, { amount: 100_000_000, currency: 'eur', ...customer }),
    await rig.mor('POST', INTENTS, { amount: 100, currency: 'xyz', ...customer }),
    await rig.mor('POST', INTENTS, { amount: 100, currency: 'eur', ...customer, tax_calculation_id: 'none' }),
    await rig.mor('POST', SETUPS, { payment_method_types: ['cheque'] }),
  ];
  expect(replies.map((a) => [a.status, a.body['code']])).toEqual([
    [422, 'amount_out_of_range'],
    [422, 'amount_out_of_range'],
    [422, 'unsupported_currency'],
    [404, 'tax_calculation_not_found'],
    [400, 'invalid_request'],
  ]);
});

it("the sandbox's MoR returns the same intent for a repeated key, and answers 409 to another body under the key", async () => {
  const key = { 'idempotency-key': 'signup-1' };
  const body = { amount: 2990, currency: 'EUR', merchant_customer: { cardpsp_id: 'cus_1' } };
  const first = await rig.mor('POST', INTENTS, body, key);
  expect((await rig.mor('POST', INTENTS, body, key)).body).toEqual(first.body);
  expect(await rig.mor('POST', INTENTS, { ...body, amount: 2991 }, key)).toMatchObject({
    status: 409,
    body: { code: 'idempotency_conflict' },
  });
});

it("the sandbox's MoR refuses a revoked, expired or partner's token with 401, and a suspended merchant with 403", async () => {
  const path = '/api/payments/invoice?psp_reference=ch_1';
  const { sandbox } = rig;
  const with_ = async (token: string): Promise<number> =>
    (await call(sandbox.morUrl, 'GET', path, undefined, { authorization: `Bearer ${token}` })).status;
  const token = await newToken(sandbox);
  expect(await with_(token)).toBe(404);
  expect(await with_(await newToken(sandbox, sandbox.secrets.partner))).toBe(401);
  await rig.control('POST', '/merchant', { suspended: true });
  expect(await with_(token)).toBe(403);
  await rig.control('POST', '/merchant', { suspended: false });
  await rig.advance(DAY);
  expect(await with_(token)).toBe(401);
  const fresh = await newToken(sandbox);
  await rig.control('POST', '/tokens/revoke');
  expect(await with_(fresh)).toBe(401);
});

it("the sandbox's MoR charges a renewal once, though it learns of the invoice from Stripe and from the relay", async () => {
  const { customer, subscription } = await signedUp('ada@example.com');
  const invoiceId = await renew(subscription.id);
  const created = rig.events('invoice.created').at(-1);
  const raw = JSON.stringify(created);
  const { relaySecret } = rig.sandbox.secrets;
  const header = rig.stripe.webhooks.generateTestHeaderString({ payload: raw, secret: relaySecret });
  const relayed = await call(rig.sandbox.morUrl, 'POST', '/relay/stripe', raw, { 'stripe-signature': header });
  expect(relayed.status).toBe(200);
  expect(
    (await call(rig.sandbox.morUrl, 'POST', '/relay/stripe', `${raw} `, { 'stripe-signature': header })).status,
  ).toBe(400);
  await rig.advance(DAY);
  const events = rig.events('payment.succeeded');
  expect(events).toHaveLength(1);
  expect(events[0]?.data.object).toMatchObject({
    merchant_invoice_id: invoiceId,
    merchant_customer_id: customer.id,
    amount: 2990,
    currency: 'eur',
    status: 'succeeded',
  });
  expect(String(events[0]?.data.object['processor_charge_id'])).toMatch(/^ch_/);
});

it("the sandbox's MoR charges a declined renewal again on request, with a new payment and a new event", async () => {
  const { customer, subscription } = await signedUp('decline@example.com');
  const invoiceId = await renew(subscription.id);
  const [failed] = rig.events('payment.failed');
  expect(failed?.data.object).toMatchObject({
    decline_code: 'insufficient_funds',
    processor_charge_id: '',
    status: 'failed',
  });
  await rig.control('POST', '/cards', { customer_id: customer.id, outcome: ['requires_action', 'succeed'] });
  for (const _ of [1, 2]) {
    expect((await rig.control('POST', '/mor/retry', { invoice_id: invoiceId })).status).toBe(202);
    await rig.advance(10);
  }
  expect(rig.events('payment.requires_action')).toHaveLength(1);
  const [succeeded] = rig.events('payment.succeeded');
  expect(succeeded?.data.object['merchant_invoice_id']).toBe(invoiceId);
  expect(succeeded?.data.object['payment_id']).not.toBe(failed?.data.object['payment_id']);
  expect((await rig.control('POST', '/mor/retry', { invoice_id: invoiceId })).status).toBe(400);
});

it("the sandbox's MoR reports a bank debit after four days, and declines a customer without a saved method", async () => {
  const { subscription } = await signedUp('debit@example.com', { outcome: 'succeed' });
  await renew(subscription.id);
  await rig.advance(3 * DAY);
  expect(rig.events('payment.succeeded')).toHaveLength(0);
  await rig.advance(DAY + HOUR);
  expect(rig.events('payment.succeeded')).toHaveLength(1);
  const stranger = await subscribe(rig, 'stranger@example.com');
  await rig.stripe.invoices.pay(stranger.invoiceId, { paid_out_of_band: true });
  await renew(stranger.subscription.id);
  expect(rig.events('payment.failed').map((e) => e.data.object['merchant_customer_id'])).toEqual([
    stranger.customer.id,
  ]);
});

/** A trial with a setup for its customer, or for nobody. */
async function trial(email: string, named: boolean) {
  const made = await subscribe(rig, email, { trial_period_days: 14 });
  const body = named ? { merchant_customer: { cardpsp_id: made.customer.id, email } } : {};
  const setup = await rig.mor('POST', SETUPS, body);
  expect(setup.status).toBe(200);
  return { ...made, setup: setup.body, intentId: String(setup.body['setup_intent_id']) };
}
const confirm = (intentId: string, outcome = 'succeed') =>
  rig.control('POST', `/intents/${intentId}/confirm`, { outcome });
async function paidWith(invoiceId: string): Promise<unknown[]> {
  const { body } = await rig.control('GET', `/mor/payments?invoice=${invoiceId}`);
  return (body['data'] as { paid_with: { intent_id: string } | null }[]).map((p) => p.paid_with?.intent_id ?? null);
}

it("the sandbox's MoR charges a customer's newest confirmed method, and never another customer's", async () => {
  const ada = await trial('ada@example.com', true);
  const bob = await trial('bob@example.com', true);
  await confirm(bob.intentId);
  await confirm(ada.intentId);
  const second = await rig.mor('POST', SETUPS, { merchant_customer: { cardpsp_id: ada.customer.id } });
  expect(second.body['mor_customer_id']).toBe(ada.setup['mor_customer_id']);
  const secondId = String(second.body['setup_intent_id']);
  await confirm(secondId, 'decline');
  expect(await paidWith(await renew(ada.subscription.id))).toEqual([ada.intentId]);
  expect(await paidWith(await renew(bob.subscription.id))).toEqual([bob.intentId]);
  await confirm(secondId);
  expect(await paidWith(await renew(ada.subscription.id))).toEqual([secondId]);
  const { body } = await rig.control('GET', '/mor/customers');
  expect(body['data']).toMatchObject([
    {
      merchant_customer_id: ada.customer.id,
      payment_methods: [{ intent_id: ada.intentId }, { intent_id: secondId }],
    },
    { merchant_customer_id: bob.customer.id, payment_methods: [{ intent_id: bob.intentId }] },
  ]);
});

it("the sandbox's MoR charges no renewal to a method saved without a customer", async () => {
  const ada = await trial('ada@example.com', false);
  const bob = await trial('bob@example.com', false);
  expect(ada.setup['mor_customer_id']).not.toBe(bob.setup['mor_customer_id']);
  await confirm(ada.intentId);
  await confirm(bob.intentId);
  expect(await paidWith(await renew(ada.subscription.id))).toEqual([null]);
  expect(rig.events('payment.failed').map((e) => e.data.object)).toMatchObject([
    { merchant_customer_id: ada.customer.id, decline_code: 'no_payment_method', processor_charge_id: '' },
  ]);
});

it("the sandbox's MoR refuses a malformed customer in a setup intent, or any customer if configured so", async () => {
  const asked = async (customer: unknown) => {
    const { status, body } = await rig.mor('POST', SETUPS, { merchant_customer: customer });
    return [status, ((body['errors'] ?? []) as { field: string }[]).map((e) => e.field)];
  };
  expect(await asked({})).toEqual([400, ['merchant_customer.cardpsp_id']]);
  expect(await asked({ cardpsp_id: 'cus_1', country: 'DEU' })).toEqual([400, ['merchant_customer.country']]);
  await rig.control('POST', '/mor/account', { setup_customer: 'refuse' });
  expect(await asked({ cardpsp_id: 'cus_1' })).toEqual([400, ['merchant_customer']]);
  expect((await rig.mor('POST', SETUPS, {})).status).toBe(200);
});

it("the sandbox's MoR uses a trial's tax calculation only for the first invoice it charges, and for that invoice's retries", async () => {
  rig.sandbox.mor.registerEventWebhook(`${rig.receiverUrl}/events`);
  const calculation = await rig.mor('POST', '/api/tax/calculations', {
    currency: 'EUR',
    customer: {
      legalName: 'Ada',
      billingAddress: { line1: '1 Rue', city: 'Paris', postalCode: '75001', country: 'FR' },
    },
    lineItems: [{ merchantLineItemReference: 'l1', productCode: 'p1', title: 'Plan', unitPrice: 29.9, quantity: 1 }],
    evidence: { billingCountry: 'FR', ipAddress: '203.0.113.7' },
  });
  const taxCalculationId = String(calculation.body['taxCalculationId']);
  const { customer, subscription } = await subscribe(rig, 'ada@example.com', { trial_period_days: 14 });
  const setup = await rig.mor('POST', SETUPS, {
    merchant_customer: { cardpsp_id: customer.id },
    tax_calculation_id: taxCalculationId,
  });
  await rig.control('POST', `/intents/${String(setup.body['setup_intent_id'])}/confirm`, {});
  await rig.control('POST', '/cards', { customer_id: customer.id, outcome: ['decline', 'succeed', 'succeed'] });
  const first = await renew(subscription.id);
  await rig.control('POST', '/mor/retry', { invoice_id: first });
  await rig.advance(10);
  const second = await renew(subscription.id);
  const { body } = await rig.control('GET', '/mor/payments');
  const notified = body['data'] as Record<string, unknown>[];
  expect(notified.map((p) => [p['merchant_invoice_id'], p['status'], p['tax_calculation_id']])).toEqual([
    [first, 'failed', taxCalculationId],
    [first, 'succeeded', taxCalculationId],
    [second, 'succeeded', null],
  ]);
  const captured = rig.received.filter((r) => r.path === '/events').map((r) => JSON.parse(r.body) as unknown);
  expect(captured).toHaveLength(1);
  expect(captured[0]).toMatchObject({ type: 'payment.captured', data: { taxCalculationId } });
});

async function payment(email = 'ada@example.com'): Promise<string> {
  const { browser } = await signedUp(email);
  return String(browser['payment_id']);
}
const refund = (id: string, body: unknown, key: string) =>
  rig.mor('POST', `/api/payments/${id}/refund`, body, { 'idempotency-key': key });

it("the sandbox's MoR reports the refunded total with each refund, and refuses a refund beyond the payment", async () => {
  const id = await payment();
  expect((await refund(id, { amount: 990, reason: 'requested_by_customer' }, 'a')).body).toMatchObject({
    amount: 990,
    status: 'succeeded',
    reason: 'requested_by_customer',
    currency: 'eur',
  });
  await rig.control('POST', '/mor/refunds', { payment_id: id, amount: 1000 });
  expect((await refund(id, { amount: 1001 }, 'b')).body['code']).toBe('invalid_request');
  expect((await refund(id, undefined, 'c')).body).toMatchObject({ amount: 1000 });
  expect(await refund(id, undefined, 'd')).toMatchObject({ status: 422, body: { code: 'payment_not_refundable' } });
  await rig.advance(1);
  const notified = rig.events('payment.refunded').map((e) => e.data.object);
  expect(notified.map((o) => [o['amount'], o['amount_refunded_total'], o['status']])).toEqual([
    [990, 990, 'partially_refunded'],
    [1000, 1990, 'partially_refunded'],
    [1000, 2990, 'refunded'],
  ]);
});

it("the sandbox's MoR refuses a refund without a key, and refunds once for a repeated key", async () => {
  const id = await payment();
  const first = await refund(id, { amount: 100 }, 'a');
  expect((await refund(id, { amount: 100 }, 'a')).body).toEqual(first.body);
  expect((await refund(id, { amount: 200 }, 'a')).status).toBe(409);
  expect((await rig.mor('POST', `/api/payments/${id}/refund`, { amount: 100 })).body['code']).toBe('invalid_request');
  expect((await refund('pay_none', { amount: 100 }, 'b')).body['code']).toBe('payment_not_found');
  expect((await rig.control('GET', '/mor/refunds')).body['data']).toHaveLength(1);
});

it("the sandbox's MoR keeps a bank debit's refund pending for days; a failed refund frees the amount without an event", async () => {
  const id = await payment('debit@example.com');
  await rig.advance(5 * DAY);
  expect((await refund(id, { amount: 2990 }, 'a')).body['status']).toBe('pending');
  await rig.advance(4 * DAY);
  expect(rig.events('payment.refunded')).toHaveLength(1);
  const other = await payment('debit@example.org');
  await rig.advance(5 * DAY);
  await rig.control('POST', '/mor/next-refund', { outcome: 'pending_fail' });
  await refund(other, { amount: 2990 }, 'b');
  await rig.advance(4 * DAY);
  expect(rig.events('payment.refunded')).toHaveLength(1);
  expect((await refund(other, { amount: 2990 }, 'c')).status).toBe(200);
});
