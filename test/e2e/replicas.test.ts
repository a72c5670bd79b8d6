// Several daemons on one database: nothing twice, nothing left over, one budget, and no write after an expired lease.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, startWorld, type Subscriber, type World, useWorld } from '../support/rigs/world.js';
import { deafMor, draftRenewal, newPaid, openRenewal, stripeSides, tellSucceeded, paidOnce } from './support/story.js';
import { allPaidOnce } from './support/load.js';

describe.each([2, 3])('%i daemons on one database', (daemons) => {
  let world: World;
  let subscribers: Subscriber[];

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize', DATABASE_POOL_SIZE: '4' });
    for (let i = 0; i < daemons; i++) await world.startDaemon();
    subscribers = await Promise.all(Array.from({ length: 6 }, () => world.paidSubscriber({ amount: 1000 })));
  });
  afterAll(() => world.close());

  it('several daemons on one database mark each of sixty renewals paid once, although each daemon receives every event', async () => {
    // Each daemon is an endpoint of its own: every event comes as often as there are daemons.
    for (const d of world.daemons.slice(1)) {
      world.sandbox.stripe.state.addEndpoint(`${d.url}/webhooks/stripe`, world.sandbox.secrets.stripeWebhookSecret);
    }
    await world.fault({ target: 'deliveries', side: 'mor', times: 60, action: 'duplicate' });
    const invoices: string[] = [];
    for (let round = 0; round < 10; round++) {
      invoices.push(...(await Promise.all(subscribers.map((s) => draftRenewal(world, s)))));
      await world.morActs();
    }
    expect(invoices).toHaveLength(60);
    await allPaidOnce(world, invoices);
    await world.until(
      'nothing is left over',
      () => world.query<{ n: string }>(`select count(*) as n from inbox_event where status = 'received'`),
      ([r]) => r?.n === '0',
    );
    const open = await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open');
    expect(open.body.data).toEqual([]);
    const twice = await world.query(`select subject from ledger_entry group by reason, subject having count(*) > 1`);
    expect(twice).toEqual([]);
    const ended = await world.query<{ owner: string }>(
      `select distinct lease_owner as owner from lane where lease_until > now() + interval '1 minute'`,
    );
    expect(ended).toEqual([]);
  });
});

describe('an expired lease', () => {
  const world = useWorld();
  let s: Subscriber;
  beforeAll(async () => {
    await world.startDaemon();
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  it("when a daemon's lease on an invoice expires, another daemon takes over and Stripe gets one payment record", async () => {
    const invoiceId = await openRenewal(world, s);
    await world.fault({
      side: 'stripe',
      method: 'POST',
      path: '/v1/payment_records/report_payment',
      action: { delay_ms: 5_000 },
    });
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 1000 });
    await world.until(
      'the report is under way',
      () => world.control('GET', '/faults'),
      (r) => (r.body['data'] as Json[])[0]?.['hits'] === 1,
    );
    const lane = async (): Promise<{ fence: string } | undefined> =>
      (await world.query<{ fence: string }>('select fence from lane where key = $1', [invoiceId]))[0];
    const before = await lane();
    // A worker standing still: its lease runs out while it waits for the answer.
    await world.query(`update lane set lease_until = now() - interval '1 second', due_at = now() where key = $1`, [
      invoiceId,
    ]);
    const taken = await world.until('another has it', lane, (l) => l?.fence !== before?.fence);
    expect(BigInt(taken?.fence ?? 0)).toBeGreaterThan(BigInt(before?.fence ?? 0));
    await paidOnce(world, invoiceId);
    const notified = await world.query<{ n: string }>(
      `select count(*) as n from lane_log, json_array_elements(change -> 'journal') as line
        where lane = $1 and line ->> 'text' = 'report_payment done'`,
      [invoiceId],
    );
    expect(notified).toEqual([{ n: '1' }]);
  });
});

describe('the request budget', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize', STRIPE_MAX_RPS: '20' });
  beforeAll(async () => {
    await world.startDaemon();
  });

  it('two daemons together stay within one budget of Stripe requests', async () => {
    const s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
    const invoices = await Promise.all(Array.from({ length: 30 }, () => openRenewal(world, s)));
    await world.control('DELETE', '/requests');
    await Promise.all(
      invoices.map((invoiceId) =>
        tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 1000 }),
      ),
    );
    await world.until(
      'all are paid',
      () => stripeSides(world),
      (seen) => invoices.every((id) => seen.get(id)?.status === 'paid'),
    );
    // The test's own calls use the same sandbox: only those since the log's reset count, second by second.
    const { body } = await world.control('GET', '/requests?side=stripe');
    const perSecond = new Map<string, number>();
    for (const r of body['data'] as Json[]) {
      const second = String(r['wall_at']).slice(0, 19);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    expect([...perSecond.values()].reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(90);
    // A second of the clock may hold the end of one slot and the start of the next; a slow machine bunches a few.
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(24);
  });
});
