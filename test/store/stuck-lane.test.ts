// A lane that keeps failing with no event to blame: it waits longer each time, and in the end a person is told, once.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BillingPlatform } from '../../src/domain/ports/billing-platform.js';
import { RouteChannelEventsFlow } from '../../src/channels/route-channel-events.flow.js';
import { Wake } from '../../src/lane/wake.js';
import { WorkLaneFlow } from '../../src/lane/work-lane.flow.js';
import { LaneWorker } from '../../src/lane/lane-worker.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID } from '../support/builders.js';
import { NoChannelEvents, NoChannels } from '../support/no-channels.js';
import { openKinds } from '../support/lane-harness.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
});
afterEach(() => x.close());

/** A worker of a release that fails at every read of an invoice; gives how long the lane then waits, in seconds, try by try. */
async function workUntilTried(times: number): Promise<readonly number[]> {
  const { harness, db } = x;
  const { clock, context, gateway, platform, relay, store } = harness;
  const readInvoice = async (): Promise<never> => {
    throw new RangeError('a fault of our own');
  };
  const broken = Object.create(platform, { readInvoice: { value: readInvoice } }) as BillingPlatform;
  const router = new RouteChannelEventsFlow(new NoChannelEvents(), context, new Wake());
  const flow = new WorkLaneFlow(store, broken, gateway, relay, context, { expected: null }, new NoChannels(), router);
  const worker = new LaneWorker(store, flow, new Wake(), clock, {
    owner: 'w',
    concurrency: 1,
    leaseMs: 25_000,
    pollMs: 0,
  });
  let given = 0;
  const release = store.release.bind(store);
  store.release = async (...args) => {
    await release(...args);
    given++;
  };
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      clock.advance(0); // the worker's poll, without any time passing
    }
  };
  const waits: number[] = [];
  worker.start();
  while (waits.length < times) {
    await until(() => given > waits.length);
    const seen = await db.pool.query<{ due_at: Date }>('select due_at from lane where key = $1', [INVOICE_ID]);
    waits.push(((seen.rows[0]?.due_at.getTime() ?? 0) - clock.now().getTime()) / 1_000);
    if (waits.length === 10) await until(async () => (await db.pool.query('select 1 from review')).rowCount === 1);
    clock.set(seen.rows[0]?.due_at ?? clock.now());
  }
  await worker.stop();
  return waits;
}

describe('a lane that cannot be worked, without an event', () => {
  it('is tried after 2, 4, 8, … seconds, shown to a person after ten tries, and then once an hour', async () => {
    const { harness } = x;
    harness.platform.put(anInvoice({ status: 'draft' }));
    await harness.take(aPaymentSucceeded()); // the money waits for the draft; a timer will look
    expect((await harness.state(INVOICE_ID)).invoice?.status).toBe('held');
    await harness.store.transact({
      lane: INVOICE_ID,
      fence: null,
      decide: ({ state: s }) => {
        const now = harness.clock.now();
        const invoice = s.invoice === null ? null : { ...s.invoice, holdUntil: now, readAt: null };
        return { state: { ...s, invoice }, verdicts: [], dueAt: now, value: null };
      },
    });

    const waits = await workUntilTried(12);

    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 3_600, 3_600, 3_600]);
    expect(openKinds(await harness.state(INVOICE_ID))).toEqual(['effect_failed']);
    const [item] = (await harness.state(INVOICE_ID)).reviews;
    expect(item?.summary).toContain('RangeError: a fault of our own');

    harness.platform.put(anInvoice()); // the next release reads it again
    await harness.rest();
    expect((await harness.state(INVOICE_ID)).invoice?.status).toBe('paid');
  });
});
