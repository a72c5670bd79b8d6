// A connection with plans for tiny tables still reads a few pages once they are large, without anybody counting their
// rows.
import { parsedEvents } from '../support/fakes/parsed-events.js';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/frames/store/database.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { aPaymentSucceeded } from '../support/builders/events.js';
import { ManualClock } from '../support/fakes/clock.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';
import {
  decided,
  listenTo,
  nextTime,
  pagesIn,
  type Plan,
  rested,
  rowsBefore,
  type Statement,
  unclaimed,
} from '../support/rigs/lane-steps.js';

/** The server keeps a plan without values from the sixth time on. */
const TIMES = 8;
const EVENTS = 8_000;
/**
 * One lane's statement needs at most some thirty index entries of two to four pages each; the smallest table here has
 * 130.
 */
const PAGES = 100;

let fresh: TestDatabase;
let db: Database;
const sent: Statement[] = [];
beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
  const tables = await db.pool.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`, // no partitioned one,
  );
  for (const { name } of tables.rows) await db.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  for (const pool of [db.pool, db.intake]) {
    listenTo(pool, sent);
    pool.options.idleTimeoutMillis = 0; // the connections with plans stay, however long the tables take to grow
  }
}, 60_000);
afterAll(async () => {
  jest.restoreAllMocks();
  await db.close();
  await fresh.drop();
});

const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);

/** One delivery from the endpoint to the lane's rest. */
async function work(inbox: PgInbox, lanes: PgLaneRepository, count: number): Promise<void> {
  await inbox.store([
    aPaymentSucceeded({ eventId: `evt_${count}`, invoiceId: `in_${count}`, paymentId: `pay_${count}` }),
  ]);
  const claims = await lanes.claim('w', 1, 25_000);
  expect(claims).toHaveLength(1);
  for (const { lane, fence } of claims) {
    for (const decide of [decided, rested]) await lanes.transact({ lane, fence, decide });
  }
}

/** Many rows in every table of those statements, without a plan of ours. */
async function grow(inbox: PgInbox): Promise<void> {
  for (let n = 0; n < EVENTS; n += 500) {
    await inbox.store(numbers(n, 500).map((k) => aPaymentSucceeded({ eventId: `evt_x${k}`, invoiceId: `in_x${k}` })));
  }
  for (const [table, changed] of [
    ['lane_log', { lane: "'in_y' || n" }],
    ['invoice', { invoice_id: "'in_y' || n" }],
    ['payment', { id: "'pmt_y' || n", invoice_id: "'in_y' || n", payment_id: 'null' }],
    ['review', { id: "'rev_y' || n", invoice_id: "'in_y' || n", subject: "'in_y' || n" }],
  ] as const) {
    const set = Object.entries(changed).map(([column, sql]) => `'${column}', ${sql}`);
    await db.pool.query(
      `insert into ${table} overriding user value select r.*
         from (select * from ${table} limit 1) t, generate_series(1, ${EVENTS}) as n,
              jsonb_populate_record(null::${table}, to_jsonb(t) || jsonb_build_object(${set.join(', ')})) r`,
    );
  }
}

/** The pages read by the connection's plan for a statement. */
async function pagesOf(client: pg.PoolClient, { name, values }: Statement): Promise<number> {
  await client.query('begin');
  const before = rowsBefore(values);
  if (before !== null) await client.query(before);
  const found = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) execute ${pg.escapeIdentifier(name)}(${unclaimed(values).map(nextTime).map(literal).join(', ')})`,
  );
  await client.query('rollback');
  return pagesIn(found.rows[0]?.['QUERY PLAN'][0].Plan);
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value))
    return pg.escapeLiteral(`{${value.map((v) => (v === null ? 'null' : JSON.stringify(v))).join(',')}}`);
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (Buffer.isBuffer(value)) return oneOf(value);
  return typeof value === 'string' ? pg.escapeLiteral(value) : JSON.stringify(value);
}

/** An array of one, in the server's binary format. */
function oneOf(array: Buffer): string {
  const [type, length] = [array.readInt32BE(8), array.readInt32BE(20)];
  if (length < 0) return `array[null::text]`;
  const value = array.subarray(24, 24 + length);
  return type === BYTEA ? `array['\\x${value.toString('hex')}'::bytea]` : `array['${value.toString()}']`;
}
const BYTEA = 17; // pg_type.dat

it('a connection with query plans made for tiny tables still reads few database pages after the tables grow', async () => {
  const [inbox, lanes] = [
    new PgInbox(db, new ManualClock()),
    new PgLaneRepository(db, new ManualClock(), { parsed: parsedEvents() }),
  ];
  await work(inbox, lanes, 0);
  await db.pool.query('analyze'); // as autovacuum does in the first hour; until then the server takes no table for tiny
  for (const n of numbers(1, TIMES)) await work(inbox, lanes, n);
  const statements = [...new Map(sent.map((s) => [s.name, s])).values()];
  expect(statements.map((s) => s.name)).toEqual(expect.arrayContaining(['store_events', 'claim', 'load']));
  expect(statements.filter((s) => s.name.startsWith('step_'))).toHaveLength(2);
  await grow(inbox);
  const later = performance.now() + 5_000;
  jest.spyOn(performance, 'now').mockReturnValue(later);

  const pages: [string, number][] = [];
  for (const [pool, mine] of [
    [db.pool, (s: Statement) => s.name !== 'store_events'],
    [db.intake, (s: Statement) => s.name === 'store_events'],
  ] as const) {
    const client = await pool.connect();
    try {
      for (const s of statements.filter(mine)) pages.push([s.name, await pagesOf(client, s)]);
    } finally {
      client.release();
    }
  }
  expect(pages.filter(([, n]) => !(n <= PAGES))).toEqual([]);
});
