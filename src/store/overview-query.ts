// The numbers of the console's first page. Counting by time goes over block-range indexes, so it costs what a day costs.
import type pg from 'pg';
import { type EventRow, type HourCount, type Overview } from '../domain/ports/books.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { newestEvent } from './event-queries.js';
import { HOUR_MS } from '../policy.js';

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
  const today = await pool.query<{ reason: string; currency: string; n: string; sum: string }>(
    `select reason, currency, count(*) as n, sum(amount) as sum from ledger_entry
      where recorded_at >= $1 and reason in ('payment_collected', 'payment_marked', 'refund_paid')
      group by reason, currency order by currency`,
    [dayStart],
  );
  const events = await pool.query<Counted>(
    `select date_trunc('hour', received_at, 'UTC') as at, count(*) as n from inbox_event where received_at >= $1 group by 1`,
    [firstHour],
  );
  const marks = await pool.query<Counted>(
    `select date_trunc('hour', recorded_at, 'UTC') as at, count(*) as n from ledger_entry
      where recorded_at >= $1 and reason = 'payment_marked' group by 1`,
    [firstHour],
  );
  const money = new Map<string, { collected: bigint; refunded: bigint }>();
  for (const { reason, currency, sum } of today.rows) {
    const of = money.get(currency) ?? { collected: 0n, refunded: 0n };
    if (reason === 'payment_collected') of.collected = BigInt(sum);
    if (reason === 'refund_paid') of.refunded = BigInt(sum);
    if (of.collected + of.refunded > 0n) money.set(currency, of);
  }
  const lastEvents: EventRow[] = [];
  for (const source of SOURCES) {
    const event = await newestEvent(pool, source);
    if (event !== null) lastEvents.push(event);
  }
  return {
    at: now,
    dayStart,
    unsettled: new Map(standing.rows.map((r) => [r.status, Number(r.n)])),
    paidToday: today.rows.filter((r) => r.reason === 'payment_marked').reduce((sum, r) => sum + Number(r.n), 0),
    money: [...money].map(([currency, sums]) => ({ currency, ...sums })),
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
