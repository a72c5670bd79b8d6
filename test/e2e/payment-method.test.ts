// Another card: its setup intent, the report of its confirmation, and the customer's refused renewals that are tried again with it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, type Reply, SIGNUP_KEY, startWorld, type Subscriber, type World } from '../support/world.js';
import { deafMor, draftRenewal, openRenewal, requestsOf, stripeSide } from './support/story.js';

const AS_SHOP = { authorization: `Bearer ${SIGNUP_KEY}` };
const LINKS = { RECOVERY_LINK_JURISDICTION: 'GB', RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks' };

describe('another card of a customer', () => {
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
    s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
  });
  afterAll(() => world.close());

  const change = (customer: string, body: Json = {}, key: string | null = null): Promise<Reply> =>
    world.api('POST', `/v1/customers/${customer}/payment-method`, body, {
      ...AS_SHOP,
      ...(key === null ? {} : { 'idempotency-key': key }),
    });
  const confirmed = (customer: string): Promise<Reply> =>
    world.api('POST', `/v1/customers/${customer}/payment-method/confirmed`, undefined, AS_SHOP);
  const customer = async (id: string): Promise<Json> => (await world.api('GET', `/v1/customers/${id}`)).body;
  const methods = async (id: string): Promise<Json[]> => (await customer(id))['payment_methods'] as Json[];
  const shown = async (id: string): Promise<Json> => (await world.api('GET', `/v1/invoices/${id}`)).body;
  const made = (invoice: Json): Json[] => ((invoice['retries'] as Json | null)?.['made'] as Json[] | undefined) ?? [];
  const charges = async (id: string): Promise<string[]> =>
    ((await world.control('GET', `/mor/payments?invoice=${id}`)).body['data'] as Json[]).map((p) =>
      String(p['status']),
    );

  /** A renewal that the MoR declined for good; with links set up its customer can pay a link. */
  async function declined(...outcomes: readonly string[]): Promise<string> {
    await world.control('POST', '/cards', {
      customer_id: s.customerId,
      outcome: ['decline:expired_card', ...outcomes],
    });
    const id = await draftRenewal(world, s);
    const refused = (i: Json): boolean => (i['retries'] ?? null) !== null;
    await world.until('it was refused', () => shown(id), refused);
    await world.stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    return id;
  }

  async function anotherCard(): Promise<Json> {
    const setup = (await change(s.customerId)).body;
    await world.control('POST', `/intents/${String(setup['setup_intent_id'])}/confirm`, {});
    return setup;
  }

  it('is made once under a key, names the customer with the details of the signup, hands its client secret over and shows it nowhere else, and stands newest first in the history', async () => {
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
    expect(await change(s.customerId, {}, 'card-1')).toMatchObject({
      status: 409,
      body: { code: 'idempotency_conflict' },
    });
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

  it('once confirmed has the refused renewal charged again over the relay at once, next to its payment link, and only once', async () => {
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
    await world.invoice(id, 'paid');
    expect(await charges(id)).toEqual(['failed', 'failed', 'succeeded']);
    const side = await stripeSide(world, id);
    expect([side.status, side.records.length, side.attached.length]).toEqual(['paid', 1, 1]);
    expect((await confirmed(s.customerId)).body['data']).toEqual([]);
  });

  it('also counts as confirmed when the next charge succeeds, and then the renewal before is tried again', async () => {
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

  it('is refused for whom ENROLMENT excludes, and a report for whom nothing was made', async () => {
    expect(await confirmed('cus_nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    await world.api('POST', '/v1/customers', { customer_id: 'cus_imported', mor_customer_id: 'mcus_imported' });
    expect(await confirmed('cus_imported')).toMatchObject({ status: 409, body: { code: 'payment_method_missing' } });
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
