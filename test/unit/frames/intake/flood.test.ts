// A flood of forged deliveries: refused without the database, bounded in memory and log, and it never slows an authentic one to a 4xx.
import { afterEach, expect, it } from '@jest/globals';
import { createServer, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { LaneSignal } from '../../../../src/engine/lane-signal.js';
import { eventParser } from '../../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../../src/engine/parsed-events.js';
import { Endpoints } from '../../../../src/frames/intake/endpoints.js';
import { type IntakeOptions } from '../../../../src/frames/intake/options.js';
import { ReadingRoom, type Sender } from '../../../../src/frames/intake/read-body.js';
import { createLogger, Metrics } from '../../../../src/shared/observe/index.js';
import { watchEndpoints } from '../../../../src/frames/intake/watch-endpoints.js';
import { FakeInbox, StillClock } from '../../../support/fakes/fake-inbox.js';
import { sign } from '../../../support/builders/signing.js';

const FORGED = 600;
const AUTHENTIC = 120;

let stop: () => Promise<void> = async () => undefined;
afterEach(() => stop());

async function setUp(over: Partial<IntakeOptions> = {}) {
  const inbox = new FakeInbox();
  const clock = new StillClock();
  const metrics = new Metrics({ eventTypes: [], now: () => clock.now() });
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'info', secrets: [], pretty: false, destination });
  const secrets = { stripe: ['stripe-secret'], mor_payments: ['mor-secret'], mor_events: ['service-secret'] };
  const onReply = watchEndpoints(metrics, log, new LaneSignal());
  const endpoints = new Endpoints(
    { secrets, toleranceSec: 300, bodyLimitBytes: 100_000, onReply, ...over },
    inbox,
    clock,
    new ParsedEvents(eventParser),
  );
  endpoints.open();
  const server = createServer((req, res) => void endpoints.handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  const to = { host: '127.0.0.1', port, path: '/webhooks/mor/payments', method: 'POST', agent: false };
  const post = (body: string, secret: string | null) =>
    new Promise<number>((resolve, reject) => {
      const headers = secret === null ? {} : { 'mor-signature': sign(body, secret, { t: clock.seconds }) };
      const req = request({ ...to, headers }, (res) => {
        res.resume().on('end', () => resolve(res.statusCode ?? 0));
      });
      req.on('error', reject);
      req.end(body);
    });
  /** Sends the head and `sent` bytes of a forged body, and the rest never. Resolves with the status. */
  const trickle = (sent: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'mor-signature': sign('x', 'forged', { t: clock.seconds }), 'content-length': sent + 100 };
      const req = request({ ...to, headers }, (res) => {
        resolve(res.statusCode ?? 0);
        res.resume().on('error', () => undefined);
      });
      req.on('error', reject);
      req.write('x'.repeat(sent));
    });
  /** A forged body of so many bytes, each in a chunk of its own. Resolves with the code of the answer. */
  const inPieces = (count: number) =>
    new Promise<string>((resolve, reject) => {
      const headers = { 'mor-signature': sign('x', 'forged', { t: clock.seconds }), 'transfer-encoding': 'chunked' };
      const req = request({ ...to, headers }, (res) => {
        res.on('error', () => undefined);
        res.once('data', (text: Buffer) => resolve((JSON.parse(text.toString()) as { code: string }).code));
      });
      req.on('error', reject);
      for (let n = 0; n < count; n++) req.write('x');
      req.end();
    });
  return { inbox, lines, metrics, post, trickle, inPieces };
}

const event = (count: number): string =>
  JSON.stringify({ id: `evt_${count}`, type: 'payment.unused', created: 1, data: {} });
const large = JSON.stringify({ filler: 'x'.repeat(90_000) });

