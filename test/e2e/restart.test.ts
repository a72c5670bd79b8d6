// The daemon as a process: killed without warning and stopping under load. Nothing gets lost and nothing happens twice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type Subscriber, type World } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { leasesRunOut, allPaidOnce, renewAtOnce, untilSomeCalls } from './support/load.js';

const KILLS = 3;
const RENEWALS = 30;

describe('a daemon killed or stopped under load', () => {
  let world: World;
  let daemon: DaemonProcess;
  let subscribers: Subscriber[];

  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    // A daemon in this process makes the subscribers; then the events go to the one to be killed.
    const first = await world.startDaemon();
    subscribers = await Promise.all(Array.from({ length: 5 }, () => world.paidSubscriber({ amount: 1000 })));
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    await first.stop();
    daemon = await DaemonProcess.on({ ...world.env, LOG_LEVEL: 'info' });
    world.deliverTo(daemon);
    await daemon.start();
  }, 300_000); // the build is most of it, where there is none yet
  afterAll(async () => {
    await daemon?.end('SIGKILL');
    await world?.close();
  });

  it('a daemon killed three times at random moments attaches exactly one payment record to each invoice', async () => {
    const invoices = await renewAtOnce(world, subscribers, RENEWALS);
    for (let i = 0; i < KILLS; i++) {
      await untilSomeCalls(world, 1 + Math.floor(Math.random() * 12));
      const { pid } = daemon;
      await daemon.end('SIGKILL');
      await leasesRunOut(world.databaseUrl, pid);
      await daemon.start();
    }
    await allPaidOnce(world, invoices);
  });

  it('a daemon stops under load within 20 s with exit code 0, and the next daemon marks every invoice paid once', async () => {
    const invoices = await renewAtOnce(world, subscribers, RENEWALS);
    await untilSomeCalls(world, 5);
    expect(await daemon.end('SIGTERM')).toBe(0); // 1: unfinished after 19 s
    await daemon.start();
    await allPaidOnce(world, invoices);
  });

  it('a daemon stops within 20 s with exit code 0 even while Stripe leaves calls unanswered', async () => {
    await world.fault({
      side: 'stripe',
      method: 'POST',
      path: '/v1/payment_records',
      times: 5,
      action: { delay_ms: 60_000 },
    });
    const invoices = await renewAtOnce(world, subscribers, 5);
    await world.until(
      'calls hang',
      () => world.control('GET', '/faults'),
      (r) => (r.body['data'] as { hits: number }[]).some((f) => f.hits > 0),
    );
    const { pid } = daemon;
    expect(await daemon.end('SIGTERM')).toBe(0);
    await leasesRunOut(world.databaseUrl, pid);
    await world.control('DELETE', '/faults');
    await daemon.start();
    await allPaidOnce(world, invoices);
  });
});
