// The loop of the lanes beside a crowd at the doors: who waits for an answer goes first.
import { expect, it } from '@jest/globals';
import { type LaneStore } from '../../src/domain/ports/lane-store.js';
import { Wake } from '../../src/lane/wake.js';
import { type WorkLaneFlow } from '../../src/lane/work-lane.flow.js';
import { LaneWorker } from '../../src/lane/lane-worker.js';
import { StillClock, turn } from '../support/intake-fakes.js';

it('claims at a walk while deliveries crowd the doors, however often it is woken, and at once when they are through', async () => {
  let claims = 0;
  let crowded = true;
  const store = { claim: () => Promise.resolve((claims++, [])) } as Partial<LaneStore> as LaneStore;
  const [clock, wake] = [new StillClock(), new Wake()];
  const options = { owner: 'one', concurrency: 4, leaseMs: 25_000, pollMs: 400 };
  const worker = new LaneWorker(store, {} as WorkLaneFlow, wake, clock, options);
  worker.giveWay(() => crowded);
  worker.start();
  const wakeOften = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) {
      wake.lanes();
      await turn();
    }
  };
  await wakeOften();
  expect(claims).toBe(1);
  await clock.pass(200, 50);
  await wakeOften();
  expect(claims).toBe(2);
  crowded = false;
  await clock.pass(200, 50);
  const before = claims;
  await wakeOften();
  expect(claims).toBeGreaterThan(before);
  const stopped = worker.stop();
  await clock.pass(400, 50);
  await stopped;
});
