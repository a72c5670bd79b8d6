// The writes of a database, from the server's own counters.
import type pg from 'pg';
import { type Database } from '#src/frames/store/database.js';

export type Written = {
  readonly commits: number;
  /** Rows inserted, changed or deleted. */
  readonly rows: number;
  /** An upper limit of the written index entries: a partial index counts as a whole one. */
  readonly indexEntries: number;
  /** Updates of rows, and how many of them wrote to no index. */
  readonly updates: number;
  readonly hotUpdates: number;
  /** Bytes in the write-ahead log of the whole server. */
  readonly walBytes: number;
};

const SQL = `
  select (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
         sum(n_tup_ins + n_tup_upd + n_tup_del)::float8 as rows,
         sum((n_tup_ins + n_tup_upd - n_tup_hot_upd) * (select count(*) from pg_index i where i.indrelid = t.relid))::float8 as "indexEntries",
         sum(n_tup_upd)::float8 as updates, sum(n_tup_hot_upd)::float8 as "hotUpdates",
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
    from pg_stat_user_tables t`;

/**
 * Reads the counters so far; subtract two readings. A connection would keep its counts for seconds, so the function
 * flushes every connection first.
 */
export async function writtenBy(db: Pick<Database, 'pool' | 'intake' | 'server'>): Promise<Written> {
  await Promise.all([db.pool, db.intake].map((pool) => flush(pool, db.server.version)));
  const found = await db.pool.query<Written>(SQL);
  const [row] = found.rows;
  if (row === undefined) throw new Error('the server has counted nothing');
  return row;
}

async function flush(pool: pg.Pool, version: number): Promise<void> {
  // PostgreSQL 14 cannot flush: a connection reports every half second, and readers see it half a second later.
  const steps =
    version < 150_000
      ? ['select pg_sleep(1)', 'select pg_sleep(1)']
      : ['select pg_stat_force_next_flush()', 'select 1'];
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  try {
    for (const step of steps) await Promise.all(clients.map((client) => client.query(step)));
  } finally {
    for (const client of clients) client.release();
  }
}

export function perRenewal(before: Written, after: Written, count: number): Written {
  const of = (name: keyof Written): number => (after[name] - before[name]) / count;
  return {
    commits: of('commits'),
    rows: of('rows'),
    indexEntries: of('indexEntries'),
    updates: of('updates'),
    hotUpdates: of('hotUpdates'),
    walBytes: of('walBytes'),
  };
}