it('during a flood of forged webhooks, every authentic webhook gets 200 and the log grows by few lines', async () => {
  const { inbox, lines, metrics, post } = await setUp();
  const all: Promise<readonly [authentic: boolean, status: number]>[] = [];
  for (let n = 0; n < FORGED; n++) {
    const forged = n % 3 === 0 ? post(event(n), null) : post(n % 3 === 1 ? event(n) : large, 'guessed-secret');
    all.push(forged.then((status) => [false, status] as const));
    if (n % (FORGED / AUTHENTIC) === 0)
      all.push(post(event(n), 'mor-secret').then((status) => [true, status] as const));
  }
  const replies = await Promise.all(all);
  expect(replies.filter(([authentic, status]) => authentic && status === 200)).toHaveLength(AUTHENTIC);
  expect(inbox.rows.size).toBe(AUTHENTIC);
  expect(new Set(replies.flatMap(([authentic, status]) => (authentic ? [] : [status])))).toEqual(new Set([503]));

  const notified = lines.filter((line) => line.includes('"reason":"signature_mismatch"'));
  expect(lines).toEqual(notified); // what brings no signature is counted, and costs no line
  expect(notified.length).toBeGreaterThan(0);
  expect(notified.length).toBeLessThanOrEqual(40); // twenty a minute, should a minute end in between
  expect(await metrics.text()).toContain(
    `crossbill_webhook_refusals_total{endpoint="mor_payments",reason="signature_mismatch"} ${(FORGED * 2) / 3}`,
  );
});

it('while the database is full, the log grows by only a few lines a minute, for any number of refused webhooks', async () => {
  const { inbox, lines, post } = await setUp();
  inbox.failure = new Error('could not extend file: No space left on device');
  const statuses = await Promise.all(Array.from({ length: 100 }, (_, n) => post(event(n), 'mor-secret')));
  expect(new Set(statuses)).toEqual(new Set([503]));
  const notified = lines.filter((line) => line.includes('"reason":"database"'));
  expect(notified.length).toBeGreaterThan(0);
  expect(notified.length).toBeLessThanOrEqual(40);
});

it('if memory runs out, Crossbill drops the oldest unfinished body and accepts a complete body', async () => {
  const { inbox, post, trickle } = await setUp({ room: new ReadingRoom(1_000) });
  const slow = [trickle(600), trickle(600)]; // no room for both
  expect(await Promise.race(slow)).toBe(503);
  // One of them is left, with all that it sent: it was its arrival that ended the other.
  expect(await post(event(1).padEnd(500), 'mor-secret')).toBe(200);
  expect(await Promise.all(slow)).toEqual([503, 503]);
  expect(inbox.batches.flat().map((delivery) => delivery.eventId)).toEqual(['evt_1']);
});

it('Crossbill counts the chunks of a body against the memory for bodies, not only its bytes', async () => {
  const { post, inPieces } = await setUp({ room: new ReadingRoom(20_000) });
  expect(await inPieces(20)).toBe('signature_mismatch');
  expect(await inPieces(100)).toBe('crowded');
  expect(await post(event(1), 'mor-secret')).toBe(200);
});

/** An unfinished body, and whether the flood limit dropped it. */
function body(room: ReadingRoom, sender: Sender, bytes: number) {
  const it = { taken: false, gone: false };
  const giveWay = (): void => {
    it.gone = true;
    room.give(sender, bytes, giveWay);
  };
  it.taken = room.take(sender, bytes, giveWay);
  if (it.taken) room.stay(sender, giveWay);
  return it;
}

it('Crossbill guarantees half of the body memory to API callers, and the other half to senders without an API token', () => {
  const room = new ReadingRoom(1_000);
  const callers = [body(room, 'caller', 200), body(room, 'caller', 300)];
  const strangers = Array.from({ length: 20 }, () => body(room, 'stranger', 250));
  expect(strangers.map((s) => s.gone)).toEqual([...Array.from({ length: 18 }, () => true), false, false]);
  expect(callers).toEqual([
    { taken: true, gone: false },
    { taken: true, gone: false },
  ]);
  for (let n = 0; n < 20; n++) body(room, 'caller', 250);
  expect(strangers.slice(18).map((s) => s.gone)).toEqual([false, false]);
});

it('senders without an API token may use free memory for bodies, and lose their oldest bodies to an API caller', () => {
  const room = new ReadingRoom(1_000);
  const strangers = Array.from({ length: 4 }, () => body(room, 'stranger', 250));
  expect(strangers.map((s) => s.gone)).toEqual([false, false, false, false]);
  expect(body(room, 'caller', 400)).toEqual({ taken: true, gone: false });
  expect(strangers.map((s) => s.gone)).toEqual([true, true, false, false]);
  expect(body(room, 'caller', 1_001).taken).toBe(false);
});

it('Crossbill keeps at most five hundred unfinished bodies of senders without an API token, of any size', () => {
  const room = new ReadingRoom();
  const bodies = Array.from({ length: 501 }, () => body(room, 'stranger', 1));
  expect(bodies.filter((b) => b.gone)).toEqual([bodies[0]]);
});
