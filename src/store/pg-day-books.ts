// The figures of days: money from the ledger's sums, the rest counted day by day in the background and kept.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import {
  type DayBacklog,
  DayBooks,
  type DayFigures,
  type DayMoney,
  type Days,
  PAID_AFTER_SEC,
} from '../domain/ports/day-books.js';
import { DAY_MS } from '../policy.js';
import { Database, inTransaction } from './database.js';
import { INVOICE_AT, PAYMENT_AT } from './newest-first.js';
import { dayOf } from './pg-ledger-sums.js';

/** One replica counts at a time. */
const COUNTING = 4_812_009;
/** Beyond the most frequent codes the rest is one number. */
const CODES = 12;

type Kept = Pick<DayFigures, 'renewals' | 'declines' | 'paidAfter'>;

/**
 * What moved on these days, from the folded sums and what came since: as `PgLedgerSums.between`, by the day. Money is recorded after it
 * moved; what a wrong clock recorded hours before is shown once it is folded. So today costs what a day costs, also where nothing is folded.
 */
export async function moneyByDay(pool: pg.Pool, { since, until }: Days): Promise<readonly DayMoney[]> {
  const found = await pool.query<Record<'day' | 'currency' | 'collected' | 'refunded' | 'payments', string>>(
    `with sums as (
       select day, currency, reason, entries, amount from ledger_day where day >= $1::date and day < $2::date
       union all
       select (moved_at at time zone 'UTC')::date, currency, reason, 1, amount from ledger_entry
        where id > (select up_to from ledger_fold) and moved_at >= $1::date::timestamp at time zone 'UTC'
          and moved_at < $2::date::timestamp at time zone 'UTC'
          and recorded_at >= $1::date::timestamp at time zone 'UTC' - interval '3 hours')
     select day::text as day, currency, coalesce(sum(amount) filter (where reason = 'payment_collected'), 0)::text as collected,
            coalesce(sum(amount) filter (where reason = 'refund_paid'), 0)::text as refunded,
            coalesce(sum(entries) filter (where reason = 'payment_collected'), 0)::text as payments
       from sums where reason in ('payment_collected', 'refund_paid') group by day, currency order by day, currency`,
    [dayOf(since), dayOf(until)],
  );
  return found.rows.map((r) => ({
    day: new Date(`${r.day}T00:00:00Z`),
    currency: r.currency,
    collected: BigInt(r.collected),
    refunded: BigInt(r.refunded),
    payments: Number(r.payments),
  }));
}

@Injectable()
export class PgDayBooks extends DayBooks {
  constructor(private readonly db: Database) {
    super();
  }

  money(days: Days): Promise<readonly DayMoney[]> {
    return moneyByDay(this.db.pool, days);
  }

  async figures({ since, until }: Days): Promise<readonly DayFigures[]> {
    const found = await this.db.pool.query<{ day: string; counted_at: Date; figures: Kept }>(
      `select day::text as day, counted_at, figures from day_figures where day >= $1::date and day < $2::date order by day`,
      [dayOf(since), dayOf(until)],
    );
    return found.rows.map((r) => ({ day: new Date(`${r.day}T00:00:00Z`), countedAt: r.counted_at, ...r.figures }));
  }

  async backlog({ since, until }: Days): Promise<readonly DayBacklog[]> {
    const found = await this.db.pool.query<Record<'day' | 'waiting' | 'oldest_sec', string>>(
      `select day::text as day, waiting, oldest_sec from backlog_day where day >= $1::date and day < $2::date order by day`,
      [dayOf(since), dayOf(until)],
    );
    return found.rows.map((r) => ({
      day: new Date(`${r.day}T00:00:00Z`),
      waiting: Number(r.waiting),
      oldestSec: Number(r.oldest_sec),
    }));
  }

