// The numbers of the console's first page. Counting by time goes over block-range indexes, so it costs what a day costs.
import type pg from 'pg';
import { type EventRow, type HourCount, type Overview } from '../domain/ports/books.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { newestEvent } from './event-queries.js';
import { DAY_MS, HOUR_MS } from '../policy.js';
import { moneyByDay } from './pg-day-books.js';

const HOURS = 24;
const SOURCES: readonly InboxSource[] = ['stripe', 'mor_payments', 'mor_events'];
const UNSETTLED = ['expected', 'open', 'held', 'marking', 'review'] as const;

type Counted = { readonly at: Date; readonly n: string };

/** `now` decides what today is. */
export async function readOverview(pool: pg.Pool, now: Date): Promise<Overview> {
  const dayStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const firstHour = new Date((Math.floor(now.getTime() / HOUR_MS) - HOURS + 1) * HOUR_MS);
  const standing = await pool.query<{ status: (typeof UNSETTLED)[number]; n: string }>(
    'select status, count(*) as n from invoice where status = any($1) group by status',
    [UNSETTLED],
  );
  const money = await moneyByDay(pool, { since: dayStart, until: new Date(dayStart.getTime() + DAY_MS) });
  const events = await pool.query<Counted>(
    `select date_trunc('hour', received_at, 'UTC') as at, count(*) as n from inbox_event where received_at >= $1 group by 1`,
    [firstHour],
  );
  const marks = await pool.query<Counted>(
    `select date_trunc('hour', recorded_at, 'UTC') as at, count(*) as n from ledger_entry
      where recorded_at >= $1 and reason = 'payment_marked' group by 1`,
    [firstHour],
  );
  const lastEvents: EventRow[] = [];
  for (const source of SOURCES) {
    const event = await newestEvent(pool, source);
    if (event !== null) lastEvents.push(event);
  }
  return {
    at: now,
    dayStart,
    unsettled: new Map(standing.rows.map((r) => [r.status, Number(r.n)])),
    takenToday: money.reduce((sum, m) => sum + m.payments, 0),
    money,
    lastEvents,
    hours: hoursFrom(firstHour, events.rows, marks.rows),
  };
}

function hoursFrom(first: Date, events: readonly Counted[], marks: readonly Counted[]): HourCount[] {
  const of = (rows: readonly Counted[], at: Date): number =>
    Number(rows.find((r) => r.at.getTime() === at.getTime())?.n ?? 0);
  return Array.from({ length: HOURS }, (_, i) => {
    const at = new Date(first.getTime() + i * HOUR_MS);
    return { at, events: of(events, at), marks: of(marks, at) };
  });
}
