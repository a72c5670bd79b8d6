// The one way to the MoR: tokens, deadlines, redirects, and the kind of each trouble.
import { CardIntents, type MorCallName, MorTransport, type Outcome, Refunds, type WireRequest } from '@crossbill/mor';
import { tokenLifeSec } from '@crossbill/mor/token-source.js';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { createServer } from 'node:net';
import { aRig, CANARY_SECRET, json, Peer, type Reply, type Rig } from './peer.js';

const post: WireRequest = { method: 'POST', path: '/api/thing', body: '{"b":1,"a":"ü"}' };
const get: WireRequest = { method: 'GET', path: '/api/thing', body: null };

let rig: Rig;
beforeEach(async () => {
  rig = await aRig();
});
afterEach(() => rig.close());

function send(wire = post, name: MorCallName = 'refund.create', key: string | null = 'key-1') {
  return rig.transport.call(wire, { name, key, accept: ({ body }) => body });
}

function failed(outcome: Outcome<unknown>) {
  if (outcome.ok) throw new Error('expected a failure');
  return outcome;
}

it("the MoR client uses one token for two calls, and sends a call's stored body and idempotency key unchanged", async () => {
  await send();
  await send();
  expect(rig.peer.tokenCalls).toHaveLength(1);
  expect(rig.peer.tokenCalls[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(rig.peer.tokenCalls[0]?.body).toBe(
    `grant_type=client_credentials&client_id=merchant-1&client_secret=${CANARY_SECRET}`,
  );
  const [call] = rig.peer.calls;
  expect(call?.headers.authorization).toBe('Bearer canary-token-1');
  expect(call?.headers['idempotency-key']).toBe('key-1');
  expect(call?.body).toBe(post.body);
  expect(call?.path).toBe('/api/thing');
});

it('an answer has the time of the MoR by its Date header, and none if the header is unreadable', async () => {
  rig.peer.reply = json(200, {}, { date: 'Sat, 28 Nov 2026 12:03:05 GMT' });
  expect(await send()).toMatchObject({ ok: true, answeredAt: new Date('2026-11-28T12:03:05Z') });
  rig.peer.reply = json(200, {}, { date: 'yesterday' });
  expect(await send()).toMatchObject({ ok: true, answeredAt: null });
});

it('50 parallel calls of the MoR client with an expired token share one new token', async () => {
  await send();
  rig.peer.reply = (req, res) => json(req.headers.authorization === 'Bearer canary-token-2' ? 200 : 401, {})(req, res);
  const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => send(post, 'refund.create', `key-${n}`)));
  expect(outcomes.every((one) => one.ok)).toBe(true);
  expect(rig.peer.tokenCalls).toHaveLength(2);
});

it('50 parallel calls of the MoR client share the first token', async () => {
  await Promise.all(Array.from({ length: 50 }, () => send()));
  expect(rig.peer.tokenCalls).toHaveLength(1);
});

it('the MoR client repeats a call one time after a 401, with a new token, the same key and the same bytes', async () => {
  rig.peer.reply = (req, res) => json(rig.peer.calls.length === 1 ? 401 : 200, {})(req, res);
  expect((await send()).ok).toBe(true);
  expect(rig.peer.calls.map(({ body, headers }) => [body, headers['idempotency-key']])).toEqual([
    [post.body, 'key-1'],
    [post.body, 'key-1'],
  ]);
});

it('the MoR client renews a token 300 seconds before the token expires', async () => {
  await send();
  rig.clock.forward(86_099_000);
  await send();
  expect(rig.peer.tokenCalls).toHaveLength(1);
  rig.clock.forward(1_000);
  await send();
  expect(rig.peer.tokenCalls).toHaveLength(2);
});

