// Queries of people and timers read the rows of their answer and not the books: they cost the same after years.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import type pg from 'pg';
import { consolePages, NOT_ASKED } from '../../packages/bench/src/console-pages.js';
import { fillBooks } from '../../packages/bench/src/fill-books.js';
import { type Question, questions } from '../../packages/bench/src/growth-questions.js';
import { Database } from '../../src/frames/store/database.js';
import { MARKS_LEFT_COUNTED } from '../../src/features/verify/rules/limits.js';
import { MarksRepository } from '../../src/features/verify/marks.repository.js';
import { showMarksLeft } from '../../src/features/verify/rules/run.js';
import { LOOKED_THROUGH } from '../../src/frames/store/walk.js';
import { ApiApp, KEYS } from '../api/support/api-app.js';
import { Visitor } from '../console/visitor.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';

/** Of these 500 are rare: the oldest, and the only ones of their type, status, reason or kind. */
const RENEWALS = 6_000;
/**
 * More rows than any answer here needs: of a table with more than twice as many rows; of a smaller one half, or the
 * number PostgreSQL before 17 would rather scan than look up each of a page's ids.
 */
const [MOST, PAGE] = [1_900, 200];
/** Tables with fewer rows can tell nothing: a page is as long, or half of it as this part of a CSV. */
const [LEAST, LEAST_CSV] = [50, 1_002];

/** Few for good: a row a day and kind of movement, read back to the first day for a balance; and the last refusals. */
const FEW = `'ledger_day', 'endpoint_refusal'`;
/** Statements with a fixed limit of rows, in any table: test/store/list-filters.test.ts counts their reads. */
const BOUNDED = new RegExp(`(limit (${LOOKED_THROUGH}|${LOOKED_THROUGH + 1})|offset ${LOOKED_THROUGH - 1}) ?\\b`);
/** A month's verdict reads every verify run after the month, one a day: a later run may have compared the month too. */
const RUN_A_DAY = /range_agg\(tstzrange\(since, began_at\)\)/;

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
let url: string;
let db: Database;
let asked: readonly Question[];
/** Rows by table. */
let sizes: ReadonlyMap<string, number>;
const sent: Statement[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  await fillBooks(fresh.url, RENEWALS);
  // Reading small tables whole is quicker, and right; it is not the question here.
  const planned = new URL(fresh.url);
  planned.searchParams.set('options', '-c enable_seqscan=off');
  url = planned.toString();
  db = await Database.open({ url, poolSize: 2, onError: () => undefined });
  db.pool.on('acquire', listen);
  const counted = await db.pool.query<{ name: string; n: number }>(
    `select relname as name, reltuples as n from pg_class where relkind = 'r' and relname not in (${FEW}) and relnamespace = 'public'::regnamespace`,
  );
  sizes = new Map(counted.rows.map((r) => [r.name, r.n]));
  asked = questions(db, `old${RENEWALS / 2}`, RENEWALS / 2);
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

const heard = new WeakSet<pg.PoolClient>();
/** Records a connection's statements from now on. */
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

/** Each part of the statement's plan with more rows than an answer needs, discarded rows included. */
async function tooMuchOf({ text, values }: Statement, least: number): Promise<readonly string[]> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const found = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
      text: `explain (analyze, costs off, timing off, format json) ${text}`,
      values,
    });
    await client.query('rollback');
    const plan = found.rows[0]?.['QUERY PLAN'][0].Plan;
    return plan === undefined ? ['no plan'] : tooMuchIn(plan, least);
  } finally {
    client.release();
  }
}

