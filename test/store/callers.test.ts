// The connections of a daemon's callers: readers that wait for a slow table take none of the others'.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { caller, Database } from '../../src/frames/store/database.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';

const READERS = 24;

let fresh: TestDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 10, serves: true, onError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

it('while two dozen readers wait for a locked table, probes, changes and the work get their connections', async () => {
  const lock = new pg.Client({ connectionString: fresh.url });
  await lock.connect();
  await lock.query('begin; lock table payment in access exclusive mode');
  const readers = Array.from({ length: READERS }, () =>
    caller.run('read', () => db.pool.query('select count(*) from payment')),
  );
  for (const who of ['probe', 'change', 'work'] as const) {
    const { rows } = await caller.run(who, () => db.pool.query<{ one: number }>('select 1 as one'));
    expect(rows).toEqual([{ one: 1 }]);
  }
  expect((await db.pool.query('select 1')).rowCount).toBe(1); // whoever names no caller works
  await lock.query('rollback');
  await lock.end();
  expect(await Promise.all(readers)).toHaveLength(READERS);
});
