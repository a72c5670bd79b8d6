// The database goes away in the middle of a transaction: its caller must see passing trouble and no fault of Crossbill.
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { toProblem } from '../../src/frames/api/http/problem.filter.js';
import { type Database } from '../../src/frames/store/database.js';
import { isUnavailable } from '../../src/frames/store/database-errors.js';
import { databaseForAll } from '../support/rigs/use-database.js';

let url: string;
let db: Database;
databaseForAll((opened, at) => ([db, url] = [opened, at]), 2);

it('the API answers 503 if the database ends the session in the middle of a transaction', async () => {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const error: unknown = await db.orm
    .transaction(async (em) => {
      const [own] = await em.query<{ pid: number }[]>('select pg_backend_pid() as pid');
      await admin.query('select pg_terminate_backend($1)', [own?.pid]);
      while (em.queryRunner?.isReleased !== true) await new Promise((resolve) => setImmediate(resolve));
      await em.query('select 1');
    })
    .catch((e: unknown) => e);
  await admin.end();
  expect(isUnavailable(error)).toBe(true);
  expect(toProblem(error)).toMatchObject({ code: 'unavailable', retryAfterSec: 1 });
  expect(toProblem(error).getStatus()).toBe(503);
});

it('the API answers 500 if the database refuses a faulty statement', async () => {
  const error: unknown = await db.orm.query('select nothing_like_it').catch((e: unknown) => e);
  expect(isUnavailable(error)).toBe(false);
  expect(toProblem(error)).toMatchObject({ code: 'internal_error' });
});

it('Crossbill treats an unreachable server, an exhausted pool and an ended pool as an unavailable database', async () => {
  const errorOf = (work: Promise<unknown>): Promise<unknown> => work.catch((e: unknown) => e);
  const one = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 1 });
  one.on('error', () => undefined);
  const client = await errorOf(one.connect());
  const full = client instanceof Error ? client : await errorOf(one.connect());
  if (!(client instanceof Error)) (client as pg.PoolClient).release();
  await one.end();
  const closed = new pg.Client({ connectionString: url });
  await closed.connect();
  await closed.end();
  const found = [full, await errorOf(one.query('select 1')), await errorOf(closed.query('select 1'))];
  expect(found.map(isUnavailable)).toEqual([true, true, true]);
});

it('Crossbill treats an error without a code as its own fault, even if the message mentions a connection', () => {
  expect(isUnavailable(new Error('the connection of the two rows is missing'))).toBe(false);
});