function tooMuchIn(plan: Plan, least: number): readonly string[] {
  const table = plan['Relation Name'] ?? '';
  const size = sizes.get(table) ?? 0;
  const each =
    (plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  const read = each * (plan['Actual Loops'] ?? 1);
  const own =
    size >= least && read > Math.min(MOST, Math.max(size / 2, PAGE)) ? [`${read} of ${size} rows of ${table}`] : [];
  return [...own, ...(plan.Plans ?? []).flatMap((part) => tooMuchIn(part, least))];
}

/** The excess reads of these statements. */
async function tooMuchOfAll(what: string, least = LEAST): Promise<readonly string[]> {
  const statements = sent.filter(({ text }) => /^\s*(select|with|update|\()/i.test(text) && !BOUNDED.test(text));
  const found = [];
  for (const s of statements) {
    for (const rows of await tooMuchOf(s, least))
      if (!(RUN_A_DAY.test(s.text) && rows.endsWith(' of verify_run'))) found.push(`${what} reads ${rows}: ${s.text}`);
  }
  return found;
}

it('each list, lookup and timer reads no more rows than its answer needs, however many old rows there are', async () => {
  const tooMuch: string[] = [];
  // Those have a page's fixed limit, in any table: test/store/list-filters.test.ts counts their reads.
  for (const { what, ask } of asked.filter((q) => q.looksThrough !== true)) {
    sent.length = 0;
    await ask();
    expect([what, sent.length > 0]).toEqual([what, true]);
    tooMuch.push(...(await tooMuchOfAll(what)));
  }
  expect(tooMuch).toEqual([]);
});

it('a verify run counts the payments still to look up at the MoR up to a limit, and reads no more rows', async () => {
  const lookups = new MarksRepository(db);
  sent.length = 0;
  expect(await lookups.left(300)).toBe(300);
  expect(await tooMuchOfAll('the count')).toEqual([]);
  const all = await lookups.left(RENEWALS);
  expect(all).toBeGreaterThan(MOST);
  expect(all).toBeLessThan(RENEWALS);
  expect([showMarksLeft(all), showMarksLeft(MARKS_LEFT_COUNTED)]).toEqual([String(all), '10000 or more']);
});

it('the growth tests fill their tables with enough rows to make a full scan of a table visible', () => {
  const large = ['inbox_event', 'invoice', 'payment', 'ledger_entry', 'lane_log'];
  for (const table of large) expect(sizes.get(table)).toBeGreaterThan(2 * MOST);
  for (const table of ['refund', 'review', 'audit']) expect(sizes.get(table)).toBeGreaterThan(LEAST);
});

describe('the console with many old rows', () => {
  const pages = consolePages(RENEWALS / 2);
  let app: ApiApp;
  beforeAll(async () => {
    app = await ApiApp.start(url);
    // A timer's query would count as a page's; timers have their places in the list above.
    const timers = app.app.get(SchedulerRegistry);
    for (const name of timers.getIntervals()) timers.deleteInterval(name);
    app.db.pool.on('acquire', listen);
  });
  afterAll(() => app.stop());

  it('the benchmark requests every console page, or names the page in its list of skipped pages with a reason', () => {
    const routes = routesOf(app);
    expect(routes.length).toBeGreaterThan(25);
    const listed = new Set([...pages.map((p) => p.route), ...Object.keys(NOT_ASKED)]);
    expect(routes.filter((route) => !listed.has(route))).toEqual([]);
    expect([...listed].filter((route) => !routes.includes(route))).toEqual([]);
  });

  it('each console page answers and reads no more rows than it shows, however many old rows there are', async () => {
    const person = await new Visitor(app.url).login(KEYS.ops);
    const answered: string[] = [];
    const tooMuch: string[] = [];
    for (const { what, path, status = 200 } of pages) {
      sent.length = 0;
      const seen = await person.get(path);
      if (seen.status !== status) answered.push(`${what}: ${path} was answered ${seen.status}`);
      tooMuch.push(...(await tooMuchOfAll(what, path.includes('format=csv') ? LEAST_CSV : LEAST)));
    }
    expect(answered).toEqual([]);
    expect(tooMuch).toEqual([]);
  });
});

type Layer = { readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> } };

/** The daemon's GET routes below /console, from its router. */
function routesOf(app: ApiApp): readonly string[] {
  const { router } = app.app.getHttpAdapter().getInstance() as unknown as { router: { stack: readonly Layer[] } };
  return router.stack.flatMap(({ route }) =>
    route?.methods['get'] === true && /^\/console(\/|$)/.test(route.path) ? [route.path.slice('/console'.length)] : [],
  );
}
