// Signups over HTTP: made, repeated, refused, completed; and where the client secret goes and where it does not.
import { beforeEach, expect, it } from '@jest/globals';
import { type ApiApp, anInvoice, apiForAll } from './support/api-app.js';
import { type CallFailure } from '../../src/shared/domain/ports/call.js';
import { failed } from '../support/fakes/fake-platform.js';

let api: ApiApp;
apiForAll((started) => (api = started));
beforeEach(() => {
  api.mor.failWith = null;
  api.mor.calls.length = 0;
});

const customer = {
  id: 'cus_ada',
  email: 'ada@example.com',
  name: 'Ada',
  country: 'de',
  address: { line1: 'Weg 1', city: 'Ulm' },
};
const payment = { kind: 'payment', customer, amount: 2990, currency: 'eur' };
const create = (body: object, key?: string, role: 'signup' | 'ops' = 'signup') =>
  api.call('POST', '/v1/signups', { role, body, headers: key === undefined ? {} : { 'idempotency-key': key } });

it('a signup with a payment creates a payment intent at the MoR, and Crossbill stores no client secret', async () => {
  const made = await create({ ...payment, description: 'Pro', tax_calculation_id: 'tc_1' });
  expect(made.status).toBe(201);
  const { id, payment_intent_id: intent, client_secret: secret } = made.json as Record<string, string>;
  expect(made.json).toEqual({
    id: expect.stringMatching(/^sup_/),
    kind: 'payment',
    amount_total: 2990,
    client_secret: expect.stringMatching(/canary/),
    payment_intent_id: expect.stringMatching(/^pi_/),
    mor_customer_id: expect.stringMatching(/^mcus_/),
    status: 'requires_payment_method',
    tax_calculation_id: 'tc_1',
  });
  expect(api.mor.calls[0]?.call).toEqual({
    kind: 'create_payment_intent',
    amountMinor: 2990n,
    currency: 'EUR',
    customer: { ...customer, country: 'DE' },
    description: 'Pro',
    taxCalculationId: 'tc_1',
  });

  const read = await api.call('GET', `/v1/signups/${id}`, { role: 'read' });
  expect(read.json).toMatchObject({
    id,
    customer_id: 'cus_ada',
    payment_intent_id: intent,
    amount: 2990,
    currency: 'eur',
    completed_at: null,
  });
  expect(read.text).not.toContain('secret');
  const rows = await api.db.pool.query<{ all: string }>(`select (select string_agg(s::text, '') from signup s) ||
      (select string_agg(a::text, '') from audit a) as all`);
  expect(rows.rows[0]?.all).toContain(id);
  expect(rows.rows[0]?.all).not.toContain(secret);
  expect(rows.rows[0]?.all).not.toContain('canary');
});

it('a signup with a trial creates a setup intent at the MoR, and the API refuses to complete the signup with a charge id', async () => {
  const made = await create({
    kind: 'trial',
    customer: { id: 'cus_eve' },
    payment_method_types: ['card', 'sepa_debit'],
  });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    kind: 'trial',
    setup_intent_id: expect.any(String),
    client_secret: expect.any(String),
  });
  expect(made.json).not.toHaveProperty('payment_intent_id');
  expect(api.mor.calls[0]?.call).toMatchObject({ paymentMethodTypes: ['card', 'sepa_debit'] });
  const complete = await api.call('POST', `/v1/signups/${String(made.json['id'])}/complete`, {
    body: { charge_id: 'ch_t', invoice_id: 'in_t', amount: 1, currency: 'eur' },
  });
  expect([complete.status, complete.json['code']]).toEqual([409, 'signup_has_no_payment']);
});

it("a signup links the Stripe customer to the MoR's customer", async () => {
  await create({ ...payment, customer: { id: 'cus_linked' } });
  const found = await api.call('GET', '/v1/customers/cus_linked', { role: 'read' });
  expect(found.json).toMatchObject({
    customer_id: 'cus_linked',
    mor_customer_id: expect.stringMatching(/^mcus_/),
    invoice_ids: [],
  });
  expect(found.json['signups']).toHaveLength(1);
});

it('a signup request repeated with its fields in another order returns the same signup and client secret', async () => {
  const first = await create(payment, 'k1');
  const { kind, customer: c, ...rest } = payment;
  const again = await create({ ...rest, customer: c, kind }, 'k1');
  expect(again.status).toBe(201);
  expect(again.json).toEqual(first.json);
  expect(new Set(api.mor.calls.map((call) => call.key)).size).toBe(1);
  expect(new Set(api.mor.calls.map((call) => call.wire.body)).size).toBe(1);
});

it('the API refuses a different signup under a used idempotency key, except from another API key', async () => {
  const first = await create(payment, 'k2');
  const other = await create({ ...payment, amount: 1 }, 'k2');
  expect([other.status, other.json['code']]).toEqual([409, 'idempotency_conflict']);
  const elsewhere = await create({ ...payment, amount: 1 }, 'k2', 'ops');
  expect(elsewhere.status).toBe(201);
  expect(elsewhere.json['id']).not.toBe(first.json['id']);
});

it('ten simultaneous equal signup requests make one signup and one intent at the MoR', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => create(payment, 'k3')));
  expect(all.map((a) => a.status)).toEqual(Array.from({ length: 10 }, () => 201));
  expect(new Set(all.map((a) => a.text)).size).toBe(1);
  expect(new Set(api.mor.calls.map((call) => call.key)).size).toBe(1);
});

