// The bodies of events: a separate table with a partition for each month, so a purge drops a month.
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { sqlState } from './database-errors.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

/** The body of the event of this alias, as a part of a query; null: purged or erased. */
export const bodyOf = (event: string): string =>
  `(select b.body from event_body b where b.event_id = ${event}.id and b.received_at = ${event}.received_at)`;

/** Its body is there. */
export const hasBody = (event: string): string =>
  `exists (select from event_body b where b.event_id = ${event}.id and b.received_at = ${event}.received_at)`;

@Injectable()
export class BodyMonths {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Makes the room of this month and of `months` more, unless it is there. Any replica may do it. */
  async makeAhead(months: number): Promise<void> {
    await this.db.pool.query(`select make_body_months(${timeSql(1)}, $2)`, [this.time.given(), months]);
  }
}

const LOCK_TRIES = 5;

const LOCK_NOT_AVAILABLE = '55P03';

/** Drops whole months before `before`, and older bodies left over from their month and decided since. */
export async function purgeBodies(pool: pg.Pool, before: Date, onBatch: (dropped: number) => void): Promise<number> {
  let dropped = 0;
  const add = (n: number): void => {
    dropped += n;
    onBatch(n);
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

/** Null: there is none. Tries again while others hold the table busy. */
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