it('the MoR client keeps a token without a usable lifetime for one minute', () => {
  for (const odd of [undefined, null, 0, -5, 'soon', '86400', Number.NaN]) expect(tokenLifeSec(odd)).toBe(60);
  expect(tokenLifeSec(86_400)).toBe(86_100);
  fc.assert(
    fc.property(
      fc.double({ min: 0.001, noNaN: true, noDefaultInfinity: true }),
      (life) => tokenLifeSec(life) > 0 && tokenLifeSec(life) <= life,
    ),
  );
});

it('the MoR client fetches separate tokens for partner and merchant credentials', async () => {
  await send();
  await rig.transport.call(get, { name: 'partner.whoami', as: 'partner', accept: () => null });
  expect(rig.peer.tokenCalls[1]?.body).toContain('client_id=partner-1');
  expect(rig.peer.calls[1]?.headers.authorization).toBe('Bearer canary-token-2');
});

it('the MoR client pauses half a second after two failed requests to the token service', async () => {
  rig.peer.tokenReply = json(503, {});
  await send();
  await send();
  const asked = rig.peer.tokenCalls.length;
  await send();
  expect(rig.peer.tokenCalls).toHaveLength(asked);
  rig.clock.forward(501);
  await send();
  expect(rig.peer.tokenCalls.length).toBeGreaterThan(asked);
});

it('the MoR client asks the token service again although the clock went back during the pause', async () => {
  const [answering, failing] = [rig.peer.tokenReply, json(503, {})];
  rig.peer.tokenReply = failing;
  await send();
  await send();
  rig.peer.tokenReply = answering;
  rig.clock.forward(-3_600_000);
  expect((await send()).ok).toBe(true);
});

it("the MoR client sends no call if the token service's answer has no usable token", async () => {
  for (const body of [{}, { access_token: 7 }, { access_token: 'a\r\nx: y' }, [], 'text']) {
    const fresh = await aRig();
    fresh.peer.tokenReply = json(200, body);
    const outcome = await fresh.transport.call(get, { name: 'tax.transaction.list', accept: () => null });
    expect(failed(outcome).kind).toBe('retry');
    await fresh.close();
  }
});

const never: Reply = () => undefined;
const bytes =
  (all: Uint8Array | string): Reply =>
  (_req, res) =>
    void res.writeHead(200).end(all);
const endless: Reply = (_req, res) => void res.writeHead(200).write('{"id":');
const cutWithin: Reply = (_req, res) => {
  res.writeHead(200, { 'content-length': '100' }).write('{"id":"rfnd_1"');
  setImmediate(() => res.destroy());
};
/** The title, what the MoR does, the failure's kind and status, and the requests at the API: a write goes out once. */
const troubles: [string, { api?: Reply; token?: Reply; timeoutMs?: number }, string, number | null, number][] = [
  ['stops a call after a second 401', { api: json(401, {}) }, 'stopped', 401, 2],
  ['stops a call if the token service refuses its credentials', { token: json(401, {}) }, 'stopped', null, 0],
  ['reports a call as not sent if the token service fails', { token: json(500, {}) }, 'retry', null, 0],
  ['reports a call as not sent if the token service is slow', { token: never, timeoutMs: 200 }, 'retry', null, 0],
  ['reports the outcome unknown after its deadline', { api: never, timeoutMs: 200 }, 'unknown', null, 1],
  ['reports the outcome unknown after an endless answer', { api: endless, timeoutMs: 200 }, 'unknown', 200, 1],
  ['reports the outcome unknown after a cut connection', { api: (_, res) => void res.destroy() }, 'unknown', null, 1],
  ['reports the outcome unknown after a cut answer', { api: cutWithin }, 'unknown', 200, 1],
  ['reports the outcome unknown after a 200 with HTML', { api: bytes('<html>') }, 'unknown', 200, 1],
  ['reports the outcome unknown after a 200 with half a body', { api: bytes('{"id":') }, 'unknown', 200, 1],
  [
    'reports the outcome unknown after bytes outside UTF-8',
    { api: bytes(Buffer.from('22ff22', 'hex')) },
    'unknown',
    200,
    1,
  ],
  ['reads at most 5 MB of an answer', { api: bytes(JSON.stringify('x'.repeat(6 << 20))) }, 'unknown', 200, 1],
];
it.each(troubles)(
  'after a failure on the network or at the MoR, the MoR client %s',
  async (_title, { api, token, timeoutMs = 15_000 }, kind, status, calls) => {
    const own = await aRig({ timeoutMs });
    if (api !== undefined) own.peer.reply = api;
    if (token !== undefined) own.peer.tokenReply = token;
    const outcome = await own.transport.call(post, { name: 'refund.create', key: 'k', accept: () => null });
    expect(failed(outcome)).toMatchObject({ kind, status });
    expect(own.peer.calls).toHaveLength(calls);
    await own.close();
  },
);