it('the API refuses a signup request with an idempotency key over 255 characters', async () => {
  const headers = { 'idempotency-key': 'x'.repeat(256) };
  const { status, json } = await api.call('POST', '/v1/signups', { body: payment, headers });
  expect([status, json['errors']]).toMatchObject([400, [{ field: 'Idempotency-Key' }]]);
});

const cases: [string, CallFailure, number, string][] = [
  ['refuses', failed('refused', { status: 422, code: 'unsupported_currency' }), 422, 'unsupported_currency'],
  [
    'does not know the calculation',
    failed('refused', { status: 404, code: 'tax_calculation_not_found' }),
    404,
    'tax_calculation_not_found',
  ],
  [
    'has suspended the merchant',
    failed('stopped', { status: 403, code: 'merchant_suspended' }),
    403,
    'merchant_suspended',
  ],
  ['rejects the credentials of Crossbill', failed('stopped'), 502, 'mor_unauthorized'],
  ['has no card processor', failed('retry', { status: 503, code: 'psp_unavailable' }), 502, 'mor_unavailable'],
  ['fails', failed('unknown', { status: 500, code: 'internal_error' }), 502, 'mor_unavailable'],
  ['is silent', failed('unknown'), 502, 'mor_unavailable'],
  ['asks for a pause', failed('retry', { code: 'rate_limited', retryAfterMs: 2500 }), 429, 'rate_limited'],
];
it.each(cases)(
  'when the MoR %s, the API answers a signup request with a status and code for this cause',
  async (_, failure, status, code) => {
    api.mor.failWith = failure;
    const reply = await create(payment);
    expect([reply.status, reply.json['code']]).toEqual([status, code]);
    if (status === 429) expect(reply.headers.get('retry-after')).toBe('3');
  },
);

it("the API translates the MoR's field names in a refused signup into the API's field names", async () => {
  const errors = [
    { field: 'merchant_customer.cardpsp_id', message: 'is missing' },
    { field: 'merchant_customer.email', message: 'is wrong' },
    { field: 'amount', message: 'is wrong' },
  ];
  api.mor.failWith = failed('refused', { code: 'invalid_request', errors });
  const reply = await create(payment);
  expect((reply.json['errors'] as { field: string }[]).map((e) => e.field)).toEqual([
    'customer.id',
    'customer.email',
    'amount',
  ]);
});

it('a signup request repeated under its key succeeds after the MoR left the first request unanswered', async () => {
  api.mor.failWith = failed('unknown');
  expect((await create(payment, 'k5')).status).toBe(502);
  api.mor.failWith = null;
  expect((await create(payment, 'k5')).status).toBe(201);
  expect(new Set(api.mor.calls.map((call) => call.key)).size).toBe(1);
});

it('three completions of a signup with the same charge mark the first invoice paid once', async () => {
  const { id } = (await create({ ...payment, customer: { id: 'cus_done' } })).json as { id: string };
  api.stripe.put({ ...anInvoice('in_first', 'cus_done', 2990n), billingReason: 'subscription_create' });
  const body = { charge_id: 'ch_first', invoice_id: 'in_first', amount: 2990, currency: 'EUR' };
  for (let i = 0; i < 3; i++) {
    const done = await api.call('POST', `/v1/signups/${id}/complete`, { role: 'signup', body });
    expect(done.status).toBe(202);
    expect(done.json).toMatchObject({
      id,
      invoice_id: 'in_first',
      charge_id: 'ch_first',
      payment: { amount: 2990, currency: 'eur' },
      status: 'completed',
    });
    await api.work();
  }
  const invoice = await api.call('GET', '/v1/invoices/in_first', { role: 'read' });
  expect(invoice.json).toMatchObject({ status: 'paid', billing_reason: 'subscription_create', amount_due: 2990 });
  expect(invoice.json['payments']).toHaveLength(1);
  const signup = await api.call('GET', `/v1/signups/${id}`);
  expect(signup.json).toMatchObject({
    status: 'completed',
    mark: 'confirmed',
    completed_at: expect.any(String),
    invoice_id: 'in_first',
  });
  const customer = await api.call('GET', '/v1/customers/cus_done');
  expect(customer.json['signups']).toMatchObject([{ id, status: 'completed' }]);
  // Until the MoR names the payment it has our own id, and is not refundable here.
  const refund = await api.call('POST', `/v1/payments/${String(signup.json['payment_id'])}/refunds`, {
    body: {},
    headers: { 'idempotency-key': 'early' },
  });
  expect([refund.status, refund.json['code']]).toEqual([409, 'payment_not_identified']);
});

it('the API refuses to complete a signup with the charge of another signup', async () => {
  const { id } = (await create({ ...payment, customer: { id: 'cus_thief' } })).json as { id: string };
  const done = await api.call('POST', `/v1/signups/${id}/complete`, {
    role: 'signup',
    body: { charge_id: 'ch_first', invoice_id: 'in_other', amount: 2990, currency: 'eur' },
  });
  expect([done.status, done.json['code']]).toEqual([409, 'charge_already_used']);
  expect((done.json['errors'] as { field: string }[])[0]?.field).toBe('charge_id');
});

it('the audit trail has each completion of a signup with its outcome', async () => {
  const rows = (await api.call('GET', '/v1/audit?action=signup.complete')).json['data'] as Record<string, unknown>[];
  expect(rows[0]).toMatchObject({
    actor: 'signup-name',
    outcome: 'refused',
    status: 409,
    detail: { code: 'charge_already_used' },
  });
  expect(rows.at(-2)).toMatchObject({ outcome: 'done', status: 202 });
});
