// A rolling upgrade of two replicas under load, and back: the old release works on the newer schema, the new one waits for it.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate, OWN_MIGRATIONS } from '../../src/frames/store/migrations.js';
import { type Json, startWorld, type Subscriber, type World } from '../support/rigs/world.js';
import { freePort } from './support/daemon-process.js';
import { deliver, eventStatus, eventStatuses } from './support/endpoint.js';
import { stripeSides } from './support/story.js';
import { allPaidOnce } from './support/load.js';

/** Any number, as in `frames/store/migrations.ts`. */
const MIGRATION_LOCK = 4_812_007;
/** A next release's possible additions to the tables of every event. One table a file: never two locks at once. */
const TOUCHED = ['inbox_event', 'lane', 'lane_log', 'invoice', 'payment', 'ledger_entry', 'open_call'];

let world: World;
let next: string;
let subscribers: Subscriber[];

beforeAll(async () => {
  next = mkdtempSync(join(tmpdir(), 'crossbill-next-release-'));
  cpSync(OWN_MIGRATIONS, next, { recursive: true });
  TOUCHED.forEach((name, i) => {
    const up = `alter table ${name} add column of_next text not null default 'new';\ncreate index ${name}_of_next on ${name} (of_next);`;
    const down = `drop index ${name}_of_next;\nalter table ${name} drop column of_next;`;
    writeFileSync(join(next, `${9001 + i}-next-${name}.sql`), `-- up\n${up}\n-- down\n${down}\n`);
  });
  world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  await world.startDaemon();
  await world.startDaemon();
  subscribers = await Promise.all(Array.from({ length: 4 }, () => world.paidSubscriber({ amount: 1000 })));
});
afterAll(async () => {
  await world.close();
  rmSync(next, { recursive: true, force: true });
});

/**
 * Renews all subscribers again and again until `done` ends; returns the invoices. A round begins with the one before in
 * work.
 */
async function underLoad(done: Promise<unknown>): Promise<string[]> {
  let over = false;
  const end = done.finally(() => (over = true));
  const made: string[] = [];
  do {
    const round = await Promise.all(subscribers.map((s) => world.renew(s.subscriptionId)));
    made.push(...round);
    await world.until(
      'the round is worked',
      () => stripeSides(world),
      (seen) => over || round.some((id) => seen.get(id)?.status === 'paid'),
    );
  } while (!over);
  await end;
  return made;
}

/** One record, attached once, pays every invoice; no event is left over, and nothing waits for a person. */
async function paidAndDone(invoices: readonly string[]): Promise<void> {
  await allPaidOnce(world, invoices); // repeats the deliveries turned away by a stopping replica
  for (const id of invoices) await world.invoice(id, 'paid');
  const open = await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open');
  expect(open.body.data).toEqual([]);
  await world.shows<{ data: Json[] }>('/v1/events?status=received', (r) => r.data.length === 0);
  const booked = await world.query(
    `select invoice_id, count(*)::int as n from ledger_entry where invoice_id = any($1) group by 1 having count(*) <> 2`,
    [invoices],
  );
  expect(booked).toEqual([]); // collected and marked, each once
}

/** Not at once: on a busy machine the database answers late, and this is 503 too. */
async function isReady(base: string): Promise<void> {
  await world.until('it takes traffic', () => fetch(`${base}/readyz`).then((r) => r.status), 200);
}

describe('a rolling upgrade of two replicas', () => {
  it('a rolling upgrade under load marks every renewal paid once, and the new release waits for its migration', async () => {
    const other = new pg.Client({ connectionString: world.databaseUrl });
    other.on('error', () => undefined); // it ends with the database when the test fails
    await other.connect();
    await other.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]); // somebody else is about to migrate
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const joining = world.startDaemon({ PORT: String(port) }, next);
    const upgraded = (async () => {
      await world.until(
        'the new replica listens',
        () =>
          fetch(`${base}/livez`).then(
            (r) => r.status,
            () => 0,
          ),
        200,
      );
      expect((await fetch(`${base}/readyz`)).status).toBe(503);
      const early = JSON.stringify({ id: 'evt_early', object: 'event', type: 'plan.created', data: { object: {} } });
      expect((await deliver(world, 'stripe', early, { base })).status).toBe(503);
      expect(await eventStatuses(world, 'stripe', 'evt_early')).toEqual([]);

      await other.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await joining; // it migrates, beside two replicas of the old release at work
      await isReady(base);
      expect((await deliver(world, 'stripe', early, { base })).status).toBe(200);
      expect(await eventStatus(world, 'stripe', 'evt_early')).toBe('ignored');
      world.deliverTo({ url: base });
      const [, second] = world.daemons;
      await second?.stop();
    })();
    const invoices = await underLoad(upgraded);
    await other.end();
    await paidAndDone(invoices);
  }, 120_000);

  it('after a rollback, the old release starts on the newer schema and marks every renewal paid once', async () => {
    await migrate(world.databaseUrl, { folder: next });
    const old = await world.startDaemon();
    await isReady(old.url);
    world.deliverTo(old);
    const others = world.daemons.splice(0, world.daemons.indexOf(old)); // the remaining one answers for all
    const invoices = await underLoad(Promise.all(others.map((d) => d.stop())));
    await paidAndDone(invoices);
  }, 120_000);
});
