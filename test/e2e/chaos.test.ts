// Real processes and a real PostgreSQL die under load, and peers are at their worst. The test counts effects at Stripe
// and the MoR.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { type Json, startWorld, type Subscriber, type World, queryAt } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { leasesRunOut, allPaidOnce, renewAtOnce, untilSomeCalls } from './support/load.js';
import { stripeSides } from './support/story.js';

const RENEWALS = 10;
const TEST_MS = 150_000;
const log = { info: () => undefined, warn: () => undefined };

describe('two daemons on a database of their own', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  let world: World;
  const daemons: DaemonProcess[] = [];
  let subscribers: Subscriber[];

  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'crossbill-chaos-'));
    server = await startEmbeddedPostgres({ dataDir: folder, log, settings: { fsync: 'off' } }); // processes die here, not the machine

    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize', DATABASE_URL: server.url });
    const first = await world.startDaemon();
    subscribers = await Promise.all(Array.from({ length: 5 }, () => world.paidSubscriber({ amount: 1000 })));
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    await first.stop();
    for (let i = 0; i < 2; i++) {
      const daemon = await DaemonProcess.on({ ...world.env, LOG_LEVEL: 'info' });
      daemons.push(daemon);
      world.deliverTo(daemon); // each receives everything
      await daemon.start();
    }
  }, 240_000); // it may have to build first
  afterAll(async () => {
    await Promise.all(daemons.map((d) => d.end('SIGKILL')));
    await world.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    'when one of two daemons is killed under load, the other daemon attaches one payment record to every invoice',
    async () => {
      const invoices = await renewAtOnce(world, subscribers, RENEWALS);
      await untilSomeCalls(world, 8);
      const [first] = daemons;
      if (first === undefined) throw new Error('no daemon runs');
      const { pid } = first;
      await first.end('SIGKILL');
      await leasesRunOut(server.url, pid);
      await allPaidOnce(world, invoices);
      await first.start();
    },
    TEST_MS,
  );

  it(
    'when PostgreSQL stops twice under load, Crossbill keeps every acknowledged event and marks each invoice paid once',
    async () => {
      const invoices = await renewAtOnce(world, subscribers, RENEWALS);
      for (let i = 0; i < 2; i++) {
        await untilSomeCalls(world, 4);
        const { pid } = server;
        process.kill(pid, 'SIGQUIT'); // an immediate shutdown: no checkpoint, every connection cut; its owner starts it again
        await world.until(
          'it runs again',
          async () => server.pid,
          (now) => now !== pid,
        );
      }
      // Leases nobody could release meanwhile.
      for (const daemon of daemons) await leasesRunOut(server.url, daemon.pid);
      await allPaidOnce(world, invoices);
      const { body } = await world.control('GET', '/deliveries');
      const acknowledged = new Set(
        (body['data'] as Json[]).filter((d) => d['status'] === 200).map((d) => String(d['event_id'])),
      );
      expect(acknowledged.size).toBeGreaterThan(RENEWALS);
      const kept = await queryAt<{ event_id: string }>(server.url, 'select event_id from inbox_event');
      const stored = new Set(kept.map((r) => r.event_id));
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'while Stripe answers late, garbled, twice or never, Crossbill marks each invoice paid once',
    async () => {
      const at = { side: 'stripe', method: 'POST', path: '/v1/payment_records/report_payment' };
      for (const fault of [
        { action: { delay_ms: 60_000 } }, // never: the daemon gives up after 15 s
        { action: { delay_ms: 1_500 }, times: 3 },
        { action: 'garble', times: 3 },
        { action: 'duplicate', times: 3 },
      ]) {
        await world.fault({ ...at, ...fault });
      }
      await world.fault({ target: 'deliveries', side: 'mor', times: 100, action: 'duplicate' });
      const invoices = await renewAtOnce(world, subscribers, RENEWALS);
      const [hanging] = await world.until(
        'all but the one that hangs are paid',
        () => stripeSides(world).then((seen) => invoices.filter((id) => seen.get(id)?.status !== 'paid')),
        (open) => open.length <= 1,
      );
      await allPaidOnce(world, invoices);
      const { body } = await world.control('GET', '/faults');
      expect((body['data'] as Json[]).filter((f) => f['hits'] === 0)).toEqual([]);
      await world.control('DELETE', '/faults');
      expect(hanging === undefined || invoices.includes(hanging)).toBe(true);
    },
    TEST_MS,
  );
});
