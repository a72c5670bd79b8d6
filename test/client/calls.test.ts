// The typed client against the real daemon: its requests, its repeats, its errors. The test checks each answer against
// the OpenAPI document.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createClient, type Crossbill, CrossbillError } from '../../packages/client/src/index.js';
import { ApiApp, freshDatabase, KEYS } from '../api/support/api-app.js';
import { failed } from '../support/fakes/fake-platform.js';
import { type TestDatabase } from '../support/rigs/database.js';
import { Contract, Wire } from './support.js';

let database: TestDatabase;
let api: ApiApp;
let wire: Wire;
let ops: Crossbill;
beforeAll(async () => {
  database = await freshDatabase();
  api = await ApiApp.start(database.url);
  wire = new Wire(api.url, await Contract.read());
  ops = wire.client('ops');
});
beforeEach(() => {
  api.mor.failWith = null;
  api.mor.calls.length = 0;
  wire.sent.length = 0;
  wire.mishap = () => null;
});
afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const signup = {
  kind: 'payment',
  customer: { id: 'cus_ada', email: 'ada@example.com', country: 'DE' },
  amount: 2990,
  currency: 'eur',
} as const;

async function refused(call: PromiseLike<unknown>): Promise<CrossbillError> {
  const error: unknown = await Promise.resolve(call).then(
    () => null,
    (e: unknown) => e,
  );
  if (!(error instanceof CrossbillError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

it('the typed client creates a signup and reads it', async () => {
  const made = await wire.client('signup').createSignup(signup);
  expect(made).toMatchObject({ id: expect.stringMatching(/^sup_/), client_secret: expect.stringMatching(/secret/) });
  const read = await ops.getSignup(made.id);
  expect([read.customer_id, read.amount, read.currency]).toEqual(['cus_ada', 2990, 'eur']);
});

it('the typed client refunds a payment, and its error names the code and the field of a refusal', async () => {
  const { paymentId } = await api.paidRenewal('client_refund');
  const refund = await api.working(ops.createRefund(paymentId, { amount: 1000, reason: 'requested_by_customer' }));
  expect([refund.status, refund.amount, refund.payment_id]).toEqual(['succeeded', 1000, paymentId]);
  const error = await refused(ops.createRefund(paymentId, { amount: 4000 }));
  expect([error.code, error.status, error.errors]).toEqual([
    'invalid_request',
    400,
    [{ field: 'amount', message: expect.any(String) }],
  ]);
  expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  expect((await refused(ops.getPayment('pay_nobody'))).code).toBe('not_found');
  expect((await refused(wire.client('read').createRefund(paymentId))).code).toBe('forbidden');
});

it('the typed client requests the next page of a list only when its caller reads on', async () => {
  for (let n = 0; n < 5; n++) await api.paidRenewal(`client_page_${n}`);
  wire.sent.length = 0;
  const found: string[] = [];
  for await (const payment of ops.listPayments({ limit: 2, status: 'succeeded' })) {
    found.push(payment.id);
    if (found.length === 1) expect(wire.sent).toHaveLength(1);
  }
  expect(found).toEqual(expect.arrayContaining([0, 1, 2, 3, 4].map((n) => `pay_client_page_${n}`)));
  expect(new Set(found).size).toBe(found.length);
  expect(wire.sent.length).toBe(Math.ceil(found.length / 2));
  const first = await ops.listPayments({ limit: 2 });
  expect([first.data.length, typeof first.next_cursor]).toEqual([2, 'string']);
  const none = ops.listPayments({ customer: 'cus_nobody' });
  expect(wire.sent).toHaveLength(Math.ceil(found.length / 2) + 1); // nobody waits for it yet
  expect((await none).data).toEqual([]);
});

it('the typed client escapes an id in the path, and refuses an empty id', async () => {
  expect((await refused(ops.getInvoice('in/../x?y'))).code).toBe('not_found');
  expect(wire.sent[0]?.path).toBe('/v1/invoices/in%2F..%2Fx%3Fy');
  expect(() => ops.getInvoice('')).toThrow(TypeError);
});

it('the typed client reads every list of the daemon, as the OpenAPI document describes it', async () => {
  await api.paidRenewal('client_lists');
  const lists = [
    ops.listCustomers(),
    ops.listInvoices(),
    ops.listPayments(),
    ops.listRefunds(),
    ops.listEvents(),
    ops.listReviews(),
    ops.listLedgerEntries(),
    ops.listAuditEntries(),
    ops.listDifferences(),
    ops.listNotifications(),
  ];
  for (const list of lists) expect(Array.isArray((await list).data)).toBe(true);
  expect((await ops.getInvoice('in_client_lists')).status).toBe('paid');
  const balance = await ops.getTrialBalance({ month: '2026-11' });
  expect(balance.currencies.map((c) => c.currency)).toEqual(['eur']);
  expect((await ops.getReadiness()).status).toBe('ok');
  expect(await ops.getMetrics()).toContain('# HELP');
});

it('the typed client repeats a call with a lost answer under the same Idempotency-Key, and the daemon makes one signup', async () => {
  wire.mishap = (n) => (n === 0 ? 'lost_answer' : null);
  const customer = { ...signup.customer, id: 'cus_once' };
  const made = await ops.createSignup({ ...signup, customer });
  expect(wire.sent.map(({ status }) => status)).toEqual([0, 201]);
  expect(wire.sent[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(wire.sent[1]?.key).toBe(wire.sent[0]?.key);
  const { rows } = await api.db.pool.query(`select id from signup where customer_id = 'cus_once'`);
  expect(rows).toEqual([{ id: made.id }]);
});

it("each call of the typed client has a new Idempotency-Key, or the caller's own", async () => {
  await ops.createSignup(signup);
  await ops.createSignup(signup);
  const mine = await ops.createSignup(signup, { idempotencyKey: 'order-1' });
  expect(await ops.createSignup(signup, { idempotencyKey: 'order-1' })).toMatchObject({ id: mine.id });
  const keys = wire.sent.map(({ key }) => key);
  expect(new Set(keys).size).toBe(3);
  expect(keys.slice(2)).toEqual(['order-1', 'order-1']);
});

it('the typed client does not repeat a call that could take effect twice', async () => {
  wire.mishap = () => 'lost_answer';
  const error = await refused(ops.retryEvent('evt_1'));
  expect([error.code, error.status]).toEqual(['connection_failed', null]);
  expect(wire.sent).toHaveLength(1);
});

it('the typed client waits as long as Retry-After says, even for a POST without a key', async () => {
  wire.mishap = (n) => (n < 2 ? { status: 429, retryAfter: '0' } : null);
  expect((await refused(ops.retryEvent('evt_1'))).code).toBe('not_found');
  expect(wire.sent.map(({ status }) => status)).toEqual([429, 429, 404]);
});

it.each([502, 503, 504])('the typed client repeats a GET after status %s up to three times', async (status) => {
  wire.mishap = () => ({ status, retryAfter: '0' });
  const error = await refused(ops.getInvoice('in_1'));
  expect([error.code, error.status, error.retryAfterSeconds]).toEqual(['away', status, 0]);
  expect(wire.sent).toHaveLength(4);
});

it.each([500, 409, 429])(
  'the typed client does not repeat a call after status %s without Retry-After',
  async (status) => {
    wire.mishap = () => ({ status });
    expect((await refused(ops.createSignup(signup))).status).toBe(status);
    expect(wire.sent).toHaveLength(1);
  },
);

it('the typed client reports a Retry-After over one minute to its caller instead of waiting', async () => {
  wire.mishap = () => ({ status: 503, retryAfter: '120' });
  expect((await refused(ops.getInvoice('in_1'))).retryAfterSeconds).toBe(120);
  expect(wire.sent).toHaveLength(1);
});

it("the typed client does not repeat a call if the MoR refuses the daemon's credentials", async () => {
  api.mor.failWith = failed('refused', { status: 401, code: 'unauthorized' });
  expect((await refused(ops.createSignup(signup))).code).toBe('mor_unauthorized');
  expect(wire.sent).toHaveLength(1);
});

it("the typed client rejects a call with the reason of its caller's abort signal", async () => {
  wire.mishap = () => ({ status: 503, retryAfter: '30' });
  const end = new AbortController();
  const call = ops.getInvoice('in_1', { signal: end.signal });
  end.abort(new Error('the shop closes'));
  await expect(call).rejects.toThrow('the shop closes');
  await expect(ops.getInvoice('in_1', { signal: AbortSignal.abort(new Error('closed')) })).rejects.toThrow('closed');
});

it("the typed client's error names the request that nobody answered, without the API key", async () => {
  const lost = createClient({ baseUrl: 'http://127.0.0.1:9', apiKey: KEYS.read, retries: 0 });
  const error = await refused(lost.getInvoice('in_1'));
  expect([error.code, error.status]).toEqual(['connection_failed', null]);
  expect(error.message).toMatch(/could not be reached: .+\(GET \/v1\/invoices\/in_1\)/);
  expect(error.message).not.toContain(KEYS.read);
  const hanging = createClient({
    baseUrl: api.url,
    apiKey: KEYS.read,
    retries: 0,
    timeoutMs: 5,
    fetch: (_, { signal }: { signal?: AbortSignal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
  });
  expect((await refused(hanging.getInvoice('in_1'))).code).toBe('timeout');
});

it('the typed client refuses a malformed base URL and an empty API key', () => {
  expect(() => createClient({ baseUrl: 'ftp://x', apiKey: 'k' })).toThrow('baseUrl');
  expect(() => createClient({ baseUrl: 'billing.example', apiKey: 'k' })).toThrow('baseUrl');
  const unfinished = createClient as (options?: object) => unknown;
  for (const none of [undefined, {}, { baseUrl: undefined }])
    expect(() => unfinished(none)).toThrow('baseUrl and apiKey');
  expect(() => unfinished({ baseUrl: 'https://x' })).toThrow(/needs apiKey$/);
  expect(() => createClient({ baseUrl: 'https://x?y=1', apiKey: 'k' })).toThrow('baseUrl');
  expect(() => createClient({ baseUrl: 'https://x', apiKey: '' })).toThrow('apiKey');
});

it('the typed client reports an answer that is not JSON as unreadable_answer', async () => {
  const proxy = createClient({
    baseUrl: api.url,
    apiKey: KEYS.read,
    retries: 0,
    fetch: async () => new Response('<html>Bad gateway</html>', { status: 502 }),
  });
  const error = await refused(proxy.getInvoice('in_1'));
  expect([error.code, error.status, error.errors]).toEqual(['unreadable_answer', 502, []]);
});
