// The webhook endpoints over real HTTP: every row of the answer table.
import { afterEach, expect, it } from '@jest/globals';
import { type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventParser } from '../../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../../src/engine/parsed-events.js';
import { Endpoints } from '../../../../src/frames/intake/endpoints.js';
import { ReadingRoom } from '../../../../src/frames/intake/read-body.js';
import { FakeInbox, StillClock } from '../../../support/fakes/fake-inbox.js';
import {
  code,
  exchange,
  invoice,
  paid,
  secrets,
  settled,
  setUp,
  statusesOf,
  stopEndpoints,
  until,
} from '../../../support/rigs/intake-rig.js';
import { sign } from '../../../support/builders/signing.js';

afterEach(stopEndpoints);

it('each webhook endpoint replies 200 {"received":true} to an authentic delivery and stores its bytes', async () => {
  const { send, payments, inbox, clock } = await setUp();
  const t = clock.seconds;
  const got = [
    await send('/webhooks/stripe', invoice, { 'Stripe-Signature': sign(invoice, 'stripe-secret-2', { t }) }),
    await payments(paid),
    await send('/webhooks/mor/events', settled, { 'Service-Signature': sign(settled, 'service-secret', { t }) }),
  ];
  expect(got.map(({ status, body }) => `${status} ${body}`)).toEqual(Array(3).fill('200 {"received":true}'));
  expect(got[0]?.headers['content-type']).toBe('application/json');
  const rows = [...inbox.rows.values()];
  expect(rows.map(({ source, lane, status }) => [source, lane, status])).toEqual([
    ['stripe', 'in_1Fern0006', 'received'],
    ['mor_payments', 'in_1Fern0003', 'received'],
    ['mor_events', 'mor:6d7c2a54-0f3e-4b1c-9a7e-2f5b1c0d9e11', 'received'],
  ]);
  expect(rows.map((row) => row.body)).toEqual([invoice, paid, settled]);
  expect(rows[0]?.receivedAt).toEqual(clock.now());
});

it('a webhook endpoint replies to a delivery only after the commit', async () => {
  const { payments, inbox } = await setUp();
  inbox.hold();
  let answered = false;
  const pending = payments(paid).then((got) => ((answered = true), got));
  await until(() => inbox.heldCount > 0);
  expect(answered).toBe(false);
  inbox.commitNext();
  expect((await pending).status).toBe(200);
});

it('50 simultaneous copies of a webhook make one row and each get 200', async () => {
  const { payments, inbox, told: notified } = await setUp();
  const all = await Promise.all(Array.from({ length: 50 }, () => payments(paid)));
  expect(new Set(statusesOf(all))).toEqual(new Set([200]));
  expect(inbox.rows.size).toBe(1);
  expect(notified.filter((one) => one === 'mor_payments stored')).toHaveLength(1);
});

it.each<[string, Buffer]>([
  ['broken JSON', Buffer.from('{')],
  ['an empty body', Buffer.alloc(0)],
  ['an array', Buffer.from('[]')],
  ['compressed bytes', gzipSync(paid)],
  ['UTF-16', Buffer.from(paid.toString(), 'utf16le')],
  ['a payment without an amount', Buffer.from(paid.toString().replace('"amount"', '"amonut"'))],
  ['an id of 5,000 characters', Buffer.from(paid.toString().replace('evt_fern', 'e'.repeat(5_000)))],
  ['20,000 levels', Buffer.from('['.repeat(20_000))],
])('Crossbill replies 200 to an authentic webhook with %s, and parks it', async (_name, body) => {
  const { payments, inbox } = await setUp();
  expect((await payments(body, 0, { 'content-encoding': 'gzip' })).status).toBe(200);
  const [row] = inbox.rows.values();
  expect(row).toMatchObject({ status: 'parked', body });
  expect(row?.reason).not.toBeNull();
});

it('Crossbill replies 200 to an authentic webhook of an unused type, and ignores it', async () => {
  const { payments, inbox } = await setUp();
  const body = '{"id":"e1","type":"payment.settled","data":{}}';
  expect((await payments(body)).status).toBe(200);
  expect([...inbox.rows.values()]).toMatchObject([{ status: 'ignored', eventId: 'e1', type: 'payment.settled' }]);
});