it('the MoR client follows no redirect and sends its token to no other host', async () => {
  const other = await new Peer().start();
  for (const status of [301, 302, 303, 307, 308]) {
    rig.peer.reply = json(status, {}, { location: `http://127.0.0.1:${other.port}/api/thing` });
    expect(failed(await send())).toMatchObject({ kind: 'stopped', status, code: 'unexpected_redirect' });
  }
  expect(other.calls).toHaveLength(0);
  await other.stop();
});

it('the MoR client follows no redirect of the token service', async () => {
  const other = await new Peer().start();
  rig.peer.tokenReply = json(307, {}, { location: `http://127.0.0.1:${other.port}/auth/oauth2/token` });
  expect(failed(await send())).toMatchObject({ kind: 'stopped', code: 'unexpected_redirect' });
  expect(other.tokenCalls).toHaveLength(0);
  await other.stop();
});

it('the MoR client repeats a read one time after a lost connection', async () => {
  rig.peer.reply = (req, res) => (rig.peer.calls.length === 1 ? res.destroy() : json(200, { ok: true })(req, res));
  expect((await send(get, 'tax.transaction.list', null)).ok).toBe(true);
  expect(rig.peer.calls).toHaveLength(2);
});

it('the MoR client reports a call as not sent if the MoR refuses the connection', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise<void>((resolve) => holder.close(() => resolve()));
  const transport = new MorTransport(rig.peer.options({ baseUrl: `http://127.0.0.1:${port}` }));
  const outcome = await transport.call(post, { name: 'refund.create', key: 'k', accept: () => null });
  expect(failed(outcome).kind).toBe('retry');
  await transport.close();
});

const rows: [MorCallName, number, string | null, string][] = [
  ['payment_intent.create', 503, 'psp_unavailable', 'retry'],
  ['refund.create', 503, 'psp_unavailable', 'unknown'],
  ['tax.calculate', 502, 'tax_provider_unavailable', 'retry'],
  ['refund.create', 429, 'rate_limited', 'retry'],
  ['refund.create', 429, null, 'retry'],
  ['refund.create', 403, 'merchant_suspended', 'stopped'],
  ['refund.create', 409, 'idempotency_conflict', 'refused'],
  ['refund.create', 422, 'payment_not_refundable', 'refused'],
  ['refund.create', 404, 'payment_not_found', 'refused'],
  ['refund.create', 500, 'internal_error', 'unknown'],
  ['refund.create', 502, null, 'unknown'],
  ['refund.create', 504, null, 'unknown'],
  ['onboarding.initiate', 500, 'internal_error', 'refused'],
  ['onboarding.initiate', 500, null, 'unknown'],
];
it.each(rows)(
  "the MoR client classifies the MoR's answer to %s with status %i and code %s as `%s`",
  async (name, status, code, kind) => {
    rig.peer.reply = json(status, { ...(code === null ? {} : { code }), errors: [{ field: 'amount', message: 'no' }] });
    const outcome = failed(await send(post, name));
    expect(outcome).toMatchObject({ kind, status, code, errors: [{ field: 'amount', message: 'no' }] });
  },
);

