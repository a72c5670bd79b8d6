// The daemon as a process: killed without warning and asked to stop under load. Nothing is lost and nothing is done twice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type Subscriber, type World } from '../support/world.js';
import { DaemonProcess, ensureBuilt, freePort } from './support/daemon-process.js';
import { stripeSides } from './support/story.js';

const KILLS = 3;
const RENEWALS = 30;
/** A lease of one that was killed lasts at most 30 s; then anyone goes on. */
const TAKEN_OVER_MS = 50_000;

describe('a daemon that is killed or stopped under load', () => {
  let world: World;
  let daemon: DaemonProcess;
  let subscribers: Subscriber[];

  beforeAll(async () => {
    ensureBuilt();
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    // The subscribers are made with a daemon in this process; then the events go to the one that is killed.
    const first = await world.startDaemon();
    subscribers = await Promise.all(Array.from({ length: 5 }, () => world.subscriber({ amount: 1000 })));
    for (const s of subscribers) await world.invoice(s.firstInvoiceId, 'paid');
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    await first.stop();
    const port = await freePort();
    daemon = new DaemonProcess(`http://127.0.0.1:${port}`, { ...world.env, PORT: String(port), LOG_LEVEL: 'info' });
    const { secrets } = world.sandbox;
    world.sandbox.stripe.state.addEndpoint(`${daemon.url}/webhooks/stripe`, secrets.stripeWebhookSecret);
    world.sandbox.cards.events.sendTo(`${daemon.url}/webhooks/mor/payments`, secrets.paymentWebhookSecret);
    await daemon.start();
  }, 300_000); // the build is most of it, where there is none yet
  afterAll(async () => {
    await daemon?.end('SIGKILL');
    await world?.close();
  });

  async function renewals(count: number): Promise<string[]> {
    const made: string[] = [];
    while (made.length < count) {
      made.push(...(await Promise.all(subscribers.map((s) => world.renew(s.subscriptionId)))));
    }
    return made;
  }

  /** Lets what failed to arrive come again, and waits until every one of them is paid. */
  async function allPaidOnce(invoices: readonly string[]): Promise<void> {
    const sides = await world.until(
      'every renewal is paid',
      async () => {
        await world.advance(120); // the senders' next tries
        return stripeSides(world);
      },
      (seen) => invoices.every((id) => seen.get(id)?.status === 'paid'),
      TAKEN_OVER_MS,
    );
    for (const id of invoices) {
      const side = sides.get(id);
      expect([id, side?.records.length, side?.attached.length, side?.amountPaid]).toEqual([id, 1, 1, 1000]);
    }
  }

  /** Somewhere in the work: after so many calls at Stripe. */
  async function untilSomeCalls(more: number): Promise<void> {
    const count = async (): Promise<number> => Number((await world.control('GET', '/stripe/stats')).body['requests']);
    const start = await count();
    await world.until('some calls were made', count, (n) => n >= start + more);
  }

  it('killed three times at random moments: every payment has one record, attached once', async () => {
    const invoices = await renewals(RENEWALS);
    for (let i = 0; i < KILLS; i++) {
      await untilSomeCalls(1 + Math.floor(Math.random() * 12));
      await daemon.end('SIGKILL');
      await daemon.start();
    }
    await allPaidOnce(invoices);
  });

  it('asked to stop under load it ends within 20 s with exit code 0, and the next one carries on', async () => {
    const invoices = await renewals(RENEWALS);
    await untilSomeCalls(5);
    const { code, ms } = await daemon.end('SIGTERM');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(20_000);
    await daemon.start();
    await allPaidOnce(invoices);
  });

  it('asked to stop while calls get no answer it still ends within 20 s', async () => {
    await world.control('POST', '/faults', {
      side: 'stripe',
      method: 'POST',
      path: '/v1/payment_records',
      times: 5,
      action: { delay_ms: 60_000 },
    });
    const invoices = await renewals(5);
    await world.until(
      'calls hang',
      () => world.control('GET', '/faults'),
      (r) => (r.body['data'] as { hits: number }[]).some((f) => f.hits > 0),
    );
    const { code, ms } = await daemon.end('SIGTERM');
    expect(code).toBe(0);
    expect(ms).toBeLessThan(20_000);
    await world.control('DELETE', '/faults');
    await daemon.start();
    await allPaidOnce(invoices);
  });
});
