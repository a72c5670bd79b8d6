// Sums by day: money from the ledger's daily sums, and renewals from a background count. A page of 30 days reads 30
// rows.
import { Injectable } from '@nestjs/common';
import { DAY_MS } from '../../shared/policy.js';
import { Database, inTransaction } from '../../frames/store/database.js';
import { INVOICE_AT } from '../../frames/store/newest-first.js';
import { dayOf } from '../../shared/domain/day.js';

/**
 * The MoR's payments and refunds of one day in one currency, in smallest units. The day is the day the MoR moved the
 * money.
 */
export type DayMoney = {
  /** The start of the day, in UTC. */
  readonly day: Date;
  readonly currency: string;
  readonly collected: bigint;
  readonly refunded: bigint;
  /** The number of payments taken. */
  readonly payments: number;
};

/** The renewals of one day on Stripe, at the time of the last count. */
export type DayRenewals = {
  readonly day: Date;
  readonly paid: number;
  readonly unpaid: number;
  /** Renewals without a verdict of the MoR. */
  readonly waiting: number;
};

/** A span of whole days in UTC. */
export type Days = { readonly since: Date; readonly until: Date };

/** The number of the advisory lock on the count: one replica counts at a time. */
const COUNTING = 4_812_009;

@Injectable()
export class DaysRepository {
  constructor(private readonly db: Database) {}

  /**
   * Sums the money moved on these days: adds the daily sums and the ledger entries not yet in them. To keep the read cheap, it
   * skips entries recorded over three hours before the first day. Crossbill records an entry after its money moves, so
   * only a wrong clock can make it skip an entry of these days. The daily sums count such an entry later.
   */
  async money({ since, until }: Days): Promise<readonly DayMoney[]> {
    const found = await this.db.pool.query<Record<'day' | 'currency' | 'collected' | 'refunded' | 'payments', string>>(
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

  /** The counted days, oldest first. */
  async renewals({ since, until }: Days): Promise<readonly DayRenewals[]> {
    const found = await this.db.pool.query<Record<'day' | 'paid' | 'unpaid' | 'waiting', string>>(
      `select day::text as day, paid, unpaid, waiting from renewals_day where day >= $1::date and day < $2::date order by day`,
      [dayOf(since), dayOf(until)],
    );
    return found.rows.map((r) => ({
      day: new Date(`${r.day}T00:00:00Z`),
      paid: Number(r.paid),
      unpaid: Number(r.unpaid),
      waiting: Number(r.waiting),
    }));
  }

  /**
   * Counts one day: a day without a count, or with an old count. The older the day, the longer its count stays good.
   * Returns the day. Null: no day is due, or another replica counts now.
   */
  countOne(now: Date, daysBack: number): Promise<Date | null> {
    return inTransaction(this.db.pool, async (db) => {
      const mine = await db.query<{ ok: boolean }>('select pg_try_advisory_xact_lock($1) as ok', [COUNTING]);
      if (mine.rows[0]?.ok !== true) return null;
      // Crossbill counts a day again after a quarter of the day's age: today every quarter of an hour, last month's
      // days once a week.
      const next = await db.query<{ day: string }>(
        `select d::date::text as day from generate_series($1::date - $2::integer, $1::date, interval '1 day') d
           left join renewals_day f on f.day = d::date
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
        `insert into renewals_day (day, counted_at, paid, unpaid, waiting)
         select $1::date, $2::timestamptz, count(*) filter (where status in ('paid', 'held', 'marking')),
                count(*) filter (where status in ('open', 'review')), count(*) filter (where status = 'expected')
           from invoice x where ${INVOICE_AT} >= $3::timestamptz and ${INVOICE_AT} < $4::timestamptz and billing_reason = 'subscription_cycle'
         on conflict (day) do update
           set counted_at = excluded.counted_at, paid = excluded.paid, unpaid = excluded.unpaid, waiting = excluded.waiting`,
        [row.day, now, day, new Date(day.getTime() + DAY_MS)],
      );
      return day;
    });
  }
}
