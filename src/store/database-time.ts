// The time of the database: the one clock that all replicas share. A process's own may be wrong by minutes, and a lease or a due time
// that was written by it would be early or late for all the others. Leases, due times, arrivals, the doors log, the audit and the runs of
// verify are stamped by it. A process's own clock is left where minutes change nothing or where it is compared with itself alone: how far
// back a list goes, pauses, tokens, a console session's end, a person's note beside a difference.
import type pg from 'pg';

export abstract class DatabaseTime {
  /** What a statement takes for the time, UTC; null: the server's own clock. Only a simulation and tests give one. */
  abstract given(): Date | null;
}

export class ServerTime extends DatabaseTime {
  override given(): null {
    return null;
  }
}

/**
 * The time in a statement whose parameter `$n` is `DatabaseTime.given()`. It stands still within the statement, so an index can be
 * searched by it, and moves on within a transaction, which may have waited for a lock since it began. To the millisecond: what was read
 * of it is compared with what is stored.
 */
export const timeSql = (n: number): string =>
  `coalesce($${n}::timestamptz, date_trunc('milliseconds', statement_timestamp()))`;

/** `$ms` milliseconds after it. */
export const laterSql = (n: number, ms: number): string =>
  `(${timeSql(n)} + $${ms}::float8 * interval '1 millisecond')`;

/** Asks for the time. In a transaction that has taken its locks: the time at which it decides. */
export async function readTime(db: pg.Pool | pg.ClientBase, time: DatabaseTime): Promise<Date> {
  const read = await db.query<{ now: Date }>({
    name: 'time',
    text: `select ${timeSql(1)} as now`,
    values: [time.given()],
  });
  const now = read.rows[0]?.now;
  if (now === undefined) throw new Error('the database did not say the time');
  return now;
}
