// What each kind of trouble with Stripe means for the call: refused, retry, unknown or stopped.
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type CallFailure } from '../../../../src/shared/domain/ports/call.js';
import { StripeHttpClient } from '../../../../src/frames/stripe/http-client.js';
import {
  aList,
  aRecord,
  adapterFor,
  anInvoice,
  API_KEY,
  calls,
  refusal,
  reply,
  startStub,
  stored,
  text,
  type Reply,
} from '../../../support/fakes/stripe-stub.js';

let stop: (() => Promise<void>) | null = null;
afterEach(async () => {
  await stop?.();
  stop = null;
});

async function failureOf(...replies: Reply[]): Promise<CallFailure> {
  const stub = await startStub(...replies);
  stop = stub.close;
  const outcome = await stub.platform.send(stored(stub.platform, calls.report));
  if (outcome.ok) throw new Error('the call succeeded');
  expect(stub.seen).toHaveLength(1); // never a try of the adapter's own
  return outcome;
}

it('a refusal of Stripe carries the error code, the field and the request id', async () => {
  const error = { code: 'parameter_invalid_integer', param: 'amount_requested[value]', message: 'Invalid integer' };
  expect(await failureOf(refusal(400, error))).toMatchObject({
    kind: 'refused',
    status: 400,
    code: 'parameter_invalid_integer',
    requestId: 'req_1',
    replayed: false,
    errors: [{ field: 'amount_requested[value]' }],
  });
});

it.each([
  [402, { code: 'card_declined', type: 'card_error' }, 'refused', 'card_declined'],
  [404, { code: 'resource_missing' }, 'refused', 'resource_missing'],
  [400, { type: 'idempotency_error' }, 'refused', 'idempotency_error'],
  [409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }, 'retry', 'idempotency_key_in_use'],
  [401, { message: 'Invalid API Key' }, 'stopped', 'invalid_request_error'],
  [403, { code: 'more_permissions_required' }, 'stopped', 'more_permissions_required'],
  [429, { code: 'lock_timeout' }, 'retry', 'lock_timeout'],
  [400, { code: 'rate_limit' }, 'retry', 'rate_limit'],
  [424, { type: 'api_error' }, 'unknown', 'api_error'],
  [500, { type: 'api_error' }, 'unknown', 'api_error'],
  [503, { type: 'api_error' }, 'unknown', 'api_error'],
])('Crossbill treats Stripe’s status %i with %j as %s', async (status, error, kind, code) => {
  expect(await failureOf(refusal(status, error))).toMatchObject({ kind, status, code });
});

it('Crossbill treats a replayed 500 of Stripe as unknown, and marks it as replayed', async () => {
  const replay = refusal(500, { type: 'api_error' }, { 'idempotent-replayed': 'true', 'stripe-should-retry': 'false' });
  expect(await failureOf(replay)).toMatchObject({ kind: 'unknown', replayed: true });
});

it('the header Stripe-Should-Retry: true turns a refusal of Stripe into a retry', async () => {
  expect(await failureOf(refusal(400, {}, { 'stripe-should-retry': 'true' }))).toMatchObject({ kind: 'retry' });
});

it('Crossbill keeps the pause and the reason of a 429 from Stripe, and a rate limit slows the request budget', async () => {
  const headers = { 'retry-after': '7', 'stripe-rate-limited-reason': 'endpoint-rate' };
  const stub = await startStub(
    refusal(429, { code: 'rate_limit', message: 'Too many' }, headers),
    refusal(429, { code: 'lock_timeout' }),
  );
  stop = stub.close;
  const call = stored(stub.platform, calls.report);
  const limited = await stub.platform.send(call);
  expect(limited).toMatchObject({ kind: 'retry', retryAfterMs: 7000 });
  expect(limited).toHaveProperty('message', expect.stringContaining('endpoint-rate'));
  await stub.platform.send(call);
  // A lock on one invoice is no reason to slow down all of them.
  expect(stub.budget.throttles).toEqual([
    { endpoint: 'payment_records.report_payment', retryAfterMs: 7000, reason: 'endpoint-rate' },
  ]);
});

it.each([
  ['a success that is no JSON', text(200, '<html>')],
  ['a success cut short', text(200, '{"id":"pr_1","obj')],
  ['an empty success', text(200, '')],
  ['a bare string', reply(200, 'pr_1')],
  ['a bare number', reply(200, 7)],
  ['null', reply(200, null)],
  ['a list', reply(200, [aRecord()])],
  ['another kind of object', reply(200, anInvoice())],
  ['a record of another amount', reply(200, aRecord({ amount_requested: { value: 299, currency: 'eur' } }))],
  ['a record in another currency', reply(200, aRecord({ amount_requested: { value: 2990, currency: 'usd' } }))],
  ['an error inside a success', reply(200, { error: { type: 'api_error', message: 'no' } })],
  ['a 500 whose error has members of other types', refusal(500, { code: 7, message: {}, param: [], type: null })],
  ['a 500 without an error', reply(500, aRecord())],
  ['a 502 of a proxy', text(502, '<html>Bad gateway</html>')],
  ["a proxy's 404", text(404, '<html>Not found</html>')],
])('the outcome of a call to Stripe stays unknown if the reply is %s', async (_name, reply) => {
  expect(await failureOf(reply)).toMatchObject({ kind: 'unknown' });
});

