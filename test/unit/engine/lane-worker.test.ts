// The loop of the lanes beside a crowd at the endpoints: who waits for an answer goes first.
import { getEventListeners, getMaxListeners } from 'node:events';
import { expect, it } from '@jest/globals';
import { type Claim, type LaneRepository } from '../../../src/engine/lane.repository.js';
import { StoreUnavailable } from '../../../src/shared/domain/errors.js';
import { LaneSignal } from '../../../src/engine/lane-signal.js';
import { type WorkLaneService } from '../../../src/engine/work-lane.service.js';
import { LaneWorker } from '../../../src/engine/lane-worker.js';
import { SystemClock } from '../../../src/engine/system-ports.js';
import { StillClock, turn } from '../../support/fakes/fake-inbox.js';

it('the worker claims invoices slowly while many webhooks arrive, and without delay afterwards', async () => {
  let claims = 0;
  let crowded = true;
  const repository = { claim: () => Promise.resolve((claims++, [])) } as Partial<LaneRepository> as LaneRepository;
  const [clock, signal] = [new StillClock(), new LaneSignal()];
  const options = { owner: 'one', concurrency: 4, leaseMs: 25_000, pollMs: 400 };
  const worker = new LaneWorker(repository, {} as WorkLaneService, signal, clock, options);
  worker.giveWay(() => crowded);
  worker.start();
  const signalOften = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) {
      signal.lanes();
      await turn();
    }
  };
  await signalOften();
  expect(claims).toBe(1);
  await clock.pass(200, 50);
  await signalOften();
  expect(claims).toBe(2);
  crowded = false;
  await clock.pass(200, 50);
  const before = claims;
  await signalOften();
  expect(claims).toBeGreaterThan(before);
  const stopped = worker.stop();
  await clock.pass(400, 50);
  await stopped;
});

it("a thousand invoices wait out a database outage without Node's warning about too many listeners", async () => {
  let stop: AbortSignal | null = null;
  let n = 0;
  const released: string[] = [];
  const repository = {
    claim: (_: string, limit: number) =>
      Promise.resolve(Array.from({ length: limit }, (): Claim => ({ lane: `in_${n++}`, fence: 1n, events: [] }))),
    renew: () => Promise.resolve(new Set<string>()),
    release: (lane: string) => Promise.resolve(void released.push(lane)),
  } as Partial<LaneRepository> as LaneRepository;
  const run: WorkLaneService['run'] = (_, signal) => {
    stop = signal;
    return Promise.reject(new StoreUnavailable('gone'));
  };
  const service = { run } as Partial<WorkLaneService> as WorkLaneService;
  const options = { owner: 'one', concurrency: 1_000, leaseMs: 25_000, pollMs: 400 };
  const worker = new LaneWorker(repository, service, new LaneSignal(), new SystemClock(), options);
  worker.start();
  for (let turns = 0; turns < 50; turns++) await turn();
  const listening = stop === null ? 0 : getEventListeners(stop, 'abort').length;
  expect(listening).toBeGreaterThanOrEqual(1_125);
  expect(listening).toBeLessThanOrEqual(stop === null ? 0 : getMaxListeners(stop)); // Node warns beyond it
  await worker.stop();
  expect(n).toBeGreaterThanOrEqual(1_125);
  expect(new Set(released).size).toBe(n);
});
