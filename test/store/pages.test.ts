// What the statements of the hot path read: the pages of their rows and no more, however large the tables are, whatever the server has
// counted of them, and with plans that know no values. Nobody asks here how a plan looks.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { fillBooks } from '../../packages/bench/src/fill-books.js';
import { Database } from '../../src/store/database.js';
import { PgInbox } from '../../src/store/inbox-store.js';
import { PgLaneStore } from '../../src/engine/pg-lane-store.js';
import { aPaymentSucceeded } from '../support/builders.js';
import { CountingIds, ManualClock } from '../support/clock.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import {
  decided,
  listenTo,
  nextTime,
  pagesIn,
  rowsBefore,
  type Plan,
  rested,
  type Statement,
  unclaimed,
} from '../support/lane-steps.js';

const RENEWALS = 10_000;
/** Due, and taken 12 at once. */
const [DUE, TAKEN] = [2_000, 12];
/** A look-up in an index is two to four pages, and a claim makes half a dozen of them for each lane. A whole table here has hundreds. */
const PAGES_A_LANE = 5;
const PAGES_A_STEP = 60; // some thirty index entries, of two pages each
const PAGES_A_CLAIMED_LANE = 25;
const PAGES_AT_ALL = 30;

let fresh: TestDatabase;
let db: Database;
const clock = new ManualClock();
const sent: Statement[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
  const tables = await db.pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename <> 'event_body'`,
  );
  for (const { name } of tables.rows) await db.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  await fillBooks(fresh.url, RENEWALS);
  // As if nothing had ever been counted: after a restore, or on a server whose autovacuum is off.
  await db.pool.query(
    `delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
  );
  await db.pool.query(`update pg_class set relpages = 0, reltuples = -1 where relnamespace = 'public'::regnamespace`);
  const inbox = new PgInbox(db, new CountingIds(), clock);
  for (let n = 0; n < DUE; n += 250) {
    const some = Array.from({ length: 250 }, (_, k) => n + k);
    await inbox.store(some.map((k) => aPaymentSucceeded({ invoiceId: `in_${k}`, paymentId: `pay_${k}` })));
  }
  for (const pool of [db.pool, db.intake]) listenTo(pool, sent);
}, 60_000);
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

/** What a delivery and the steps of some lanes send to the database, as the code sends it; nothing of it is kept due. */
async function wholePath(round: string): Promise<readonly (readonly [what: string, pages: number])[]> {
  const lanes = new PgLaneStore(db, clock);
  await new PgInbox(db, new CountingIds(), clock).store([aPaymentSucceeded({ eventId: `evt_${round}` })]);
  const claims = await lanes.claim('w', TAKEN, 25_000);
  expect(claims).toHaveLength(TAKEN);
  const out: (readonly [string, number])[] = [];
  for (const decide of [decided, rested]) {
    await Promise.all(claims.map(({ lane, fence }) => lanes.transact({ lane, fence, decide })));
    const statements = [...new Map(sent.map((s) => [s.text, s])).values()];
    sent.length = 0;
    if (decide === rested) {
      // Asked once more it finds the lanes gone from the queue and may write no row: it is asked without a claim.
      for (const s of statements) s.values.splice(0, s.values.length, ...unclaimed(s.values));
    }
    out.push(...(await pagesOf(statements)));
  }
  return out;
}

/** The pages that each statement touches, planned without its values. */
async function pagesOf(statements: readonly Statement[]): Promise<readonly (readonly [what: string, pages: number])[]> {
  const client = await db.pool.connect();
  const out: [string, number][] = [];
  try {
    await client.query('begin; set local plan_cache_mode = force_generic_plan');
    for (const { text, values } of statements) {
      const before = rowsBefore(values);
      if (before !== null) await client.query(before);
      const found = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
        text: `explain (analyze, buffers, format json) ${text}`,
        values: values.map(nextTime),
      });
      out.push([text, pagesIn(found.rows[0]?.['QUERY PLAN'][0].Plan)]);
    }
    await client.query('rollback');
  } finally {
    client.release();
  }
  return out;
}

it.each([
  ['without any statistics', null],
  ['with statistics', 'analyze'],
])('claim, intake, load, decision and what waits read a few pages a lane %s', async (name, before) => {
  if (before !== null) await db.pool.query(before);
  sent.length = 0;
  const pages = await wholePath(name);
  // Intake, claim, the time, three reads and a step; then the step at rest.
  expect(pages.length).toBeGreaterThanOrEqual(8);
  const most = (text: string): number =>
    PAGES_AT_ALL +
    TAKEN *
      (text.includes('lane_fence') ? PAGES_A_CLAIMED_LANE : text.startsWith('with w_') ? PAGES_A_STEP : PAGES_A_LANE);
  const tooMany = pages.filter(([text, n]) => !(n <= most(text)));
  expect(tooMany).toEqual([]);
});
