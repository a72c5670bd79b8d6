// The listening server: what it answers before its parts are there, whom it hands requests to, and how it stops.
import { afterEach, expect, it } from '@jest/globals';
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { eventParser } from '../../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../../src/engine/parsed-events.js';
import { Endpoints } from '../../../../src/frames/intake/endpoints.js';
import { type ReplyListener } from '../../../../src/frames/intake/options.js';
import { FrontServer } from '../../../../src/frames/intake/front-server.js';
import { FakeInbox, StillClock, turn } from '../../../support/fakes/fake-inbox.js';
import { sign } from '../../../support/builders/signing.js';

type Got = { status: number; body: string; connection: string | undefined; retryAfter: string | undefined };
const running: FrontServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close(0);
});

async function setUp() {
  const front = new FrontServer();
  running.push(front);
  const { port } = await front.listen(0, '127.0.0.1');
  const ask = (path: string, { method = 'GET', headers = {}, body = '', agent = new Agent() } = {}) =>
    new Promise<Got>((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port, path, method, headers, agent }, (res) => {
        let text = '';
        res.on('data', (chunk: Buffer) => (text += chunk.toString()));
        const { connection, 'retry-after': retryAfter } = res.headers;
        res.on('end', () => resolve({ status: res.statusCode ?? 0, body: text, connection, retryAfter }));
      });
      req.on('error', reject);
      req.end(body);
    });
  return { front, ask, port };
}

/** Gives the server its endpoints, open; what they tell of each answer is in the list. */
function withEndpoints(front: FrontServer): string[] {
  const notified: string[] = [];
  const secrets = { stripe: ['a-secret'], mor_payments: ['b-secret'], mor_events: ['c-secret'] };
  const onReply: ReplyListener = (endpoint, outcome, { signed }) =>
    void notified.push(`${endpoint} ${outcome}${signed ? ' signed' : ''}`);
  const options = { secrets, toleranceSec: 300, bodyLimitBytes: 1_000, onReply };
  const endpoints = new Endpoints(options, new FakeInbox(), new StillClock(), new ParsedEvents(eventParser));
  endpoints.open();
  front.setEndpoints(endpoints);
  front.setFallback((_req, res) => void res.writeHead(404).end());
  return notified;
}

