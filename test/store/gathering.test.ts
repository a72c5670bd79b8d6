// Steps that gather for one commit, in a real PostgreSQL: which of them share it, and who does not wait.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { note } from '../../src/engine/change.js';
import { type LaneWork } from '../../src/engine/lane-store.js';
import { PgLaneStore } from '../../src/engine/pg-lane-store.js';
import { aPaymentSucceeded } from '../support/builders.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

/** So long that no step of a test leaves by its patience. */
const NEVER_MS = 600_000;

let x: LaneOnPostgres;
let store: PgLaneStore;
beforeEach(async () => {
  x = await laneOnPostgres();
  store = new PgLaneStore(x.db, x.harness.clock, null, NEVER_MS);
});
afterEach(() => x.close());

function step(lane: string, fence: bigint | null): LaneWork<null> {
  const ctx = x.harness.context.now();
  return {
    lane,
    fence,
    decide: ({ state }) => ({ state: note(state, ctx, 'decision', 'told'), verdicts: [], dueAt: null, value: null }),
  };
}

async function claimed(n: number): Promise<(i: number) => LaneWork<null>> {
  await x.inbox.store(
    Array.from({ length: n }, (_, i) => aPaymentSucceeded({ invoiceId: `in_${i}`, paymentId: `pay_${i}` })),
  );
  const claims = await store.claim('w', n, 25_000);
  expect(claims).toHaveLength(n);
  return (i) => {
    const claim = claims.find((c) => c.lane === `in_${i}`);
    return step(`in_${i}`, claim?.fence ?? 0n);
  };
}

/** Which lanes were written by which transaction. */
async function commits(): Promise<readonly (readonly string[])[]> {
  const { rows } = await x.db.pool.query<{ lanes: string[] }>(
    'select array_agg(lane order by lane) as lanes from lane_log group by xmin::text order by min(version), min(lane)',
  );
  return rows.map((r) => r.lanes);
}

describe('steps of the lanes at work', () => {
  it('wait until a third of them is there, and are one commit then', async () => {
    const of = await claimed(9);
    const writing = [store.transact(of(0)), store.transact(of(1))];
    await setImmediate();
    expect(await commits()).toEqual([]);
    writing.push(store.transact(of(2)));
    await Promise.all(writing);
    expect(await commits()).toEqual([['in_0', 'in_1', 'in_2']]);
  });

  it('leave when their patience is over, however few they are', async () => {
    store = new PgLaneStore(x.db, x.harness.clock, null, 1);
    const of = await claimed(9);
    await store.transact(of(0));
    expect(await commits()).toEqual([['in_0']]);
  });

  it('leave with a command of a person, who does not wait', async () => {
    const of = await claimed(9);
    await Promise.all([store.transact(of(0)), store.transact(step('in_elm', null))]);
    expect(await commits()).toEqual([['in_0', 'in_elm']]);
  });

  it('do not wait for anybody when there are no more than three', async () => {
    const of = await claimed(3);
    await store.transact(of(0));
    expect(await commits()).toEqual([['in_0']]);
  });
});
