// The listening server: what it answers before its parts are there, whom it hands requests to, and how it stops.
import { afterEach, describe, expect, it } from '@jest/globals';
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { Doors } from '../../src/intake/doors.js';
import { FrontServer } from '../../src/intake/front-server.js';
import { FakeInbox, StillClock, turn } from '../support/intake-fakes.js';
import { sign } from '../support/signing.js';

type Got = { status: number; body: string; connection: string | undefined };
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
        res.on('end', () => resolve({ status: res.statusCode ?? 0, body: text, connection: res.headers.connection }));
      });
      req.on('error', reject);
      req.end(body);
    });
  return { front, ask };
}

describe('the front server', () => {
  it('is alive and says "starting" until its parts are there', async () => {
    const { front, ask } = await setUp();
    expect((await ask('/livez')).status).toBe(200);
    for (const path of ['/readyz', '/v1/invoices', '/webhooks/stripe', '/']) {
      const got = await ask(path);
      expect(got.status).toBe(503);
      expect(got.body).toContain('"code":"starting"');
    }
    front.setFallback((_req: IncomingMessage, res: ServerResponse) => res.end('behind'));
    expect(await ask('/livez')).toMatchObject({ status: 200, body: 'behind' });
  });

  it('gives webhook requests to the doors and all others, unread, to the fallback', async () => {
    const { front, ask } = await setUp();
    const inbox = new FakeInbox();
    const clock = new StillClock();
    const secrets = { stripe: ['a-secret'], mor_payments: ['b-secret'], mor_events: ['c-secret'] };
    const doors = new Doors({ secrets, toleranceSec: 300, bodyLimitBytes: 1_000, mismatchStatus: 401 }, inbox, clock);
    doors.open();
    front.setDoors(doors);
    front.setFallback((req, res) => void req.pipe(res));
    const headers = { 'stripe-signature': sign('{}', 'a-secret', { t: clock.seconds }) };
    expect((await ask('/webhooks/stripe/', { method: 'POST', headers, body: '{}' })).body).toBe('{"received":true}');
    const whole = 'http://crossbill.example/Webhooks/stripe?x=1';
    expect((await ask(whole, { method: 'POST', headers, body: '{}' })).body).toBe('{"received":true}');
    expect((await ask('/v1/echo', { method: 'POST', body: 'as it came' })).body).toBe('as it came');
    expect(inbox.rows.size).toBe(1);
  });

  it('refuses headers beyond its limit', async () => {
    const { ask } = await setUp();
    expect((await ask('/livez', { headers: { 'x-large': 'x'.repeat(20_000) } })).status).toBe(431);
  });

  it('when closing finishes what is under way, ends its connections, and takes nothing new', async () => {
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
    expect(await pending).toEqual({ status: 200, body: 'done', connection: 'close' });
    await closing;
    agent.destroy();
  });

  it('tells what was sent over an old connection in the moment of closing to come again, and closes that connection', async () => {
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

  it('ends what is still under way when its patience is over', async () => {
    const { front, ask } = await setUp();
    const waiting: ServerResponse[] = [];
    front.setFallback((_req, res) => void waiting.push(res));
    const pending = ask('/never').catch(() => 'cut off');
    while (waiting.length === 0) await turn();
    await Promise.all([front.close(20), front.close(20)]);
    expect(await pending).toBe('cut off');
  });
});
