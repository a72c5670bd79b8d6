// One table locked under many waiting readers: whatever does not need the table goes on.
import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { READ_KEY, type Reply, type Subscriber, useWorld } from '../support/rigs/world.js';
import { chargeByMor, deafMor, openRenewal, refund, stripeSide } from './support/story.js';

const READERS = 24;
/** Fewer than the 15 s after which the server ends a reader's statement: what waits for that does not go on. */
const GOES_ON_MS = 14_000;

// What a mark needs waits for its table. A refund needs a few tables more. Every other table, also a new one, holds up
// neither.
const MARK = ['inbox_event', 'event_body', 'event_body_other', 'lane', 'lane_log', 'invoice', 'payment', 'refund'];
const NEEDED_BY_MARK = new Set([...MARK, 'ledger_entry', 'signup', 'request_budget']);
const NEEDED_BY_REFUND = new Set([
  ...NEEDED_BY_MARK,
  'mor_object',
  'open_call',
  'customer_link',
  'api_request',
  'audit',
]);

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const TABLES = readdirSync(join(import.meta.dirname, '../../migrations')).flatMap((file) => {
  const [up = ''] = read(`migrations/${file}`).split('\n-- down');
  return Array.from(up.matchAll(/^create table (\w+)/gm), ([, name = '']) => name);
});
/** The lists of the API that ask nobody else. */
const { paths } = JSON.parse(read('docs/reference/openapi.json')) as { paths: Record<string, { get?: unknown }> };
const LISTS = Object.keys(paths).filter(
  (path) => paths[path]?.get && !/[{]|^\/(livez|readyz|metrics|v1\/(mor|tax|onb))/.test(path),
);

const world = useWorld({ DATABASE_POOL_SIZE: '10' });
let s: Subscriber;
let reads: readonly string[] = [];
let open = '';
let payment = '';
let stop = new AbortController();
beforeAll(async () => {
  s = await world.paidSubscriber({ amount: 1000 });
  await deafMor(world);
  open = await openRenewal(world, s);
  ({ paymentId: payment } = await charge());
  await isMarked(open);
  const ids = [`signups/${s.signupId}`, `customers/${s.customerId}`, `invoices/${open}`, `payments/${payment}`];
  reads = [...LISTS, ...ids.map((id) => `/v1/${id}`)];
});
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

const charge = () => chargeByMor(world, s, open, 1000);
const isMarked = (id: string) =>
  world.until(
    `${id} is paid`,
    () => stripeSide(world, id),
    (seen) => seen.status === 'paid',
    GOES_ON_MS,
  );
let reading = 0;
async function readTable(path: string): Promise<void> {
  reading++;
  const headers = { authorization: `Bearer ${READ_KEY}` };
  await fetch(`${world.daemons[0]?.url ?? ''}${path}`, { headers, signal: stop.signal }).catch(() => null);
  reading--;
}

/** How many statements of the daemon wait for the locked table. */
async function waiting(): Promise<number> {
  const sql = `select count(*)::int as n from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.application_name like 'crossbill%' and a.datname = current_database()`;
  return (await world.query<{ n: number }>(sql))[0]?.n ?? 0;
}

/** Lets 24 readers wait for the locked table, over every path that reads it. Without such a path nobody waits. */
async function crowd(): Promise<void> {
  const slow: string[] = [];
  for (const path of reads) {
    const before = await waiting();
    let answered = false;
    void readTable(path).finally(() => (answered = true));
    await world.until(`${path} answers or waits`, async () => answered || (await waiting()) > before, true);
    if (!answered) slow.push(path);
    if (slow.length === 2) break; // the third would wait for a connection
  }
  for (let i = 0; slow.length > 0 && i < READERS; i++) void readTable(slow[i % slow.length] ?? '');
  await world.until(
    'readers wait, or nobody reads the table',
    async () => reading === 0 || (await waiting()) >= 3,
    true,
  );
}

it.each(TABLES)(
  'while 24 readers wait for the locked table %s, Crossbill is ready, marks and refunds',
  async (table) => {
    open = await openRenewal(world, s);
    const lock = new pg.Client({ connectionString: world.databaseUrl });
    await lock.connect();
    let refunded: Promise<Reply>;
    const marks = !NEEDED_BY_MARK.has(table);
    try {
      await lock.query(`begin; lock table ${table} in access exclusive mode`);
      await crowd();
      const ready = await fetch(`${world.daemons[0]?.url ?? ''}/readyz`);
      expect(ready.status).toBe(200);
      const invoice = open;
      const charged = charge();
      if (marks) await isMarked(invoice);
      refunded = refund(world, payment, { amount: 1 });
      if (!NEEDED_BY_REFUND.has(table)) expect(await refunded).toMatchObject({ status: 201 });
      payment = (await charged).paymentId;
    } finally {
      await lock.end();
    }
    await isMarked(open);
    expect((await refunded).status).toBeLessThan(300);
  },
);