it('Crossbill follows no redirect of Stripe, so no other server gets the API key', async () => {
  const redirect: Reply = (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
  expect(await failureOf(redirect)).toMatchObject({ kind: 'stopped', status: 302 });
});

it('a connection cut before or within Stripe’s reply leaves the call’s outcome unknown, without a second try', async () => {
  expect(await failureOf((response) => response.destroy())).toMatchObject({ kind: 'unknown', status: null });
  await stop?.();
  const cut: Reply = (response) => {
    response.writeHead(200, { 'content-length': '500' });
    response.write('{"id":');
    setImmediate(() => response.destroy());
  };
  expect(await failureOf(cut)).toMatchObject({ kind: 'unknown', status: null });
});

it('a call to Stripe without a complete reply ends at its deadline with an unknown outcome', async () => {
  let drip: NodeJS.Timeout | undefined;
  const server = http.createServer((request, response) => {
    if (request.url === '/v1/invoices/in_drip') {
      response.writeHead(200);
      drip = setInterval(() => response.write(' '), 20);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { platform, client, reports } = adapterFor(base, { timeoutMs: 150 });
  stop = async () => {
    clearInterval(drip);
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  expect(await platform.send(stored(platform, calls.report))).toMatchObject({ kind: 'unknown', code: 'timeout' });
  expect(await platform.readInvoice('in_drip')).toMatchObject({ kind: 'unknown', code: 'timeout' });
  expect(reports.map(({ outcome, status }) => [outcome, status])).toEqual([
    ['unknown', null],
    ['unknown', null],
  ]);
});

it('Crossbill retries a call to Stripe after a refused connection or an unknown host name', async () => {
  const unused = net.createServer();
  await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
  const { port } = unused.address() as AddressInfo;
  await new Promise((resolve) => unused.close(resolve));
  const refused = adapterFor(`http://127.0.0.1:${port}`).platform;
  expect(await refused.send(stored(refused, calls.report))).toMatchObject({ kind: 'retry', code: 'ECONNREFUSED' });
  const nowhere = adapterFor('http://stripe.invalid').platform;
  expect(await nowhere.send(stored(nowhere, calls.report))).toMatchObject({ kind: 'retry', status: null });
});

it('Crossbill sends Stripe no call while the request budget cannot be read', async () => {
  const stub = await startStub();
  stop = stub.close;
  stub.budget.take = () => Promise.reject(new Error('database gone'));
  const outcome = await stub.platform.send(stored(stub.platform, calls.report));
  expect(outcome).toMatchObject({ kind: 'retry', code: 'budget_unavailable' });
  expect(stub.seen).toEqual([]);
});

it('no failure or report of a Stripe call contains the API key, client secrets or control characters', async () => {
  const message = `Invalid API Key provided: ${API_KEY}\r\nrk_live_abc pi_1_secret_xyz \u001b[31mred\u202e`;
  const stub = await startStub(refusal(401, { message, param: API_KEY, code: API_KEY }));
  stop = stub.close;
  const outcome = await stub.platform.send(stored(stub.platform, calls.report));
  const said = JSON.stringify([outcome, stub.reports]);
  expect(said).not.toContain(API_KEY);
  expect(said).not.toMatch(/rk_live_abc|secret_xyz|\\r|\\n|\\u001b|\u202e/);
  expect(stub.seen[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
  expect(JSON.stringify(stub.seen[0]?.path)).not.toContain(API_KEY);
});

it('Crossbill refuses to send a stored Stripe call without bytes, or with a foreign path or method', async () => {
  const stub = await startStub();
  stop = stub.close;
  const call = stored(stub.platform, calls.reference);
  for (const wire of [
    { ...call.wire, body: null },
    { ...call.wire, path: '/api/payments' },
  ])
    expect(await stub.platform.send({ ...call, wire })).toMatchObject({ kind: 'refused', code: 'invalid_stored_call' });
  const outcome = await stub.platform.send({ ...call, wire: { ...call.wire, method: 'PUT' } });
  expect(outcome).toMatchObject({ kind: 'refused', code: 'invalid_stored_call' });
  expect(stub.seen).toEqual([]);
});

it('a Stripe list without its next page counts as incomplete', async () => {
  const stub = await startStub(
    reply(200, { ...aList({ object: 'invoice_payment' }), has_more: true }),
    reply(200, { data: 'x' }),
  );
  stop = stub.close;
  expect(await stub.platform.listInvoicePayments('in_1')).toMatchObject({ ok: false, kind: 'unknown' });
  expect(await stub.platform.listInvoicePayments('in_1')).toMatchObject({ ok: false, kind: 'unknown' });
});

it('after Stripe closes an idle connection, the next call goes out once, on a new connection', async () => {
  const stub = await startStub(reply(200, anInvoice()), reply(200, anInvoice()));
  stop = stub.close;
  expect(await stub.platform.readInvoice('in_1')).toMatchObject({ ok: true });
  stub.closeSockets();
  expect(await stub.platform.readInvoice('in_1')).toMatchObject({ ok: true });
  expect(stub.seen).toHaveLength(2);
});

it('a call to Stripe without a free connection until its deadline never goes out', async () => {
  let reply: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (reply = resolve));
  const stub = await startStub((response) => void asked.then(() => response.end('{}')));
  const transport = new StripeHttpClient(1);
  stop = async () => {
    transport.close();
    await stub.close();
  };
  const { port } = new URL(stub.base);
  const get = (path: string, timeoutMs: number) =>
    transport.makeRequest('127.0.0.1', port, path, 'GET', {}, '', 'http', timeoutMs);
  const first = get('/v1/first', 60_000);
  await expect(get('/v1/second', 50)).rejects.toMatchObject({ sent: false, reason: 'timeout' });
  reply();
  expect((await first).getStatusCode()).toBe(200);
  expect(stub.seen.map((s) => s.path)).toEqual(['/v1/first']);
});