/** What comes back for these bytes until it is as expected, or the connection ends. */
function exchange(port: number, bytes: string, expected: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (expected.test(text)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

it('while the daemon starts, its server answers /livez with 200 and everything else with 503', async () => {
  const { front, ask } = await setUp();
  expect((await ask('/livez')).status).toBe(200);
  for (const path of ['/readyz', '/v1/invoices', '/']) {
    const got = await ask(path);
    expect(got.status).toBe(503);
    expect(got.body).toContain('"code":"starting"');
  }
  for (const path of ['/webhooks/stripe', '/Webhooks/mor/payments/', '/webhooks/mor/events']) {
    const got = await ask(path, { method: 'POST' });
    expect([got.status, got.body, got.retryAfter]).toEqual([503, expect.stringContaining('"code":"stopping"'), '5']);
  }
  front.setFallback((_req: IncomingMessage, res: ServerResponse) => res.end('behind'));
  expect(await ask('/livez')).toMatchObject({ status: 200, body: 'behind' });
});

it('if the server replies before the end of a body, only the connection of this sender closes', async () => {
  const { front, port } = await setUp();
  front.setFallback((req, res) => {
    if (req.url === '/unread') res.writeHead(401).end('no');
    else req.resume().on('end', () => res.end('read'));
  });
  const head = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n`;
  const refusal = /^HTTP\/1\.1 401 .*\r\nConnection: close\r\n.*\bno\b/is;
  expect(await exchange(port, `${head('/unread')}1234`, refusal)).toMatch(refusal);
  const taken = await exchange(port, `${head('/read')}12345${head('/read')}12345`, /(HTTP\/1\.1 200 .*){2}/s);
  expect(taken.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  expect(taken).toMatch(/Connection: keep-alive/i);
});

it('a sender may finish a large body after the server’s refusal, and still reads the refusal', async () => {
  const { front, port } = await setUp();
  front.setFallback((_req, res) => void res.writeHead(413).end('large'));
  const body = 'x'.repeat(2_000_000); // more than the buffers between us hold
  const refusal = /^HTTP\/1\.1 413 .*\blarge\b/is;
  const request = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect(await exchange(port, request, refusal)).toMatch(refusal);
});

it('the endpoints report the sender’s address of a refused webhook, and no address of a stored webhook', async () => {
  const { front, ask } = await setUp();
  const notified: string[] = [];
  const clock = new StillClock();
  const endpoints = new Endpoints(
    {
      secrets: { stripe: ['a-secret'], mor_payments: ['b-secret'], mor_events: ['c-secret'] },
      toleranceSec: 300,
      bodyLimitBytes: 1_000,
      onReply: (_endpoint, outcome, { address }) => void notified.push(`${outcome} ${address}`),
    },
    new FakeInbox(),
    clock,
    new ParsedEvents(eventParser),
  );
  endpoints.open();
  front.setEndpoints(endpoints);
  for (const secret of ['a-secret', 'another']) {
    const headers = { 'stripe-signature': sign('{}', secret, { t: clock.seconds }) };
    await ask('/webhooks/stripe', { method: 'POST', headers, body: '{}' });
  }
  expect(notified).toEqual(['stored ', 'signature_mismatch 127.0.0.1']);
});

it('the server passes webhook requests to the webhook endpoints, and other requests with unread bodies to the application', async () => {
  const { front, ask } = await setUp();
  const inbox = new FakeInbox();
  const clock = new StillClock();
  const secrets = { stripe: ['a-secret'], mor_payments: ['b-secret'], mor_events: ['c-secret'] };
  const options = { secrets, toleranceSec: 300, bodyLimitBytes: 1_000 };
  const endpoints = new Endpoints(options, inbox, clock, new ParsedEvents(eventParser));
  endpoints.open();
  front.setEndpoints(endpoints);
  front.setFallback((req, res) => void req.pipe(res));
  const headers = { 'stripe-signature': sign('{}', 'a-secret', { t: clock.seconds }) };
  expect((await ask('/webhooks/stripe/', { method: 'POST', headers, body: '{}' })).body).toBe('{"received":true}');
  const whole = 'http://crossbill.example/Webhooks/stripe?x=1';
  expect((await ask(whole, { method: 'POST', headers, body: '{}' })).body).toBe('{"received":true}');
  expect((await ask('/v1/echo', { method: 'POST', body: 'as it came' })).body).toBe('as it came');
  expect(inbox.rows.size).toBe(1);
});

it('a webhook with oversized headers gets 503 and never 431, so the sender repeats the webhook', async () => {
  const { front, ask } = await setUp();
  const notified = withEndpoints(front);
  for (const size of [17_000, 3_000_000]) {
    const headers = { 'x-large': 'x'.repeat(size) }; // the second is still being written when the answer comes
    const got = await ask('/webhooks/mor/payments', { method: 'POST', headers });
    expect([size, got.status, got.body, got.retryAfter]).toEqual([
      size,
      503,
      expect.stringContaining('"headers_too_large"'),
      '5',
    ]);
  }
  expect((await ask('/webhooks/mor/payments', { method: 'POST' })).body).toContain('"signature_missing"'); // others are served
  expect(notified).toEqual([
    'mor_payments headers_too_large',
    'mor_payments headers_too_large',
    'mor_payments signature_missing',
  ]);
});

it('Crossbill counts a webhook with oversized headers as refused at its endpoint, with or without a signature', async () => {
  const { front, ask } = await setUp();
  const notified = withEndpoints(front);
  const huge = { 'x-large': 'x'.repeat(17_000) };
  const signed = { 'Service-Signature': 't=1,v1=00', ...huge };
  expect((await ask('/webhooks/mor/events', { method: 'POST', headers: signed })).status).toBe(503);
  expect((await ask('/v1/invoices', { headers: huge })).status).toBe(503); // no delivery: nobody counts it
  expect((await ask(`/${'x'.repeat(17_000)}`)).status).toBe(503);
  expect(notified).toEqual(['mor_events headers_too_large signed', 'null headers_too_large']);
});

it('without a Host header, a webhook goes on to the signature check, and any other request gets 400', async () => {
  const { front, port } = await setUp();
  withEndpoints(front);
  const of = (path: string): string => `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`;
  const refused = /^HTTP\/1\.1 503 .*signature_missing/s;
  expect(await exchange(port, of('/webhooks/mor/payments'), refused)).toMatch(refused);
  const hostless = /^HTTP\/1\.1 400 .*bad_request/s;
  expect(await exchange(port, of('/v1/invoices'), hostless)).toMatch(hostless);
});

it('a webhook with an unknown Expect header gets 503, and another request with such a header gets 417', async () => {
  const { front, ask } = await setUp();
  const post = { method: 'POST', headers: { expect: 'the-unexpected' }, body: '{}' };
  expect((await ask('/webhooks/stripe', post)).status).toBe(503); // while it starts
  const notified = withEndpoints(front);
  for (const path of ['/webhooks/stripe', '/Webhooks/MoR/payments/', '/webhooks/mor/events?x=1']) {
    const got = await ask(path, post);
    expect([path, got.status, got.body]).toEqual([path, 503, expect.stringContaining('"unknown_expectation"')]);
  }
  expect(notified).toEqual(
    ['stripe', 'mor_payments', 'mor_events'].map((endpoint) => `${endpoint} unknown_expectation`),
  );
  expect((await ask('/v1/invoices', post)).status).toBe(417);
});

it('the server answers Expect: 100-continue with 100, and replies 503 to malformed HTTP', async () => {
  const { front, port } = await setUp();
  const notified = withEndpoints(front);
  const head = 'POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n';
  const goneOn = /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /;
  const signed = `${head}Stripe-Signature: t=1,v1=${'0'.repeat(64)}\r\n\r\n{}`;
  expect(await exchange(port, signed, goneOn)).toMatch(goneOn);
  const refusal = /^HTTP\/1\.1 503 Service Unavailable\r\n.*retry-after: 5\r\n.*bad_request/is;
  expect(await exchange(port, 'no http at all\r\n\r\n', refusal)).toMatch(refusal);
  expect(notified).toEqual(['stripe signature_mismatch signed', 'null bad_request']);
});

it('on shutdown, the server finishes its running requests and accepts no new connection', async () => {
  const { front, ask } = await setUp();
  const waiting: ServerResponse[] = [];
  front.setFallback((_req, res) => void waiting.push(res));
  const agent = new Agent({ keepAlive: true });
  const pending = ask('/slow', { agent });
  while (waiting.length === 0) await turn();
  let closed = false;
  const closing = front.close(60_000).then(() => (closed = true));
  // For a moment a new connection is told to come again, then there is nobody to connect to.
  expect((await ask('/late').catch(() => null))?.status ?? 503).toBe(503);
  expect(closed).toBe(false);
  waiting[0]?.end('done');
  expect(await pending).toMatchObject({ status: 200, body: 'done', connection: 'close' });
  await closing;
  agent.destroy();
});

it('on shutdown, a request over an open connection gets 503, and the connection ends', async () => {
  const { front, ask } = await setUp();
  front.setFallback((_req, res) => void res.end('done'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await ask('/first', { agent })).toMatchObject({ status: 200, connection: 'keep-alive' });
  const closing = front.close(60_000);
  const late = await ask('/second', { agent });
  expect(late).toMatchObject({ status: 503, connection: 'close' });
  expect(late.body).toContain('"code":"stopping"');
  await closing;
  agent.destroy();
});

it('on shutdown, the server cuts off a running request after the grace period', async () => {
  const { front, ask } = await setUp();
  const waiting: ServerResponse[] = [];
  front.setFallback((_req, res) => void waiting.push(res));
  const pending = ask('/never').catch(() => 'cut off');
  while (waiting.length === 0) await turn();
  await Promise.all([front.close(20), front.close(20)]);
  expect(await pending).toBe('cut off');
});
