// The log of the open times of the webhook endpoints: one row per span, updated about once a minute.
import { Injectable } from '@nestjs/common';
import { type Span } from './rules/loss-window.js';
import { DatabaseTime, laterSql, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';

/** The longest pause between updates: three missed updates. After a longer pause the endpoints may have been closed. */
const SILENCE_MS = 3 * 60_000 + 30_000;

/** The log keeps spans this long. Neither Stripe nor the MoR shows older events. */
const KEPT_MS = 45 * 86_400_000;

@Injectable()
export class EndpointsLogRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Records that the endpoints are still open: extends the span with this id to now. Returns false if the last update
   * of the span is too old: the endpoints may have been closed meanwhile, so the caller begins a new span.
   */
  async seen(id: string): Promise<boolean> {
    const kept = await this.db.pool.query(
      `update endpoints_open set seen_at = greatest(seen_at, ${timeSql(2)}) where id = $1 and seen_at >= ${laterSql(2, 3)}`,
      [id, this.time.given(), -SILENCE_MS],
    );
    return kept.rowCount === 1;
  }

  /** Records that a process opened its endpoints. Deletes old spans. */
  async opened(id: string): Promise<void> {
    const now = this.time.given();
    await this.db.pool.query(
      `insert into endpoints_open (id, opened_at, seen_at) values ($1, ${timeSql(2)}, ${timeSql(2)})`,
      [id, now],
    );
    // Keep the newest earlier span at any age: the outage began at its end.
    await this.db.pool.query(
      `delete from endpoints_open
        where seen_at < ${laterSql(2, 3)} and seen_at < (select max(seen_at) from endpoints_open where id <> $1)`,
      [id, now, -KEPT_MS],
    );
  }

  /** All spans of all processes. */
  async open(): Promise<readonly Span[]> {
    const found = await this.db.pool.query<{ opened_at: Date; seen_at: Date }>(
      'select opened_at, seen_at from endpoints_open order by opened_at, id',
    );
    return found.rows.map((r) => ({ from: r.opened_at, to: r.seen_at }));
  }
}
