// What people and timers ask of the books reads the rows of its answer and not the books: it costs the same after years.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { fillBooks } from '../../tools/bench/fill-books.js';
import { type Question, questions } from '../../tools/bench/growth-questions.js';
import { Database } from '../../src/store/database.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

/** Of these 500 are rare: the oldest, and the only ones of their type, status, reason or kind. */
const RENEWALS = 4_000;
/** More than any answer here is made of: of a table with more than twice as many rows; of a smaller one half. */
const MOST = 1_900;
/** Tables with fewer rows can tell nothing: a page is as long. */
const LEAST = 50;

type Statement = { readonly text: string; readonly values: unknown[] };
type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
};

let fresh: TestDatabase;
let db: Database;
let asked: readonly Question[];
/** Rows by table. */
let sizes: ReadonlyMap<string, number>;
const sent: Statement[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  await fillBooks(fresh.url, RENEWALS);
  // Small tables are quicker read whole, and rightly so; that is not what is asked here.
  const url = new URL(fresh.url);
  url.searchParams.set('options', '-c enable_seqscan=off');
  db = await Database.open({ url: url.toString(), poolSize: 2, onError: () => undefined });
  // As the daemon keeps it: the sums of days are close behind the entries.
  await db.pool.query('update ledger_fold set up_to = (select max(id) from ledger_entry)');
  db.pool.on('acquire', listen);
  const counted = await db.pool.query<{ name: string; n: number }>(
    `select relname as name, reltuples as n from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  sizes = new Map(counted.rows.map((r) => [r.name, r.n]));
  asked = questions(db, `old${RENEWALS / 2}`, RENEWALS / 2);
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

const heard = new WeakSet<pg.PoolClient>();
/** Writes down what a connection is sent from now on. */
function listen(client: pg.PoolClient): void {
  if (heard.has(client)) return;
  heard.add(client);
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  Object.assign(client, {
    query: (first: unknown, values: unknown, ...rest: unknown[]): unknown => {
      if (typeof first === 'string') sent.push({ text: first, values: Array.isArray(values) ? values : [] });
      else sent.push(first as Statement);
      return query(first, values, ...rest);
    },
  });
}

/** Each part of the statement's plan that read more than an answer is made of, the rows that it threw away included. */
async function tooMuchOf({ text, values }: Statement): Promise<readonly string[]> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const found = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
      text: `explain (analyze, costs off, timing off, format json) ${text}`,
      values,
    });
    await client.query('rollback');
    const plan = found.rows[0]?.['QUERY PLAN'][0].Plan;
    return plan === undefined ? ['no plan'] : tooMuchIn(plan);
  } finally {
    client.release();
  }
}

function tooMuchIn(plan: Plan): readonly string[] {
  const table = plan['Relation Name'] ?? '';
  const size = sizes.get(table) ?? 0;
  const each =
    (plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const read = each * (plan['Actual Loops'] ?? 1);
  const own = size >= LEAST && read > Math.min(MOST, size / 2) ? [`${read} of ${size} rows of ${table}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(tooMuchIn)];
}

describe('above old rows', () => {
  it('each list, look-up and timer reads no more rows than its answer is made of', async () => {
    const tooMuch: string[] = [];
    // Those are as large as a page may be, whatever the table: test/store/list-filters.test.ts counts what they read.
    for (const { what, ask } of asked.filter((q) => q.looksThrough !== true)) {
      sent.length = 0;
      await ask();
      const statements = sent.filter(({ text }) => /^\s*(select|with|update|\()/i.test(text));
      expect([what, statements.length > 0]).toEqual([what, true]);
      for (const s of statements) {
        for (const rows of await tooMuchOf(s)) tooMuch.push(`${what} reads ${rows}: ${s.text}`);
      }
    }
    expect(tooMuch).toEqual([]);
  });

  it('the tables are large enough to tell', () => {
    const large = ['inbox_event', 'invoice', 'payment', 'ledger_entry', 'lane_log'];
    for (const table of large) expect(sizes.get(table)).toBeGreaterThan(2 * MOST);
    for (const table of ['refund', 'review', 'audit']) expect(sizes.get(table)).toBeGreaterThan(LEAST);
  });
});
