// The parts of `npm run chaos`: its schedule, its faulty network, its rules and its report. The run itself is the
// command.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Outcome } from '../src/chaos/books.js';
import { readOptions } from '../src/chaos/options.js';
import { followPrimary, settingsOf } from '../src/chaos/patroni.js';
import { isClean, reportLines } from '../src/chaos/report.js';
import { type Delivered, eventFindings, type Stored, twiceFindings } from '../src/chaos/rules.js';
import { drawStrikes, KINDS } from '../src/chaos/schedule.js';
import { TcpProxy } from '../src/chaos/tcp-proxy.js';
import { type MorPayment, type Sides } from '@crossbill/sandbox/demo/sides.js';

const HALF_AN_HOUR = { seed: '1', lastsMs: 30 * 60_000, everyMs: 9_000, pooler: true };

it('a chaos run injects the same faults for the same seed, and other faults for another seed', () => {
  expect(drawStrikes(HALF_AN_HOUR)).toEqual(drawStrikes(HALF_AN_HOUR));
  expect(drawStrikes({ ...HALF_AN_HOUR, seed: '2' })).not.toEqual(drawStrikes(HALF_AN_HOUR));
});

it('a chaos run injects about 200 faults of every kind in half an hour, one at a time in each part of the system', () => {
  const strikes = drawStrikes(HALF_AN_HOUR);
  expect(strikes.length).toBeGreaterThan(180);
  expect(strikes.length).toBeLessThan(225);
  expect(new Set(strikes.map((s) => s.kind))).toEqual(new Set(Object.keys(KINDS)));
  const until = new Map<string, number>();
  for (const { part, atMs, forMs } of strikes) {
    expect(atMs).toBeGreaterThanOrEqual(until.get(part) ?? 0);
    until.set(part, atMs + forMs);
  }
  expect(drawStrikes({ ...HALF_AN_HOUR, pooler: false }).map((s) => s.kind)).not.toContain('pooler killed');
});

it('a chaos run freezes a daemon for more than 25 seconds, so that the daemon loses its leases on the lanes meanwhile', () => {
  const frozen = drawStrikes({ ...HALF_AN_HOUR, lastsMs: 600 * 60_000 }).filter((s) => s.kind === 'daemon frozen');
  expect(frozen.length).toBeGreaterThan(10);
  expect(Math.min(...frozen.map((s) => s.forMs))).toBeGreaterThan(25_000);
});

it('the chaos command offers failovers to three kinds of PostgreSQL standby: synchronous, asynchronous, and run by Patroni', () => {
  for (const how of ['sync', 'async', 'patroni'])
    expect(readOptions(['--failover', how, '--seed', 'k1'])).toMatchObject({ failover: how, seed: 'k1' });
  expect(readOptions([]).failover).toBeUndefined();
});

it('a chaos run has Patroni wait for the standby at each commit and listen on this machine only', () => {
  const ports = { port: 5001, apiPort: 5002, etcdPort: 5003 };
  const node = { name: 'one', folder: '/var/tmp/one', logFile: '/var/tmp/one.log', ...ports, password: 'p' };
  const settings = settingsOf(node, '/usr/lib/postgresql/15/bin');
  expect(settings).toMatchObject({
    etcd3: { hosts: '127.0.0.1:5003' },
    restapi: { listen: '127.0.0.1:5002' },
    bootstrap: { dcs: { synchronous_mode: true } },
    postgresql: { listen: '127.0.0.1:5001' },
  });
  expect(JSON.stringify(settings)).not.toContain('synchronous_commit'); // left on
});

