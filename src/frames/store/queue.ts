// SQL parts of the queue of lanes. Other modules put them into larger statements.
import type pg from 'pg';
import { laterSql } from './database-time.js';

/**
 * Gives lanes a due time, in the same statement as the new event or request. `rows` selects (key, due_at, news), and
 * `news` is a number of events and requests. A worker compares the lane's sum at the end of its claim: after a change
 * the lane has new work. The order by key prevents deadlocks between two statements.
 */
export const makeDue = (rows: string): string => `
  insert into lane as l (key, due_at, news) ${rows} order by 1
  on conflict (key) do update set due_at = least(l.due_at, excluded.due_at), news = l.news + excluded.news`;

/**
 * The due time of a lane with a waiting person. This time is before all others, so the person's refund goes out at
 * once. Otherwise the refund could wait behind a burst of renewals, perhaps for an hour.
 */
export const AWAITED = `timestamptz 'epoch'`;

/**
 * The SQL for the lanes in the queue. Each undecided event belongs to one of these lanes, so a search for undecided
 * events needs no index of the inbox.
 */
export const QUEUED = 'array(select key from lane where due_at is not null)';

/**
 * Ends a claim, in an open transaction with a lock on the lane's row. The lane becomes due after `dueInMs`, or earlier
 * for an undecided event. Without either, the lane leaves the queue. `now`: as in `timeSql`.
 */
export async function releaseFor(
  db: pg.PoolClient,
  lane: string,
  now: Date | null,
  dueInMs: number | null,
): Promise<void> {
  const next = await db.query<{ at: Date | null }>(
    `select least(${laterSql(2, 3)}, min(next_try_at)) as at from inbox_event where lane = $1 and status = 'received'`,
    [lane, now, dueInMs],
  );
  const at = next.rows[0]?.at ?? null;
  if (at === null) await db.query('delete from lane where key = $1', [lane]);
  else {
    await db.query('update lane set lease_until = null, lease_owner = null, due_at = $2 where key = $1', [lane, at]);
  }
}
