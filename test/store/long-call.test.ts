// A call that lasts longer than a lease, such as a search through thousands of payment records: the lane stays with whoever makes it.
import { getMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Probe } from '../../src/domain/ports/billing-platform.js';
import { type CallOutcome } from '../../src/domain/ports/call.js';
import { type Claim } from '../../src/engine/lane-store.js';
import { StoreUnavailable } from '../../src/domain/errors.js';
import { Wake } from '../../src/engine/wake.js';
import { WorkLaneFlow } from '../../src/engine/work-lane.flow.js';
import { PgLaneStore } from '../../src/engine/pg-lane-store.js';
import { LaneWorker } from '../../src/engine/lane-worker.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID } from '../support/builders.js';
import { failed } from '../support/fakes.js';
import { NoChannels } from '../support/no-channels.js';
import { openKinds } from '../support/lane-harness.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

const LEASE_MS = 25_000;

let x: LaneOnPostgres;
let ended = false;
beforeEach(async () => {
  ended = false;
  x = await laneOnPostgres();
});
afterEach(() => {
  ended = true;
  return x.close();
});

function workerOf(flow: Pick<WorkLaneFlow, 'run'>, concurrency: number): LaneWorker {
  const { store, clock } = x.harness;
  const options = { owner: 'one', concurrency, leaseMs: LEASE_MS, pollMs: 60_000 };
  return new LaneWorker(store, flow as WorkLaneFlow, new Wake(), clock, options);
}

/** Waits for a fact; a test whose fact never comes fails by its own limit of time, and the worker's loop ends with it. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds()) && !ended) await new Promise((resolve) => setTimeout(resolve, 2));
}

it('is made once, however long it takes, and what it found is written down', async () => {
  const { harness, db } = x;
  const { clock, context, gateway, platform, relay, store } = harness;
  platform.put(anInvoice());
  platform.payAnotherWay(INVOICE_ID);
  let probes = 0;
  let answer: (outcome: CallOutcome<Probe>) => void = () => undefined;
  platform.probe = () => {
    probes++;
    return new Promise((resolve) => (answer = resolve));
  };
  const flow = new WorkLaneFlow(store, platform, gateway, relay, context, { expected: null }, new NoChannels());
  await harness.deliver(aPaymentSucceeded());
  const worker = workerOf(flow, 4);
  worker.start();
  await until(() => probes > 0);

  const leaseUntil = async (): Promise<number> => {
    const found = await db.pool.query<{ lease_until: Date | null }>('select lease_until from lane');
    return found.rows[0]?.lease_until?.getTime() ?? 0;
  };
  const elsewhere = new PgLaneStore(db, clock);
  for (let passed = 0; passed < 60_000; passed += 7_500) {
    const before = await leaseUntil();
    clock.advance(7_500);
    await until(async () => (await leaseUntil()) !== before);
    expect(await elsewhere.claim('two', 5, LEASE_MS)).toEqual([]);
  }
  answer(failed('unknown', { code: 'list_too_long', message: 'too many' }));
  await until(async () => (await leaseUntil()) === 0);
  clock.advance(60_000); // a renewal that was still to come takes nothing back
  await worker.stop();

  expect(probes).toBe(1);
  expect(await leaseUntil()).toBe(0);
  expect(openKinds(await harness.state(INVOICE_ID))).toEqual(['double_payment']);
}, 60_000);

it('an outage may be waited out by any number of lanes at once, without a warning', async () => {
  const signals: AbortSignal[] = [];
  const run = async (_claim: Claim, signal: AbortSignal): Promise<never> => {
    signals.push(signal);
    throw new StoreUnavailable('the database is away');
  };
  await x.harness.deliver(aPaymentSucceeded());
  const worker = workerOf({ run }, 40);
  worker.start();
  await until(() => signals.length > 0);
  await worker.stop();
  const [stopping] = signals;
  expect(stopping === undefined ? null : getMaxListeners(stopping)).toBeGreaterThan(40);
});
