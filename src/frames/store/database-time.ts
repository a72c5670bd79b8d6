// The time of the database is the one clock of all replicas. A process's own clock may be wrong by minutes, and its
// leases and due times would then be early or late for all others. So the database's time stamps leases, due times,
// arrivals, the log of the endpoints, the audit log and the runs of verify. A process's own clock is good enough where
// minutes do not matter or no other process is involved: pauses, tokens, console sessions, a person's note on a
// difference.
import type pg from 'pg';

export abstract class DatabaseTime {
  /**
   * The time for statements, in UTC. Null: statements use the server's own clock. Only a simulation and tests set a
   * time.
   */
  abstract given(): Date | null;
}

export class ServerTime extends DatabaseTime {
  override given(): null {
    return null;
  }
}

/**
 * The SQL of the current time. The statement's parameter `$n` must be `DatabaseTime.given()`. Within a statement the
 * time is constant, so an index can use it. Within a transaction the time moves on, for example after a wait for a
 * lock. The time is exact to the millisecond, since Crossbill compares read times with stored times.
 */
export const timeSql = (first: number): string =>
  `coalesce($${first}::timestamptz, date_trunc('milliseconds', statement_timestamp()))`;

/** The SQL of a later time. `ms`: the number of the parameter with the milliseconds. */
export const laterSql = (first: number, ms: number): string =>
  `(${timeSql(first)} + $${ms}::float8 * interval '1 millisecond')`;

/** Reads the database's time. In a transaction, this is the time of the statement. */
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