it('a webhook endpoint accepts any content type, extra whitespace and a chunked body', async () => {
  const { payments, port, clock, inbox } = await setUp();
  for (const type of ['text/plain', 'APPLICATION/JSON; charset=utf-16', '']) {
    const body = `${paid.toString().replace('evt_fern', `evt${type.length}`)}\r\n \t\n`;
    expect((await payments(body, 0, type === '' ? {} : { 'content-type': type })).status).toBe(200);
  }
  const header = sign(paid, 'mor-secret', { t: clock.seconds });
  const chunked = [paid.subarray(0, 7), paid.subarray(7, 8), paid.subarray(8)].map(
    (part) => `${part.length.toString(16)}\r\n${part.toString()}\r\n`,
  );
  const head = `POST /webhooks/mor/payments HTTP/1.1\r\nHost: x\r\nMor-Signature: ${header}\r\nTransfer-Encoding: chunked\r\n`;
  const text = await exchange(port, `${head}Connection: close\r\n\r\n${chunked.join('')}0\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1.1 200 OK/);
  expect(inbox.rows.size).toBe(4);
});

it('a webhook path works in upper or lower case, with slashes at the end and with a query', async () => {
  const { send, clock } = await setUp();
  const headers = { 'mor-signature': sign(paid, 'mor-secret', { t: clock.seconds }) };
  const paths = [
    '/Webhooks/MOR/Payments',
    '/webhooks/mor/payments/',
    '/webhooks/mor/payments//?a=1',
    '/webhooks/mor/payments?__proto__=1',
  ];
  expect(statusesOf(await Promise.all(paths.map((path) => send(path, paid, headers))))).toEqual([200, 200, 200, 200]);
  const others = [
    '/webhooks',
    '/webhooks/mor',
    '/webhooks/mor/payments/x',
    '/webhooksmor/payments',
    '/',
    '/v1/webhooks/stripe',
  ];
  expect(new Set(statusesOf(await Promise.all(others.map((path) => send(path, paid, headers)))))).toEqual(
    new Set([418]),
  );
});

it('the MoR’s webhook endpoint replies 503 to a missing or malformed signature', async () => {
  const { send, clock, inbox, told: notified } = await setUp();
  const good = sign(paid, 'mor-secret', { t: clock.seconds });
  const bad = sign(paid, 'another', { t: clock.seconds });
  const to = (headers: RequestOptions['headers']) => send('/webhooks/mor/payments', paid, headers);
  const got = [
    await to({}),
    await to({ 'mor-signature': '' }),
    await to({ 'mor-signature': 'nonsense' }),
    await to({ 'service-signature': good }),
    await to({ 'stripe-signature': good }),
    await to({ 'mor-signature': [bad, good] }),
    await to({ 'mor-signature': [good, bad] }),
    await to({ 'mor-signature': [good, good] }),
    await to({ 'mor-signature': `${bad}, ${good}` }),
    await to({ 'mor-signature': good.replace('t=', 't=x') }),
  ];
  expect(got.map((one) => [one.status, one.headers['retry-after']])).toEqual(Array(10).fill([503, '5']));
  const [missing, malformed] = ['signature_missing', 'signature_malformed'];
  const codes = [missing, missing, malformed, missing, missing, ...Array<string>(5).fill(malformed)];
  expect(got.map(code)).toEqual(codes);
  expect([inbox.batches, inbox.quarantined]).toEqual([[], []]);
  expect(notified).toEqual(codes.map((one) => `mor_payments ${one}`));
});

it('the MoR’s webhook endpoint refuses another endpoint’s secret, and ignores another endpoint’s signature header', async () => {
  const { send, clock, inbox } = await setUp();
  const t = clock.seconds;
  const wrong = await send('/webhooks/mor/payments', paid, { 'mor-signature': sign(paid, 'service-secret', { t }) });
  const both = { 'mor-signature': sign(paid, 'mor-secret', { t }), 'service-signature': 't=1,v1=no' };
  const crossed = {
    'mor-signature': sign(paid, 'service-secret', { t }),
    'service-signature': sign(paid, 'mor-secret', { t }),
  };
  expect([wrong.status, code(wrong)]).toEqual([503, 'signature_mismatch']);
  expect((await send('/webhooks/mor/payments', paid, crossed)).status).toBe(503);
  expect(inbox.batches).toEqual([]);
  expect((await send('/webhooks/mor/payments', paid, both)).status).toBe(200);
});

it('a webhook endpoint refuses a body with one changed byte, or the same JSON in other bytes', async () => {
  const { send, clock, inbox, told: notified } = await setUp();
  const headers = { 'mor-signature': sign(paid, 'mor-secret', { t: clock.seconds }) };
  const changed = Buffer.from(paid.toString().replace('4999', '4998'));
  const rewritten = Buffer.from(JSON.stringify(JSON.parse(paid.toString())));
  for (const body of [changed, rewritten, Buffer.alloc(0)]) {
    expect((await send('/webhooks/mor/payments', body, headers)).status).toBe(503);
  }
  expect([inbox.batches, inbox.quarantined]).toEqual([[], []]);
  expect(notified).toEqual(Array(3).fill('mor_payments signature_mismatch'));
});

it('Crossbill replies 503 to a webhook outside the time tolerance, and keeps a copy without effect', async () => {
  const { payments, inbox } = await setUp();
  expect(statusesOf([await payments(paid, 300), await payments(paid, -300)])).toEqual([200, 200]);
  const stored = inbox.batches.length;
  expect(statusesOf([await payments(paid, 301), await payments(paid, -301)])).toEqual([503, 503]);
  expect(inbox.batches).toHaveLength(stored);
  expect(inbox.quarantined.map(({ delivery }) => delivery.eventId)).toEqual(Array(2).fill('evt_fern_succeeded_3'));
  inbox.failure = new Error('no database');
  expect((await payments(paid, 301)).status).toBe(503);
});

it('a webhook endpoint refuses forged deliveries without any database work, even in a flood', async () => {
  const { send, inbox, payments, clock } = await setUp();
  const flood = Array.from({ length: 200 }, (_, n) =>
    send(
      '/webhooks/mor/payments',
      paid,
      n % 2 === 0 ? {} : { 'mor-signature': sign(paid, 'guess', { t: clock.seconds }) },
    ),
  );
  expect((await payments(paid)).status).toBe(200);
  expect(new Set(statusesOf(await Promise.all(flood)))).toEqual(new Set([503]));
  expect(inbox.batches.flat()).toHaveLength(1);
});

it('a webhook gets 503 if the database fails, and 200 on its next try', async () => {
  const { payments, inbox } = await setUp();
  inbox.failure = new Error('disk full');
  const got = await payments(paid);
  expect([got.status, code(got), got.headers['retry-after']]).toEqual([503, 'database', '5']);
  inbox.failure = null;
  expect((await payments(paid)).status).toBe(200);
});

it('a webhook gets 503 if its commit or quarantine takes over 10 seconds', async () => {
  const { payments, inbox, clock } = await setUp();
  inbox.hold();
  const pending = payments(paid);
  await until(() => inbox.heldCount > 0);
  await clock.pass(10_000);
  expect((await pending).status).toBe(503);
  let asked = false;
  inbox.quarantine = () => ((asked = true), new Promise<void>(() => undefined));
  const stale = payments(paid, 400);
  await until(() => asked);
  await clock.pass(10_000);
  expect((await stale).status).toBe(503);
});

it('a webhook gets 503 before the endpoints open and after they close, and its body stays unread', async () => {
  const { payments, endpoints, inbox, told: notified } = await setUp({}, { open: false });
  const early = await payments(paid);
  expect([early.status, early.headers['retry-after'], early.headers.connection]).toEqual([503, '5', 'close']);
  endpoints.open();
  expect((await payments(paid)).status).toBe(200);
  await endpoints.close();
  expect((await payments(paid)).status).toBe(503);
  expect(code(early)).toBe('stopping');
  expect([inbox.rows.size, notified]).toEqual([
    1,
    ['mor_payments stopping', 'mor_payments stored', 'mor_payments stopping'],
  ]);
});

it('a webhook received before the endpoints close still gets 200', async () => {
  const { payments, endpoints, inbox } = await setUp();
  inbox.hold();
  const pending = payments(paid);
  await until(() => inbox.heldCount > 0);
  const closing = endpoints.close();
  inbox.commitNext();
  await closing;
  expect((await pending).status).toBe(200);
});

it('the MoR’s webhook endpoint replies 503 to a body over the limit, declared or streamed', async () => {
  const { payments, port, clock, inbox } = await setUp({ bodyLimitBytes: 2_000 });
  const exact = paid.toString().padEnd(2_000);
  expect(statusesOf([await payments(exact), await payments(`${exact} `)])).toEqual([200, 503]);
  expect(code(await payments(Buffer.alloc(20_000_000)))).toBe('too_large');
  const head = `POST /webhooks/mor/payments HTTP/1.1\r\nHost: x\r\nMor-Signature: ${sign('', 'x', { t: clock.seconds })}\r\n`;
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  const endless = await exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(40)}`);
  expect(endless).toMatch(/^HTTP\/1.1 503 [^]*too_large/);
  expect(inbox.rows.size).toBe(1);
});