  async noteBacklog(now: Date, waiting: number, oldestSec: number): Promise<void> {
    await this.db.pool.query(
      `insert into backlog_day (day, waiting, oldest_sec) values ($1::date, $2, $3)
       on conflict (day) do update
         set waiting = greatest(backlog_day.waiting, excluded.waiting), oldest_sec = greatest(backlog_day.oldest_sec, excluded.oldest_sec)
         where excluded.waiting > backlog_day.waiting or excluded.oldest_sec > backlog_day.oldest_sec`,
      [dayOf(now), waiting, Math.floor(oldestSec)],
    );
  }

  countOne(now: Date, daysBack: number): Promise<Date | null> {
    return inTransaction(this.db.pool, async (db) => {
      const mine = await db.query<{ ok: boolean }>('select pg_try_advisory_xact_lock($1) as ok', [COUNTING]);
      if (mine.rows[0]?.ok !== true) return null;
      // A quarter of its age later a day is counted again: today every quarter of an hour and more, last month's days once a week.
      const next = await db.query<{ day: string }>(
        `select d::date::text as day from generate_series($1::date - $2::integer, $1::date, interval '1 day') d
           left join day_figures f on f.day = d::date
          where f.day is null
             or $3::timestamptz - (f.day::timestamp at time zone 'UTC')
                > (f.counted_at - (f.day::timestamp at time zone 'UTC')) * 1.25 + interval '15 minutes'
          order by d desc limit 1`,
        [dayOf(now), daysBack, now],
      );
      const [row] = next.rows;
      if (row === undefined) return null;
      const day = new Date(`${row.day}T00:00:00Z`);
      await db.query(
        `insert into day_figures (day, counted_at, figures) values ($1::date, $2, $3::jsonb)
         on conflict (day) do update set counted_at = excluded.counted_at, figures = excluded.figures`,
        [row.day, now, JSON.stringify(await counted(db, day))],
      );
      return day;
    });
  }
}

/** Each statement reads one day by an index of its time. */
async function counted(db: pg.ClientBase, day: Date): Promise<Kept> {
  const span = [day, new Date(day.getTime() + DAY_MS)];
  const renewals = await db.query<Record<'paid' | 'unpaid' | 'waiting', string>>(
    `select count(*) filter (where status in ('paid', 'held', 'marking')) as paid,
            count(*) filter (where status in ('open', 'review')) as unpaid,
            count(*) filter (where status = 'expected') as waiting
       from invoice x where ${INVOICE_AT} >= $1 and ${INVOICE_AT} < $2 and billing_reason = 'subscription_cycle'`,
    span,
  );
  const declines = await db.query<{ code: string; n: string }>(
    `select coalesce(decline_code, '') as code, count(*) as n from payment x
      where ${PAYMENT_AT} >= $1 and ${PAYMENT_AT} < $2 and status in ('failed', 'requires_action')
        and verdict_at is not null
      group by 1 order by 2 desc, 1`,
    span,
  );
  const after = await db.query<{ bucket: number; n: string }>(
    `select width_bucket(extract(epoch from recorded_at - moved_at), $3::numeric[]) as bucket, count(*) as n from ledger_entry
      where recorded_at >= $1 and recorded_at < $2 and reason = 'payment_marked' group by 1`,
    [...span, PAID_AFTER_SEC],
  );
  const [r] = renewals.rows;
  const codes = declines.rows.map(({ code, n }): [string, number] => [code, Number(n)]);
  const rest = codes.slice(CODES).reduce((sum, [, n]) => sum + n, 0);
  return {
    renewals: { paid: Number(r?.paid ?? 0), unpaid: Number(r?.unpaid ?? 0), waiting: Number(r?.waiting ?? 0) },
    declines: Object.fromEntries([...codes.slice(0, CODES), ...(rest > 0 ? [['other', rest] as const] : [])]),
    paidAfter: Array.from({ length: PAID_AFTER_SEC.length + 1 }, (_, i) =>
      Number(after.rows.find((a) => a.bucket === i)?.n ?? 0),
    ),
  };
}
