// Bodies by the month, in a real PostgreSQL: made ahead, found wherever they lie, purged as a whole.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { CountingIds } from '../support/clock.js';
import { ServerTime } from '../../src/store/database-time.js';
import { Database } from '../../src/store/database.js';
import { Erasure } from '../../src/engine/erasure.js';
import { BodyMonths } from '../../src/store/event-bodies.js';
import { eventById } from '../../src/events/events.store.js';
import { PgInbox } from '../../src/store/inbox-store.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { delivery } from '../support/builders.js';

let fresh: TestDatabase;
let db: Database;
beforeEach(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
});
afterEach(async () => {
  await db.close();
  await fresh.drop();
});

/** Stores an event that came then, in a status, and gives its id. */
async function came(at: string, status = 'done'): Promise<string> {
  const id = `evt_${at}_${status}`;
  const inbox = new PgInbox(db, new CountingIds(), { given: () => new Date(at) });
  expect(await inbox.store([delivery('mor_payments', id, 'payment.x', `in_${id}`, { id })])).toEqual(['stored']);
  if (status !== 'received') {
    await db.pool.query('update inbox_event set status = $2, decided_at = received_at where event_id = $1', [
      id,
      status,
    ]);
    await db.pool.query('delete from lane where key = $1', [`in_${id}`]);
  }
  const found = await db.pool.query<{ id: string }>('select id from inbox_event where event_id = $1', [id]);
  return `ie_${found.rows[0]?.id ?? ''}`;
}
const months = async (): Promise<string[]> => {
  const found = await db.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event_body'::regclass order by 1`,
  );
  return found.rows.map((r) => r.name);
};
const make = (at: string, ahead = 0): Promise<void> =>
  new BodyMonths(db, { given: () => new Date(at) }).makeAhead(ahead);
const bodies = async (ids: readonly string[]): Promise<boolean[]> =>
  Promise.all(ids.map(async (id) => (await eventById(db.pool, id))?.body !== null));

describe('the bodies of events', () => {
  it('have room for this month and two more from the first migration on', async () => {
    const now = new Date();
    const expected = [0, 1, 2].map((n) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1)));
    expect(await months()).toEqual([
      ...expected.map((d) => `event_body_${d.toISOString().slice(0, 7).replace('-', '_')}`),
      'event_body_other',
    ]);
    await new BodyMonths(db, new ServerTime()).makeAhead(2);
    expect(await months()).toHaveLength(4);
  });

  it('are taken in although nobody made their month, are found there, and keep that month from being made', async () => {
    const id = await came('2020-02-03T00:00:00Z');
    expect(await bodies([id])).toEqual([true]);
    await make('2020-01-31T23:59:59Z', 2);
    expect((await months()).slice(0, 2)).toEqual(['event_body_2020_01', 'event_body_2020_03']);
    expect(await bodies([id])).toEqual([true]);
  });

  it('are purged with their month, but for what waits to be decided or for a person', async () => {
    await make('2021-05-01T00:00:00Z', 1);
    const old = [
      await came('2021-05-01T00:00:00Z'),
      await came('2021-05-31T23:59:59Z', 'ignored'),
      await came('2021-05-20T00:00:00Z', 'parked'),
      await came('2021-05-21T00:00:00Z', 'received'),
      await came('2021-06-01T00:00:00Z'),
    ];
    const purge = (before: string) => new Erasure(db).purge(new Date(before));
    expect(await purge('2021-05-31T23:59:59Z')).toMatchObject({ events: 0 });
    expect(await bodies(old)).toEqual([true, true, true, true, true]);
    expect(await purge('2021-06-01T00:00:00Z')).toMatchObject({ events: 2 });
    expect(await bodies(old)).toEqual([false, false, true, true, true]);
    expect(await months()).not.toContain('event_body_2021_05');
    await db.pool.query(`update inbox_event set status = 'done' where status in ('parked', 'received')`);
    expect(await purge('2021-07-01T00:00:00Z')).toMatchObject({ events: 3 });
    expect(await bodies(old)).toEqual([false, false, false, false, false]);
  });

  it('are made and purged by a user who may only read and write the tables, and by several at once', async () => {
    const role = `clerk_${Math.random().toString(36).slice(2)}`;
    await db.pool.query(`create role ${role} login password 'clerk'`);
    await db.pool.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await db.pool.query(`grant usage on all sequences in schema public to ${role}`);
    const url = new URL(fresh.url);
    url.username = role;
    url.password = 'clerk';
    const clerk = new pg.Pool({ connectionString: url.toString(), max: 3 });
    try {
      await Promise.all([0, 1, 2].map(() => clerk.query(`select make_body_months('2022-03-01T00:00:00Z', 0)`)));
      expect(await months()).toContain('event_body_2022_03');
      const id = await came('2022-03-02T00:00:00Z');
      await expect(clerk.query('drop table event_body_2022_03')).rejects.toThrow('owner');
      const dropped = await clerk.query<{ n: string }>(`select drop_body_month('2022-04-01T00:00:00Z') as n`);
      expect(dropped.rows).toEqual([{ n: '1' }]);
      expect(await bodies([id])).toEqual([false]);
    } finally {
      await clerk.end();
      await db.pool.query(`drop owned by ${role}`);
      await db.pool.query(`drop role ${role}`);
    }
  });
});

describe('an event that is decided without trouble', () => {
  it('is updated in its page, and no index is written for it', async () => {
    for (let n = 1; n <= 20; n++) await came(`2023-01-${String(n).padStart(2, '0')}T00:00:00Z`);
    await db.pool.query('select pg_stat_force_next_flush()').catch(() => undefined); // PostgreSQL 15 and later
    const counted = await db.pool.query<{ all: string; hot: string }>(
      `select pg_stat_get_xact_tuples_updated('inbox_event'::regclass) + n_tup_upd as all, pg_stat_get_xact_tuples_hot_updated('inbox_event'::regclass) + n_tup_hot_upd as hot
         from pg_stat_user_tables where relname = 'inbox_event'`,
    );
    expect(counted.rows[0]?.hot).toBe(counted.rows[0]?.all);
  });
});