it('a body that never ends gets 503, and the endpoint serves other webhooks meanwhile', async () => {
  const { payments, port, clock, told: notified } = await setUp({ bodyTimeoutMs: 50 });
  const head = `POST /webhooks/mor/payments HTTP/1.1\r\nHost: x\r\nMor-Signature: ${sign(paid, 'mor-secret', { t: clock.seconds })}\r\n`;
  const slow = exchange(port, `${head}Content-Length: ${paid.length}\r\n\r\n${paid.toString().slice(0, 20)}`);
  expect((await payments(paid)).status).toBe(200);
  expect(await slow).toMatch(/^HTTP\/1.1 503 [^]*body_too_slow/);
  expect(notified).toContain('mor_payments body_too_slow');
});

it('if the sender disconnects in the middle of a body, Crossbill stores nothing', async () => {
  const { port, clock, told: notified, inbox, payments } = await setUp();
  const head = `POST /webhooks/mor/payments HTTP/1.1\r\nHost: x\r\nMor-Signature: ${sign(paid, 'mor-secret', { t: clock.seconds })}\r\n`;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`${head}Content-Length: 900\r\nExpect: 100-continue\r\n\r\n{`),
  );
  await new Promise((resolve) => socket.once('data', resolve)); // "100 Continue": the headers were read
  socket.destroy();
  await until(() => notified.includes('mor_payments aborted'));
  expect(inbox.batches).toEqual([]);
  expect((await payments(paid)).status).toBe(200);
});

