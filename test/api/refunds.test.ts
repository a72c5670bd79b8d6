// Refunds over HTTP: one refund per key over two replicas, and an answer for everything the MoR may say or not say.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ApiApp, freshDatabase, HurriedClock } from './support/api-app.js';
import { type TestDatabase } from '../support/rigs/database.js';
import { failed } from '../support/fakes/fake-platform.js';
import { changeByHand } from '../support/rigs/lane-log.js';

let database: TestDatabase;
let api: ApiApp;
let replica: ApiApp;
let hurried: ApiApp;
beforeAll(async () => {
  database = await freshDatabase();
  api = await ApiApp.start(database.url);
  replica = await ApiApp.start(database.url, api.mor, api.stripe);
  hurried = await ApiApp.start(database.url, api.mor, api.stripe, new HurriedClock());
});
beforeEach(() => {
  api.mor.failWith = null;
  api.mor.nextStatus = 'succeeded';
  api.mor.calls.length = 0;
});
afterAll(async () => {
  await hurried?.stop();
  await replica?.stop();
  await api?.stop();
  await database?.drop();
});

const post = (app: ApiApp, paymentId: string, key: string, body?: object) =>
  app.call('POST', `/v1/payments/${paymentId}/refunds`, {
    headers: { 'idempotency-key': key },
    ...(body === undefined ? {} : { body }),
  });
const refund = (paymentId: string, key: string, body?: object) => api.working(post(api, paymentId, key, body));
const read = async (path: string) => (await api.call('GET', path, { role: 'read' })).json;

it("Crossbill sends a refund request to the MoR, returns the refund's id, and shows the refund on Stripe", async () => {
  const { paymentId, invoiceId } = await api.paidRenewal('a');
  const body = { amount: 999, reason: 'two days down', metadata: { ticket: 7, constructor: 'x' } };
  const made = await refund(paymentId, 'a1', body);
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({
    id: expect.stringMatching(/^ref_|^rf/),
    mor_refund_id: expect.stringMatching(/^rfnd_/),
    payment_id: paymentId,
    amount: 999,
    currency: 'eur',
    status: 'succeeded',
    reason: 'two days down',
    processor_refund_id: expect.stringMatching(/^re_/),
    created_at: expect.stringMatching(/Z$/),
  });
  expect(api.mor.calls[0]?.call).toMatchObject({ amountMinor: 999n, metadata: { ticket: 7, constructor: 'x' } });
  await api.work();
  const { id, mor_refund_id: morId } = made.json as Record<string, string>;
  expect(await read(`/v1/refunds/${id}`)).toEqual(await read(`/v1/refunds/${morId}`));
  expect(await read(`/v1/refunds/${id}`)).toMatchObject({ mirror: 'done', credit_note_id: expect.any(String) });
  const payment = await read(`/v1/payments/${paymentId}`);
  expect(payment).toMatchObject({ status: 'partially_refunded', amount_refunded: 999, refunds: [{ id }] });
  const invoice = await read(`/v1/invoices/${invoiceId}`);
  expect(invoice).toMatchObject({ status: 'paid', refunds: [{ id }], payments: [{ id: paymentId }] });
});

it('a refund request without an amount refunds the whole remaining amount of the payment', async () => {
  const { paymentId } = await api.paidRenewal('b');
  await refund(paymentId, 'b1', { amount: 4000 });
  const remaining = await refund(paymentId, 'b2');
  expect([remaining.status, remaining.json['amount'], remaining.json['reason']]).toEqual([201, 999, null]);
  const more = await refund(paymentId, 'b3', {});
  expect([more.status, more.json['code']]).toEqual([422, 'payment_not_refundable']);
});

it("the API refuses a refund above the payment's remaining amount, without a call to the MoR", async () => {
  const { paymentId } = await api.paidRenewal('c');
  const reply = await refund(paymentId, 'c1', { amount: 5000 });
  expect([reply.status, reply.json['code']]).toEqual([400, 'invalid_request']);
  expect((reply.json['errors'] as { field: string }[])[0]?.field).toBe('amount');
  expect(api.mor.calls).toEqual([]);
});

it.each([['10.00'], [1.5], [0], [-1], [1e16], ['１００'], [' 100'], [null], [true]])(
  'the API refuses a refund request with the amount %p',
  async (amount) => {
    expect((await post(api, 'pay_whatever', 'odd', { amount })).status).toBe(400);
  },
);

it('the API refuses a refund request without an Idempotency-Key or for an unknown payment', async () => {
  const without = await api.call('POST', '/v1/payments/pay_c/refunds', { body: {} });
  expect([without.status, (without.json['errors'] as { field: string }[])[0]?.field]).toEqual([400, 'Idempotency-Key']);
  const unknown = await post(api, 'pay_unknown', 'u');
  expect([unknown.status, unknown.json['code']]).toEqual([404, 'payment_not_found']);
});

it('two replicas return the same refund for the same idempotency key, and answer 409 if the body differs', async () => {
  const { paymentId } = await api.paidRenewal('d');
  const first = await refund(paymentId, 'd1', { amount: 100 });
  await api.work();
  const again = await post(replica, paymentId, 'd1', { amount: 100 });
  expect(again.status).toBe(201);
  expect(again.json['id']).toBe(first.json['id']);
  expect(again.json['mirror']).toBe('done');
  for (const body of [{ amount: 101 }, {}, { amount: 100, reason: 'x' }]) {
    const other = await post(replica, paymentId, 'd1', body);
    expect([other.status, other.json['code']]).toEqual([409, 'idempotency_conflict']);
  }
  expect(api.mor.calls).toHaveLength(1);
});