it('the MoR client finds the error code in several shapes of error bodies', async () => {
  for (const body of [{ error: { code: 'payment_not_found' } }, { error: 'payment_not_found' }]) {
    rig.peer.reply = json(404, body);
    expect(failed(await send()).code).toBe('payment_not_found');
  }
  rig.peer.reply = (_req, res) => res.writeHead(404).end('<html>');
  expect(failed(await send())).toMatchObject({ kind: 'refused', code: null, errors: [] });
});

it('the MoR client waits as long as the Retry-After header says, at most an hour', async () => {
  const asked: [string, number | null][] = [
    ['7', 7_000],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['99999999', 3_600_000],
    ['soon', null],
    ['-1', null],
  ];
  for (const [header, wait] of asked) {
    rig.peer.reply = json(429, { code: 'rate_limited' }, { 'retry-after': header });
    expect(failed(await send()).retryAfterMs).toBe(wait);
  }
});

it("the MoR client passes each call's result, status and request id to onRequest, and goes on if onRequest throws", async () => {
  rig.peer.reply = json(200, {}, { 'x-request-id': 'req_1' });
  await send();
  rig.peer.reply = json(422, { code: 'payment_not_refundable' });
  await send();
  expect(rig.reports).toMatchObject([
    { call: 'refund.create', status: 200, kind: 'ok', requestId: 'req_1' },
    { call: 'refund.create', status: 422, kind: 'refused', requestId: null },
  ]);
  const loud = await aRig({
    onRequest: () => {
      throw new Error('no metrics today');
    },
  });
  expect((await loud.transport.call(get, { name: 'webhook.list', accept: () => null })).ok).toBe(true);
  await loud.close();
});

it('the MoR client shows no secret in its errors or its printed form, even if the MoR echoes secrets', async () => {
  rig.peer.reply = (req, res) =>
    json(400, {
      code: 'invalid_request',
      message: `saw ${req.headers.authorization} and ${CANARY_SECRET}`,
      errors: [{ field: `Bearer canary-token-1`, message: `pi_1_secret_canaryXYZ ${CANARY_SECRET}\r\n\u202ex` }],
    })(req, res);
  const outcome = failed(await send());
  const all: readonly unknown[] = [outcome, rig.client, rig.transport, rig.reports, rig.peer.options()];
  const shown = all
    .map((one) => `${inspect(one, { depth: 20, showHidden: true })} ${JSON.stringify(one)} ${String(one)}`)
    .join('\n');
  expect(shown).toContain('[secret]');
  expect(shown).not.toMatch(/canary/);
  expect(outcome.errors[0]?.message).not.toMatch(/[\r\n\u202e]/);
});

it("the MoR client's error about an intent with an unreadable field does not show the intent's client secret", async () => {
  rig.peer.reply = json(200, { client_secret: 'pi_1_secret_canary', payment_intent_id: 7 });
  const intents = new CardIntents(rig.transport);
  const outcome = failed(await intents.send({ ...post, path: '/api/payments/cardpsp/payment-intents' }, 'k'));
  expect(outcome.kind).toBe('unknown');
  expect(inspect(outcome)).not.toMatch(/canary/);
});

it("the MoR client reports a refund's outcome as unknown if the MoR sends the amount as text instead of a number", async () => {
  const refund = {
    id: 'rfnd_1',
    payment_id: 'pay_1',
    amount: '500',
    currency: 'eur',
    status: 'succeeded',
    reason: null,
    processor_references: { refund_id: 're_1' },
    created_at: '2026-03-01T12:00:00Z',
  };
  rig.peer.reply = json(200, refund);
  const refunds = new Refunds(rig.transport);
  expect(failed(await refunds.send(post, 'k'))).toMatchObject({ kind: 'unknown', status: 200 });
  rig.peer.reply = json(200, { ...refund, amount: 500 });
  expect(await refunds.send(post, 'k')).toMatchObject({ ok: true, value: { amountMinor: 500n, currency: 'EUR' } });
});
