// The time of the database: the one clock of all replicas. A process's own may be wrong by minutes, and its lease or
// due time would be early or late for all the others. So this stamps leases, due times, arrivals, the log of the
// endpoints, the audit and the runs of verify. A process's own clock serves where minutes change nothing or it meets
// only itself: a list's length, pauses, tokens, a console session's end, a person's note on a difference.
import type pg from 'pg';

export abstract class DatabaseTime {
  /** The time for statements, UTC; null: the server's own clock. Only a simulation and tests give one. */
  abstract given(): Date | null;
}

export class ServerTime extends DatabaseTime {
  override given(): null {
    return null;
  }
}

/**
 * The time in a statement with the parameter `$n` for `DatabaseTime.given()`. It stands still within the statement, so
 * an index can use it, and moves on within a transaction, perhaps after a wait for a lock. To the millisecond: we
 * compare read times with stored ones.
 */
export const timeSql = (n: number): string =>
  `coalesce($${n}::timestamptz, date_trunc('milliseconds', statement_timestamp()))`;

/** `$ms` milliseconds after it. */
export const laterSql = (n: number, ms: number): string =>
  `(${timeSql(n)} + $${ms}::float8 * interval '1 millisecond')`;

/** Asks for the time. In a transaction with its locks: the time of its decision. */
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
