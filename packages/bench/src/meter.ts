// The cost of a pool's connections in PostgreSQL, from PostgreSQL's own counters and the kernel's. Other work on the
// machine hardly changes it.
import { type Database } from '#src/frames/store/database.js';
import { onProcessorUs } from './processor-time.js';

export type Spent = {
  /** Processor time of the connections' server processes, in milliseconds. 0 if the system does not show it. */
  readonly cpuMs: number;
  /** Bytes written to the write-ahead log. */
  readonly walBytes: number;
  /** Number of 8 KB pages touched, in memory or not. */
  readonly pages: number;
};

// A connection keeps its counts for seconds unless it flushes them. The query needs PostgreSQL 18, as embedded.
const SQL = `
  select pg_backend_pid() as pid, pg_stat_force_next_flush(), w.wal_bytes as wal,
         (select sum(coalesce(hits, 0) + coalesce(reads, 0)) from pg_stat_get_backend_io(pg_backend_pid())) as pages
    from pg_stat_get_backend_wal(pg_backend_pid()) w`;

/** Reads the counters so far; subtract two readings. Opens every connection of the pool, so it misses none. */
export async function meterOf(db: Pick<Database, 'pool'>): Promise<Spent> {
  const clients = await Promise.all(Array.from({ length: db.pool.options.max }, () => db.pool.connect()));
  const spent = { cpuMs: 0, walBytes: 0, pages: 0 };
  try {
    for (const client of clients) {
      await client.query('select pg_stat_force_next_flush()');
      const found = await client.query<{ pid: number; wal: string; pages: string }>(SQL);
      const row = found.rows[0];
      spent.cpuMs += (await onProcessorUs(String(row?.pid ?? 0))) / 1_000;
      spent.walBytes += Number(row?.wal ?? 0);
      spent.pages += Number(row?.pages ?? 0);
    }
    return spent;
  } finally {
    for (const client of clients) client.release();
  }
}