describe('the network of a chaos run', () => {
  const servers: Server[] = [];
  const proxies: TcpProxy[] = [];
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  /** Counts the requests to a server, and returns its name. */
  async function serverCalled(
    name: string,
  ): Promise<{ readonly port: number; arrived: number; close(): Promise<void> }> {
    const seen = { port: 0, arrived: 0, close: () => new Promise<void>((resolve) => server.close(() => resolve())) };
    const server = createServer((_: IncomingMessage, res: ServerResponse) => {
      seen.arrived += 1;
      res.writeHead(200, { connection: 'close' }).end(name);
    });
    servers.push(server);
    seen.port = await listening(server);
    return seen;
  }

  async function listening(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return address.port;
  }

  /** The IDLE API of Patroni beside the server on this port: 200 on `/primary` from the primary, else 503. */
  async function patroniOf(
    port: number,
  ): Promise<{ readonly port: number; readonly apiPort: number; isPrimary: boolean }> {
    const node = { port, apiPort: 0, isPrimary: false };
    const server = createServer((req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(req.url === '/primary' && node.isPrimary ? 200 : 503, { connection: 'close' }).end();
    });
    servers.push(server);
    node.apiPort = await listening(server);
    return node;
  }

  async function before(...ports: readonly number[]): Promise<TcpProxy> {
    const proxy = await TcpProxy.before(ports.map((port) => ({ host: '127.0.0.1', port })));
    proxies.push(proxy);
    return proxy;
  }

  const ask = (proxy: TcpProxy): Promise<string> =>
    fetch(proxy.url).then(
      (reply) => reply.text(),
      () => 'no answer',
    );

  it('the network of a chaos run passes requests on, cuts them, or loses their answers', async () => {
    const server = await serverCalled('one');
    const proxy = await before(server.port);
    expect([await ask(proxy), server.arrived]).toEqual(['one', 1]);
    proxy.set('cut');
    expect([await ask(proxy), server.arrived]).toEqual(['no answer', 1]);
    proxy.set('lose-answers');
    expect([await ask(proxy), server.arrived]).toEqual(['no answer', 2]);
    proxy.set('pass');
    expect([await ask(proxy), server.arrived]).toEqual(['one', 3]);
  });

  it('the network of a chaos run holds back requests during a hang, and passes them on afterwards', async () => {
    const server = await serverCalled('one');
    const proxy = await before(server.port);
    proxy.set('hang');
    const asked = ask(proxy);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.arrived).toBe(0);
    proxy.set('pass');
    expect([await asked, server.arrived]).toEqual(['one', 1]);
  });

  it("the network of a chaos run connects daemons to Patroni's primary, before and after a failover", async () => {
    const [one, two] = [await serverCalled('one'), await serverCalled('two')];
    const [first, second] = [await patroniOf(one.port), await patroniOf(two.port)];
    const proxy = await before();
    let ended = false;
    const following = followPrimary(proxy, [first, second], () => ended);
    const reached = async (reply: string): Promise<void> => {
      while ((await ask(proxy)) !== reply) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    expect(await ask(proxy)).toBe('no answer');
    first.isPrimary = true;
    await reached('one');
    first.isPrimary = false;
    await reached('no answer');
    second.isPrimary = true;
    await reached('two');
    ended = true;
    await following;
  });

  it('the network of a chaos run sends requests to its servers in turn, and skips a dead server', async () => {
    const [one, two, three] = [await serverCalled('one'), await serverCalled('two'), await serverCalled('three')];
    const proxy = await before(one.port, two.port);
    expect([await ask(proxy), await ask(proxy)]).toEqual(['one', 'two']);
    await one.close();
    expect([await ask(proxy), await ask(proxy)]).toEqual(['two', 'two']);
    proxy.lead([{ host: '127.0.0.1', port: three.port }]);
    expect(await ask(proxy)).toBe('three');
  });
});

const event = (eventId: string, acknowledged: boolean, state = 'acknowledged'): Delivered => ({
  ...{ source: 'stripe', type: 'invoice.paid' },
  ...{ eventId, acknowledged, state },
});
const row = (eventId: string, status = 'done'): Stored => ({ source: 'stripe', eventId, status, reason: null });

