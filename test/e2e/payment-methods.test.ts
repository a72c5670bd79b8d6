// The owner of a card and another card, end to end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type Daemon } from '../../src/daemon.js';
import {
  type Json,
  type Reply,
  SIGNUP_KEY,
  type Subscriber,
  type World,
  monthlyPrice,
  startWorld,
  refusal,
} from '../support/rigs/world.js';
import { deafMor, draftRenewal, openRenewal, requestsOf, paidOnce } from './support/story.js';

// Whose card: a setup intent names its customer, and the MoR charges a renewal on its own customer's method.
describe('The owner of a card', () => {
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
    const headers = {
      authorization: `Bearer ${SIGNUP_KEY}`,
      'idempotency-key': key,
      'content-type': 'application/json',
    };
    const reply = await fetch(`${daemon.url}/v1/signups`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: reply.status, body: (await reply.json()) as Json, headers: reply.headers };
  }
  const setupCalls = (): Promise<Json[]> => requestsOf(world, `side=mor&path=${SETUP}`);
  /** The request of the newest setup intent. */
  const lastSetup = async (): Promise<unknown> => (await setupCalls()).at(-1)?.['body'];

  describe('a setup intent', () => {
    it("Crossbill sends the customer's id and all details of the signup with a setup intent", async () => {
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

    it("Crossbill sends only the customer's id with a setup intent if the signup has no customer details", async () => {
      expect((await signUp(sending, { kind: 'trial', customer: { id: 'cus_bare' } })).status).toBe(201);
      expect(await lastSetup()).toEqual({ merchant_customer: { cardpsp_id: 'cus_bare' } });
    });

    it('Crossbill names no customer in a setup intent with MOR_SETUP_CUSTOMER=omit', async () => {
      const customer = { id: 'cus_omitted', email: 'ada@example.com' };
      expect((await signUp(omitting, { kind: 'trial', customer })).status).toBe(201);
      expect(await lastSetup()).toEqual({});
    });

    it('Crossbill repeats a setup intent with its stored bytes after MOR_SETUP_CUSTOMER changed', async () => {
      const key = randomUUID();
      const body = { kind: 'trial', customer: { id: 'cus_repeated', email: 'ada@example.com' } };
      const first = await signUp(sending, body, key);
      const before = (await setupCalls()).length;
      const again = await signUp(omitting, body, key);
      expect([again.status, again.body]).toEqual([201, first.body]);
      const calls = (await setupCalls()).slice(before - 1);
      expect(calls).toHaveLength(2);
      expect(calls[1]?.['body']).toEqual({
        merchant_customer: { cardpsp_id: 'cus_repeated', email: 'ada@example.com' },
      });
      expect(calls[1]?.['idempotency_key']).toBe(calls[0]?.['idempotency_key']);
    });
  });

  type Trial = {
    readonly customerId: string;
    readonly subscriptionId: string;
    readonly setupIntentId: string;
    readonly morCustomerId: string;
  };

  /** A customer in a trial, with a setup intent waiting for the browser. */
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

  /** The MoR's payments for an invoice: the status of each, and the intent behind the paying method. */
  async function chargesFor(invoiceId: string): Promise<{ status: unknown; decline: unknown; savedBy: unknown }[]> {
    const { body } = await world.control('GET', `/mor/payments?invoice=${invoiceId}`);
    return (body['data'] as Json[]).map((p) => ({
      status: p['status'],
      decline: p['decline_code'],
      savedBy: p['paid_with'] === null ? null : (p['paid_with'] as Json)['intent_id'],
    }));
  }

  describe('a renewal', () => {
    it("if two customers confirm their trials in reverse order, the MoR charges each renewal to its own customer's payment method", async () => {
      const ada = await trial(sending, 'ada@example.com');
      const bob = await trial(sending, 'bob@example.com');
      await confirm(bob.setupIntentId);
      await confirm(ada.setupIntentId);
      for (const who of [ada, bob]) {
        const invoiceId = await world.renew(who.subscriptionId);
        expect(await chargesFor(invoiceId)).toEqual([
          { status: 'succeeded', decline: null, savedBy: who.setupIntentId },
        ]);
        const { body } = await world.api('GET', `/v1/customers/${who.customerId}`);
        expect(body['mor_customer_id']).toBe(who.morCustomerId);
      }
    });

    it('the MoR charges a renewal to the method its customer confirmed last', async () => {
      const ada = await trial(sending, 'ada@example.com');
      await confirm(ada.setupIntentId);
      const again = await signUp(sending, { kind: 'trial', customer: { id: ada.customerId } });
      const newer = String(again.body['setup_intent_id']);
      expect(await chargesFor(await world.renew(ada.subscriptionId))).toMatchObject([{ savedBy: ada.setupIntentId }]);
      await confirm(newer);
      expect(await chargesFor(await world.renew(ada.subscriptionId))).toMatchObject([{ savedBy: newer }]);
    });

    it("if a trial's setup intent named no customer, the renewal stays open, and no other customer's payment method is charged", async () => {
      const other = await trial(sending, 'bob@example.com');
      await confirm(other.setupIntentId);
      const ada = await trial(omitting, 'ada@example.com');
      await confirm(ada.setupIntentId);
      const invoiceId = await world.renew(ada.subscriptionId);
      expect(await chargesFor(invoiceId)).toEqual([{ status: 'failed', decline: 'no_payment_method', savedBy: null }]);
      const seen = await world.shows(`/v1/invoices/${invoiceId}`, (r) =>
        JSON.stringify(r['attempts'] ?? []).includes('no_payment_method'),
      );
      expect(seen['status']).not.toBe('paid');
    });
  });

  it('when the MoR refuses the customer of a setup intent, Crossbill answers 400 and names MOR_SETUP_CUSTOMER=omit', async () => {
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
});

// Another card: its setup intent, the report of its confirmation, and the retries of the customer's refused renewals
// with it.
describe('another card of a customer', () => {
  const AS_SHOP = { authorization: `Bearer ${SIGNUP_KEY}` };
  const LINKS = { RECOVERY_LINK_JURISDICTION: 'GB', RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks' };

  let world: World;
  let s: Subscriber;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    const relay = {
      MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
      MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
    };
    await world.startDaemon({ ...relay, ...LINKS });
    await deafMor(world);
    s = await world.paidSubscriber();
  });
  afterAll(() => world.close());

  const change = (customer: string, body: Json = {}, key: string | null = null): Promise<Reply> =>
    world.api('POST', `/v1/customers/${customer}/payment-method`, body, {
      ...AS_SHOP,
      ...(key === null ? {} : { 'idempotency-key': key }),
    });
  const confirmed = (customer: string, setup?: unknown): Promise<Reply> => {
    const body = setup === undefined ? undefined : { setup_intent_id: setup };
    return world.api('POST', `/v1/customers/${customer}/payment-method/confirmed`, body, AS_SHOP);
  };
  const customer = async (id: string): Promise<Json> => (await world.api('GET', `/v1/customers/${id}`)).body;
  const methods = async (id: string): Promise<Json[]> => (await customer(id))['payment_methods'] as Json[];
  const shown = async (id: string): Promise<Json> => (await world.api('GET', `/v1/invoices/${id}`)).body;
  const made = (invoice: Json): Json[] => ((invoice['retries'] as Json | null)?.['made'] as Json[] | undefined) ?? [];
  const charges = async (id: string): Promise<string[]> =>
    ((await world.control('GET', `/mor/payments?invoice=${id}`)).body['data'] as Json[]).map((p) =>
      String(p['status']),
    );

  /** A renewal the MoR declined for good; with links set up its customer can pay a link. */
  async function declined(...outcomes: readonly string[]): Promise<string> {
    await world.control('POST', '/cards', {
      customer_id: s.customerId,
      outcome: ['decline:expired_card', ...outcomes],
    });
    const id = await draftRenewal(world, s);
    const refused = (json: Json): boolean => (json['retries'] ?? null) !== null;
    await world.until('it was refused', () => shown(id), refused);
    await world.stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    return id;
  }

  async function anotherCard(): Promise<Json> {
    const setup = (await change(s.customerId)).body;
    await world.control('POST', `/intents/${String(setup['setup_intent_id'])}/confirm`, {});
    return setup;
  }

  it('POST /v1/customers/:id/payment-method makes one setup intent for a key, and only the response has the client secret', async () => {
    const asked = { payment_method_types: ['card', 'sepa_debit'] };
    const first = await change(s.customerId, asked, 'card-1');
    expect(first.status).toBe(201);
    expect(Object.keys(first.body).sort()).toEqual([
      'client_secret',
      'id',
      'mor_customer_id',
      'setup_intent_id',
      'status',
    ]);
    const again = await change(s.customerId, asked, 'card-1');
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await change(s.customerId, {}, 'card-1')).toMatchObject(refusal(409, 'idempotency_conflict'));
    const sent = await requestsOf(world, 'side=mor&path=/api/payments/cardpsp/setup-intents');
    expect(new Set(sent.map((r) => (r['headers'] as Json)['idempotency-key'])).size).toBe(1);
    expect(sent.map((r) => (r['body'] as Json)['merchant_customer'])).toEqual(
      sent.map(() => ({ cardpsp_id: s.customerId, email: 'ada@example.com' })),
    );
    const now = await methods(s.customerId);
    expect(now).toMatchObject([
      { setup_intent_id: first.body['setup_intent_id'], origin: 'change', current: false, confirmed_at: null },
      { setup_intent_id: null, origin: 'signup', current: true, confirmed_by: 'charge' },
    ]);
    const secret = String(first.body['client_secret']);
    expect(JSON.stringify(await customer(s.customerId))).not.toContain(secret);
  });

  it('after a customer confirms another card, Crossbill immediately retries the refused renewal, and only one time', async () => {
    const id = await declined('decline:insufficient_funds', 'succeed');
    await world.until(
      'a link can be paid',
      () => shown(id),
      (i) => (i['payment_links'] as Json[]).some((l) => l['status'] === 'PAYABLE'),
    );
    expect((await world.api('POST', `/v1/invoices/${id}/retry`)).body).toMatchObject({ code: 'invoice_not_retryable' });
    await anotherCard();
    const reports = await Promise.all([confirmed(s.customerId), confirmed(s.customerId)]);
    expect(reports.map((r) => r.status)).toEqual([202, 202]);
    expect(reports.map((r) => (r.body['data'] as Json[]).map((i) => i['id']))).toEqual([[id], [id]]);
    const tried = await world.until(
      'it was tried',
      () => shown(id),
      (i) => (i['attempts'] as Json[]).length === 2,
    );
    expect(made(tried).filter((r) => r['means'] === 'charge')).toMatchObject([
      { by: 'shop', amount: 2990, withdrawn: false },
    ]);
    expect((await confirmed(s.customerId)).status).toBe(202);
    expect(await charges(id)).toEqual(['failed', 'failed']);
    await anotherCard();
    expect((await confirmed(s.customerId)).status).toBe(202);
    await paidOnce(world, id);
    expect(await charges(id)).toEqual(['failed', 'failed', 'succeeded']);
    expect((await confirmed(s.customerId)).body['data']).toEqual([]);
  });

  it('Crossbill confirms the named setup even after a newer one, and answers 404 for a setup of another customer', async () => {
    const id = await declined('succeed');
    const older = (await change(s.customerId)).body;
    const newer = (await change(s.customerId)).body;
    await world.control('POST', `/intents/${String(older['setup_intent_id'])}/confirm`, {});
    const other = await world.paidSubscriber();
    const theirs = (await change(other.customerId)).body;
    const signup = (await world.api('GET', `/v1/signups/${s.signupId}`)).body;
    for (const wrong of [theirs['setup_intent_id'], 'seti_unknown', signup['payment_intent_id']])
      expect(await confirmed(s.customerId, wrong)).toMatchObject(refusal(404, 'not_found', 'setup_intent_id'));
    expect(await confirmed('cus_nobody', older['setup_intent_id'])).toMatchObject(refusal(404, 'not_found'));
    expect(made(await shown(id)).filter((r) => r['means'] === 'charge')).toEqual([]);
    const report = await confirmed(s.customerId, older['setup_intent_id']);
    expect(report).toMatchObject({ status: 202, body: { payment_method_id: older['id'], data: [{ id }] } });
    await paidOnce(world, id);
    expect(made(await shown(id)).at(-1)).toMatchObject({ means: 'charge', by: 'shop', payment_method: older['id'] });
    // The newer setup was never confirmed: naming no setup means the newest one.
    expect((await methods(s.customerId)).slice(0, 2)).toMatchObject([
      { id: newer['id'], current: false, confirmed_at: null },
      { id: older['id'], current: true, confirmed_by: 'shop' },
    ]);
    expect((await confirmed(s.customerId)).body).toMatchObject({ payment_method_id: newer['id'] });
  });

  it('the setup a customer confirmed last is current, also if it is not the newest', async () => {
    const { customerId } = await world.paidSubscriber();
    const older = (await change(customerId)).body;
    const newer = (await change(customerId)).body;
    await confirmed(customerId, newer['setup_intent_id']);
    await confirmed(customerId, older['setup_intent_id']);
    expect((await methods(customerId)).find((m) => m['current'])).toMatchObject({ id: older['id'] });
  });

  it('a successful charge of a new card confirms the card, and Crossbill then retries the renewal refused on the old card', async () => {
    const id = await declined('succeed', 'succeed');
    const setup = await anotherCard();
    const next = await openRenewal(world, s);
    await world.invoice(next, 'paid');
    await world.invoice(id, 'paid');
    expect((await methods(s.customerId))[0]).toMatchObject({
      ...{ setup_intent_id: setup['setup_intent_id'], current: true, confirmed_by: 'charge' },
    });
    expect(made(await shown(id)).at(-1)).toMatchObject({ means: 'charge', by: null, payment_method: setup['id'] });
  });

  it('Crossbill refuses a new card for a customer outside the enrolment, and a card confirmation without a setup intent', async () => {
    expect(await confirmed('cus_nobody')).toMatchObject(refusal(404, 'not_found'));
    await world.api('POST', '/v1/customers', { customer_id: 'cus_imported', mor_customer_id: 'mcus_imported' });
    expect(await confirmed('cus_imported')).toMatchObject(refusal(409, 'payment_method_missing'));
    expect(await methods('cus_imported')).toMatchObject([
      { origin: 'import', mor_customer_id: 'mcus_imported', current: true },
    ]);
    const linked = await world.startDaemon({ ENROLMENT: 'linked' });
    const asked = (id: string): Promise<Response> =>
      fetch(`${linked.url}/v1/customers/${id}/payment-method`, {
        method: 'POST',
        headers: { ...AS_SHOP, 'content-type': 'application/json' },
        body: '{}',
      });
    const excluded = await asked('cus_stranger');
    expect([excluded.status, ((await excluded.json()) as Json)['code']]).toEqual([409, 'customer_not_enrolled']);
    expect((await asked(s.customerId)).status).toBe(201);
  });
});
