// Whose card it is: a setup intent names its customer, and a renewal is charged on its own customer's method.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Daemon } from '../../src/daemon.js';
import { type Json, monthlyPrice, type Reply, SIGNUP_KEY, startWorld, type World } from '../support/world.js';
import { requestsOf } from './support/story.js';

const SETUP = '/api/payments/cardpsp/setup-intents';

let world: World;
let sending: Daemon;
let omitting: Daemon;
beforeAll(async () => {
  world = await startWorld();
  sending = await world.startDaemon();
  omitting = await world.startDaemon({ MOR_SETUP_CUSTOMER: 'omit' });
});
afterAll(() => world.close());

async function signUp(daemon: Daemon, body: Json, key: string = randomUUID()): Promise<Reply> {
  const headers = { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': key, 'content-type': 'application/json' };
  const answer = await fetch(`${daemon.url}/v1/signups`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as Json, headers: answer.headers };
}
const setupCalls = (): Promise<Json[]> => requestsOf(world, `side=mor&path=${SETUP}`);
/** What the newest setup intent was asked with. */
const lastSetup = async (): Promise<unknown> => (await setupCalls()).at(-1)?.['body'];

describe('a setup intent', () => {
  it('names its customer with everything that the signup gave', async () => {
    const customer = {
      id: 'cus_named',
      email: 'ada@example.com',
      name: 'Ada Example',
      country: 'de',
      address: { line1: 'Am Markt 1', city: 'Bonn', postal_code: '53111' },
    };
    expect((await signUp(sending, { kind: 'trial', customer })).status).toBe(201);
    const { id, ...known } = customer;
    expect(await lastSetup()).toEqual({ merchant_customer: { ...known, cardpsp_id: id, country: 'DE' } });
  });

  it('names the id alone when nothing else was given', async () => {
    expect((await signUp(sending, { kind: 'trial', customer: { id: 'cus_bare' } })).status).toBe(201);
    expect(await lastSetup()).toEqual({ merchant_customer: { cardpsp_id: 'cus_bare' } });
  });

  it('names nobody with MOR_SETUP_CUSTOMER=omit', async () => {
    const customer = { id: 'cus_omitted', email: 'ada@example.com' };
    expect((await signUp(omitting, { kind: 'trial', customer })).status).toBe(201);
    expect(await lastSetup()).toEqual({});
  });

  it('is repeated with its stored bytes under its key after MOR_SETUP_CUSTOMER changed', async () => {
    const key = randomUUID();
    const body = { kind: 'trial', customer: { id: 'cus_repeated', email: 'ada@example.com' } };
    const first = await signUp(sending, body, key);
    const before = (await setupCalls()).length;
    const again = await signUp(omitting, body, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    const calls = (await setupCalls()).slice(before - 1);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.['body']).toEqual({ merchant_customer: { cardpsp_id: 'cus_repeated', email: 'ada@example.com' } });
    expect(calls[1]?.['idempotency_key']).toBe(calls[0]?.['idempotency_key']);
  });
});

type Trial = {
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly setupIntentId: string;
  readonly morCustomerId: string;
};

/** A customer in a trial, whose setup intent waits for the browser. */
async function trial(daemon: Daemon, email: string): Promise<Trial> {
  const { stripe } = world;
  const customer = await stripe.customers.create({ email });
  const price = await monthlyPrice(stripe, 2990);
  const method = await stripe.paymentMethods.create({ type: 'custom', custom: { type: 'cpmt_mor' } });
  await stripe.paymentMethods.attach(method.id, { customer: customer.id });
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    default_payment_method: method.id,
    trial_period_days: 14,
  });
  const made = await signUp(daemon, { kind: 'trial', customer: { id: customer.id, email } });
  expect(made.status).toBe(201);
  return {
    customerId: customer.id,
    subscriptionId: subscription.id,
    setupIntentId: String(made.body['setup_intent_id']),
    morCustomerId: String(made.body['mor_customer_id']),
  };
}

async function confirm(setupIntentId: string, outcome = 'succeed'): Promise<void> {
  const { body } = await world.control('POST', `/intents/${setupIntentId}/confirm`, { outcome });
  expect(body['status']).toBe('succeeded');
}

/** The MoR's payments for an invoice: what became of each, and which intent saved the method that paid. */
async function chargesFor(invoiceId: string): Promise<{ status: unknown; decline: unknown; savedBy: unknown }[]> {
  const { body } = await world.control('GET', `/mor/payments?invoice=${invoiceId}`);
  return (body['data'] as Json[]).map((p) => ({
    status: p['status'],
    decline: p['decline_code'],
    savedBy: p['paid_with'] === null ? null : (p['paid_with'] as Json)['intent_id'],
  }));
}

describe('a renewal', () => {
  it("is charged on its own customer's method when two trials are confirmed in the other order", async () => {
    const ada = await trial(sending, 'ada@example.com');
    const bob = await trial(sending, 'bob@example.com');
    await confirm(bob.setupIntentId);
    await confirm(ada.setupIntentId);
    for (const who of [ada, bob]) {
      const invoiceId = await world.renew(who.subscriptionId);
      expect(await chargesFor(invoiceId)).toEqual([{ status: 'succeeded', decline: null, savedBy: who.setupIntentId }]);
      const { body } = await world.api('GET', `/v1/customers/${who.customerId}`);
      expect(body['mor_customer_id']).toBe(who.morCustomerId);
    }
  });

  it('is charged on the method that its customer confirmed last', async () => {
    const ada = await trial(sending, 'ada@example.com');
    await confirm(ada.setupIntentId);
    const again = await signUp(sending, { kind: 'trial', customer: { id: ada.customerId } });
    const newer = String(again.body['setup_intent_id']);
    expect(await chargesFor(await world.renew(ada.subscriptionId))).toMatchObject([{ savedBy: ada.setupIntentId }]);
    await confirm(newer);
    expect(await chargesFor(await world.renew(ada.subscriptionId))).toMatchObject([{ savedBy: newer }]);
  });

  it('stays open when nobody was named with the setup, whatever other methods the MoR has', async () => {
    const other = await trial(sending, 'bob@example.com');
    await confirm(other.setupIntentId);
    const ada = await trial(omitting, 'ada@example.com');
    await confirm(ada.setupIntentId);
    const invoiceId = await world.renew(ada.subscriptionId);
    expect(await chargesFor(invoiceId)).toEqual([{ status: 'failed', decline: 'no_payment_method', savedBy: null }]);
    const seen = await world.until(
      'the refused renewal is known',
      () => world.api('GET', `/v1/invoices/${invoiceId}`),
      (r) => JSON.stringify(r.body['attempts'] ?? []).includes('no_payment_method'),
    );
    expect(seen.body['status']).not.toBe('paid');
  });
});

it('a MoR that refuses the customer of a setup intent makes a refusal that names the setting and the field', async () => {
  await world.control('POST', '/mor/account', { setup_customer: 'refuse' });
  try {
    const customer = { id: 'cus_refused' };
    expect(await signUp(sending, { kind: 'trial', customer })).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        message: expect.stringContaining('MOR_SETUP_CUSTOMER=omit'),
        errors: [{ field: 'customer' }],
      },
    });
    expect((await signUp(omitting, { kind: 'trial', customer })).status).toBe(201);
  } finally {
    await world.control('POST', '/mor/account', { setup_customer: 'take' });
  }
});
