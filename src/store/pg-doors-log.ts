// When the doors were open, in PostgreSQL: a row per stretch, brought up to date about once a minute.
import { Injectable } from '@nestjs/common';
import { DoorsLog, type Span } from '../domain/ports/loss.js';
import { DatabaseTime, laterSql, timeSql } from './database-time.js';
import { Database } from './database.js';

/** Words further apart than this say nothing of the time between: three that were missed. */
const SILENCE_MS = 3 * 60_000 + 30_000;
/** Longer than anyone can look back at either peer. */
const KEPT_MS = 45 * 86_400_000;

@Injectable()
export class PgDoorsLog extends DoorsLog {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async seen(id: string): Promise<boolean> {
    const kept = await this.db.pool.query(
      `update doors_open set seen_at = greatest(seen_at, ${timeSql(2)}) where id = $1 and seen_at >= ${laterSql(2, 3)}`,
      [id, this.time.given(), -SILENCE_MS],
    );
    return kept.rowCount === 1;
  }

  async opened(id: string): Promise<void> {
    const now = this.time.given();
    await this.db.pool.query(
      `insert into doors_open (id, opened_at, seen_at) values ($1, ${timeSql(2)}, ${timeSql(2)})`,
      [id, now],
    );
    // The newest of the others stays, however old: the time since then is the outage.
    await this.db.pool.query(
      `delete from doors_open
        where seen_at < ${laterSql(2, 3)} and seen_at < (select max(seen_at) from doors_open where id <> $1)`,
      [id, now, -KEPT_MS],
    );
  }

  async open(): Promise<readonly Span[]> {
    const found = await this.db.pool.query<{ opened_at: Date; seen_at: Date }>(
      'select opened_at, seen_at from doors_open order by opened_at, id',
    );
    return found.rows.map((r) => ({ from: r.opened_at, to: r.seen_at }));
  }
}
