// The bodies of events. They are in a separate table with a partition for each month, so a purge can drop a whole
// month.
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { sqlState } from './database-errors.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

/** The SQL for the body of the event with this alias. Null: purged or erased. */
export const bodyOf = (event: string): string =>
  `(select b.body from event_body b where b.event_id = ${event}.id and b.received_at = ${event}.received_at)`;

/** The SQL condition: the event's body still exists. */
export const hasBody = (event: string): string =>
  `exists (select from event_body b where b.event_id = ${event}.id and b.received_at = ${event}.received_at)`;

@Injectable()
export class BodyMonths {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Creates the partitions of this month and of `months` more, unless they exist. Any replica may do this. */
  async makeAhead(months: number): Promise<void> {
    await this.db.pool.query(`select make_body_months(${timeSql(1)}, $2)`, [this.time.given(), months]);
  }
}

const LOCK_TRIES = 5;

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Drops whole months of bodies before `before`. Bodies of undecided events move to the partition event_body_other. A
 * purge after the decision deletes them. `onBatch` gets each number of deleted bodies.
 */
export async function purgeBodies(pool: pg.Pool, before: Date, onBatch: (dropped: number) => void): Promise<number> {
  let dropped = 0;
  const add = (count: number): void => {
    dropped += count;
    onBatch(count);
  };
  for (let month = await dropMonth(pool, before); month !== null; month = await dropMonth(pool, before)) add(month);
  const others = await pool.query(
    `delete from event_body_other b using inbox_event e
      where b.received_at < $1 and e.id = b.event_id and e.status in ('done', 'ignored')`,
    [before],
  );
  add(others.rowCount ?? 0);
  return dropped;
}

/** Drops the oldest month. Returns null if no month is old enough. Tries again while other sessions use the table. */
async function dropMonth(pool: pg.Pool, before: Date): Promise<number | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      const found = await pool.query<{ n: string | null }>('select drop_body_month($1) as n', [before]);
      const n = found.rows[0]?.n ?? null;
      return n === null ? null : Number(n);
    } catch (e) {
      if (sqlState(e) !== LOCK_NOT_AVAILABLE || attempt === LOCK_TRIES) throw e;
    }
  }
}