it('twenty simultaneous equal refund requests to two replicas make one refund at the MoR', async () => {
  const { paymentId } = await api.paidRenewal('e');
  const all = await api.working(
    Promise.all(
      Array.from({ length: 20 }, (_, i) => post(i % 2 === 0 ? api : replica, paymentId, 'e1', { amount: 100 })),
    ),
  );
  // 202: on a busy machine the MoR's answer came after the caller's patience had ended.
  expect(all.filter((a) => a.status !== 201).map((a) => [a.status, a.json['status']])).toEqual(
    all.filter((a) => a.status !== 201).map(() => [202, 'unknown']),
  );
  expect(new Set(all.map((a) => a.json['id'])).size).toBe(1);
  expect(api.mor.calls).toHaveLength(1);
  expect(await read(`/v1/payments/${paymentId}`)).toMatchObject({ amount_refunded: 100 });
});

it("if two operators refund a payment's remaining amount at the same time, the MoR refunds the amount once", async () => {
  const { paymentId } = await api.paidRenewal('f');
  const [one, two] = await api.working(Promise.all([post(api, paymentId, 'f1'), post(replica, paymentId, 'f2')]));
  expect([one.status, two.status].sort()).toEqual([201, 422]);
  expect(api.mor.payments.get(paymentId)).toMatchObject({ refunded: 4999n });
  expect(await read(`/v1/payments/${paymentId}`)).toMatchObject({ status: 'refunded', amount_refunded: 4999 });
});

it('the API answers 201 to a refund request even if the MoR reports the refund as pending or failed', async () => {
  const { paymentId } = await api.paidRenewal('g');
  api.mor.nextStatus = 'pending';
  const pending = await refund(paymentId, 'g1', { amount: 1 });
  expect([pending.status, pending.json['status']]).toEqual([201, 'pending']);
  api.mor.nextStatus = 'failed';
  const refused = await refund(paymentId, 'g2', { amount: 1 });
  expect([refused.status, refused.json['status']]).toEqual([201, 'failed']);
});

it("the API returns the MoR's refusal of a refund to each repeat with the same key, and frees the amount", async () => {
  const { paymentId } = await api.paidRenewal('h');
  api.mor.failWith = failed('refused', { status: 422, code: 'payment_not_refundable', message: 'charged back' });
  const refused = await refund(paymentId, 'h1');
  expect([refused.status, refused.json['code'], refused.json['message']]).toEqual([
    422,
    'payment_not_refundable',
    'charged back',
  ]);
  api.mor.failWith = null;
  expect((await post(replica, paymentId, 'h1')).json).toEqual(refused.json);
  expect((await refund(paymentId, 'h2')).status).toBe(201);
});

it('the API answers 202 to a refund request while the MoR is silent, and Crossbill sends the same bytes again later', async () => {
  const { paymentId, invoiceId } = await api.paidRenewal('i');
  api.mor.failWith = failed('unknown');
  const unknown = await refund(paymentId, 'i1', { amount: 100 });
  expect([unknown.status, unknown.json['status'], unknown.json['mor_refund_id']]).toEqual([202, 'unknown', null]);
  api.mor.failWith = null;
  await changeByHand(api.db.pool, invoiceId, (s) => ({
    ...s,
    calls: s.calls.map((m) => (m.status === 'pending' ? { ...m, nextTryAt: new Date() } : m)),
  }));
  await api.work();
  const settled = await post(api, paymentId, 'i1', { amount: 100 });
  expect([settled.status, settled.json['status'], settled.json['id']]).toEqual([201, 'succeeded', unknown.json['id']]);
  expect(api.mor.calls.length).toBeGreaterThan(1);
  expect(new Set(api.mor.calls.map((c) => `${c.key} ${c.wire.body}`)).size).toBe(1);
});

it('the API answers a refund request with 202 and the status `unknown` while no worker runs', async () => {
  const { paymentId } = await api.paidRenewal('j');
  const waiting = await post(hurried, paymentId, 'j1', { amount: 100 });
  expect([waiting.status, waiting.json['status']]).toEqual([202, 'unknown']);
  expect(await read(`/v1/refunds/${String(waiting.json['id'])}`)).toMatchObject({ status: 'unknown', amount: 100 });
});

it('the audit trail has an entry for the start of a refund request and a second entry for the outcome', async () => {
  const { paymentId } = await api.paidRenewal('k');
  const made = await refund(paymentId, 'k1', { amount: 1 });
  const rows = ((await read('/v1/audit')) as { code?: string }).code;
  expect(rows).toBe('forbidden');
  const all = (await api.call('GET', '/v1/audit?action=refund.create&limit=2')).json['data'] as Record<
    string,
    unknown
  >[];
  expect(all).toEqual([
    expect.objectContaining({
      actor: 'ops-name',
      role: 'ops',
      target: paymentId,
      outcome: 'done',
      status: 201,
      detail: { id: made.json['id'] },
    }),
    expect.objectContaining({ actor: 'ops-name', role: 'ops', target: paymentId, outcome: 'begun', status: null }),
  ]);
  expect(all[0]?.['source']).toMatch(/127\.0\.0\.1$/);
});