it('a webhook gets 503 if the memory for bodies is full', async () => {
  const { payments } = await setUp({ room: new ReadingRoom(100) });
  expect((await payments(paid)).status).toBe(503);
  expect((await payments('{}')).status).toBe(200); // the room is given back
});

it('Stripe’s webhook endpoint replies 405 to methods other than POST, and the MoR’s endpoint 503', async () => {
  const { send, inbox } = await setUp();
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']) {
    const headers = { 'x-http-method-override': 'POST' };
    const got = await send('/webhooks/stripe', '', headers, method);
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
    const again = await send('/webhooks/mor/payments', '', headers, method);
    expect([again.status, again.headers.allow, again.headers['retry-after']]).toEqual([503, 'POST', '5']);
  }
  expect(inbox.batches).toEqual([]);
});

it('Stripe’s webhook endpoint replies 4xx to a faulty delivery, since Stripe repeats a delivery after any refusal', async () => {
  const { send, clock, inbox, told: notified } = await setUp({ bodyLimitBytes: 2_000 });
  const to = (body: string, headers: Record<string, string>) => send('/webhooks/stripe', body, headers);
  const signed = (secret: string, body: string, text = clock.seconds) => ({
    'stripe-signature': sign(body, secret, { t: text }),
  });
  const large = ' '.repeat(2_001);
  const got = [
    await to('{}', {}),
    await to('{}', { 'stripe-signature': 't=1' }),
    await to('{}', signed('mor-secret', '{}')),
    await to(large, signed('stripe-secret-1', large)),
    await to('{}', signed('stripe-secret-1', '{}', clock.seconds - 301)),
  ];
  const said = [
    [400, 'signature_missing'],
    [400, 'signature_malformed'],
    [401, 'signature_mismatch'],
    [413, 'too_large'],
    [503, 'timestamp_out_of_tolerance'],
  ];
  expect(got.map((one) => [one.status, code(one)])).toEqual(said);
  expect(notified).toEqual(said.map(([, reason]) => `stripe ${reason}`));
  expect([inbox.batches, inbox.quarantined.length]).toEqual([[], 1]);
});

it('Crossbill creates no webhook endpoint without a secret', () => {
  const make = (part: object) => () =>
    new Endpoints(
      { secrets: { ...secrets, ...part }, toleranceSec: 300, bodyLimitBytes: 1 },
      new FakeInbox(),
      new StillClock(),
      new ParsedEvents(eventParser),
    );
  expect(make({})).not.toThrow();
  for (const bad of [{ stripe: [] }, { mor_payments: [' '] }, { mor_events: ['a', ''] }]) expect(make(bad)).toThrow();
});

it('a webhook endpoint’s reply never contains a secret or a signature', async () => {
  const { send, clock } = await setUp();
  const header = sign(paid, 'guess', { t: clock.seconds });
  const got = await send('/webhooks/stripe', paid, { 'stripe-signature': header });
  const all = JSON.stringify(got);
  for (const secret of [...secrets.stripe, header, header.slice(-64)]) expect(all).not.toContain(secret);
});