const PAYMENT: MorPayment = {
  ...{ id: 'pay_1', kind: 'renewal', reference: 'ch_1', invoiceId: 'in_1', amount: 900, currency: 'eur' },
  ...{ status: 'succeeded', method: 'card', chargeId: 'ch_1', amountRefunded: 0 },
};
function sidesWith(payments: readonly MorPayment[]): Sides {
  return {
    daemon: { invoices: [], payments: [], reviews: [], ledger: [] },
    stripe: { invoices: [], records: [] },
    mor: { payments, refunds: [], lost: [] },
    backend: [],
  };
}

it('a chaos run reports an event Crossbill answered with 200 but did not store, and a stored event without a decision', () => {
  expect(eventFindings([event('evt_1', true), event('evt_2', false, 'retry')], [])).toEqual([
    { about: 'evt_1', what: 'invoice.paid was answered 200 and is not stored' },
  ]);
  expect(eventFindings([event('evt_1', true)], [row('evt_1', 'received')])).toEqual([
    { about: 'evt_1', what: 'stored and not decided' },
  ]);
  expect(eventFindings([event('evt_1', true)], [row('evt_1')])).toEqual([]);
});

it('a chaos run reports each event its sender gave up, and each event Crossbill parked', () => {
  const found = eventFindings([event('evt_1', false, 'given_up')], [row('evt_2', 'parked')]);
  expect(found.map((f) => f.about)).toEqual(['evt_1', 'evt_2']);
});

it('a chaos run reports an invoice charged twice and a requested refund missing at the MoR', () => {
  expect(twiceFindings(sidesWith([PAYMENT, { ...PAYMENT, id: 'pay_2' }]), 1)).toEqual([
    { about: 'in_1', what: 'its money was taken 2 times' },
    { about: 'refunds', what: 'the backend asked for 1 through the API, and the MoR has made 0' },
  ]);
  expect(twiceFindings(sidesWith([PAYMENT]), 0)).toEqual([]);
});

const numbers = {
  ...{ title: 'Chaos, seed 7', lastedMs: 90_000, daemonDeaths: 2, serverStarts: 1, more: [], logs: null },
  strikes: new Map([['daemon killed', 2]] as const),
  done: new Map([['renewals', 31]]),
};
const clean: Outcome = {
  ...{ sides: sidesWith([PAYMENT]), delivered: [event('evt_1', true)], stored: [row('evt_1')], findings: [] },
  verify: { verdict: 'clean', said: '' },
};

it("the report of a clean chaos run lists the injected faults, the merchant's acts and the result of each rule", () => {
  const said = reportLines(clean, numbers).join('\n');
  expect(isClean(clean)).toBe(true);
  expect(said).toContain('Chaos, seed 7: 1.5 minutes, 2 strikes.\n      2  a daemon killed (kill -9)');
  expect(said).toContain('A daemon ended 2 times and was started again; PostgreSQL was started 1 time.');
  expect(said).toContain('1 event was answered 200; 1 are stored, 0 of them not decided.');
  expect(said).toContain('The ledger, Stripe and the MoR agree: nothing lost, nothing done twice.');
  expect(said).toMatch(/crossbill verify: clean\.\nEvery rule holds\.$/);
});

it('the report of a failed chaos run lists each difference and the findings of `crossbill verify`, and names the folder of logs', () => {
  const broken: Outcome = {
    ...clean,
    findings: [{ about: 'in_1', what: 'its money was taken 2 times' }],
    verify: { verdict: 'differences', said: 'double_mark in_1' },
  };
  const said = reportLines(broken, { ...numbers, logs: '/var/tmp/logs' }).join('\n');
  expect(isClean(broken)).toBe(false);
  expect(said).toContain(
    '1 difference:\n  in_1: its money was taken 2 times\ncrossbill verify: differences.\ndouble_mark',
  );
  expect(said).toMatch(/A rule is broken\.\nThe logs are kept in \/var\/tmp\/logs$/);
});
