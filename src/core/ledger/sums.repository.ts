// Stores the ledger's sums by day. A regular run (`fold`) updates them; a read adds the later entries.
import { Injectable } from '@nestjs/common';
import { type Account } from '../../shared/domain/ledger-entry.js';
import { type LedgerSum } from './rules/trial-balance.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database, inTransaction } from '../../frames/store/database.js';
import { dayOf } from '../../shared/domain/day.js';

/** The most entries in one run: about a second's work. */
const ENTRIES_AT_ONCE = 100_000;

/**
 * An entry of this age is settled: no further entry with a smaller number can appear. An entry gets its number before
 * its transaction ends, so it may appear after an entry with a larger number. But Crossbill's statements and idle
 * transactions end within 15 seconds.
 */
const SETTLED = `interval '10 minutes'`;

const DAY = `(moved_at at time zone 'UTC')::date`;

const KEY = 'currency, reason, debit_account, credit_account';

@Injectable()
export class LedgerSumsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Adds the daily sums and the entries not yet in them. One statement reads both, so no entry counts twice, even while
   * another process moves entries into the daily sums.
   */
  async between({ since, until }: { since: Date; until: Date }): Promise<readonly LedgerSum[]> {
    const found = await this.db.pool.query<Record<string, string>>(
      `with sums as (
         select day, ${KEY}, entries, amount from ledger_day where day < $2::date
         union all
         select ${DAY}, ${KEY}, 1, amount from ledger_entry
          where id > (select up_to from ledger_fold) and moved_at < $2::date::timestamp at time zone 'UTC')
       select ${KEY}, coalesce(sum(amount) filter (where day < $1::date), 0)::text as before,
              coalesce(sum(amount) filter (where day >= $1::date), 0)::text as during,
              coalesce(sum(entries) filter (where day >= $1::date), 0)::text as entries
         from sums group by ${KEY} order by ${KEY}`,
      [dayOf(since), dayOf(until)],
    );
    return found.rows.map((r) => ({
      currency: r['currency'] ?? '',
      reason: r['reason'] ?? '',
      debit: r['debit_account'] as Account,
      credit: r['credit_account'] as Account,
      before: BigInt(r['before'] ?? 0),
      during: BigInt(r['during'] ?? 0),
      entries: Number(r['entries'] ?? 0),
    }));
  }

  /**
   * Adds one run of entries to the daily sums. Returns their number. 0: no settled entry is left to add, or another
   * process adds entries now. Safe in many replicas at once.
   */
  async fold(): Promise<number> {
    return inTransaction(this.db.pool, async (db) => {
      const held = await db.query<{ up_to: string; noted: string; settled: boolean }>(
        `select up_to, noted, noted_at <= ${timeSql(1)} - ${SETTLED} as settled from ledger_fold for update skip locked`,
        [this.time.given()],
      );
      const [fold] = held.rows;
      if (fold === undefined || !fold.settled) return 0;
      const from = BigInt(fold.up_to);
      const noted = BigInt(fold.noted);
      const to = noted - from > ENTRIES_AT_ONCE ? from + BigInt(ENTRIES_AT_ONCE) : noted;
      const summed = await db.query<{ n: string }>(
        `with added as (
           select ${DAY} as day, ${KEY}, count(*) as entries, sum(amount) as amount from ledger_entry
            where id > $1 and id <= $2 group by day, ${KEY}),
         kept as (
           insert into ledger_day as d (day, ${KEY}, entries, amount) select day, ${KEY}, entries, amount from added
           on conflict (day, ${KEY}) do update set entries = d.entries + excluded.entries, amount = d.amount + excluded.amount)
         select coalesce(sum(entries), 0) as n from added`,
        [fold.up_to, to.toString()],
      );
      await db.query(
        to < noted
          ? 'update ledger_fold set up_to = $1'
          : `update ledger_fold set up_to = $1, noted_at = ${timeSql(2)},
               noted = greatest($1, (select coalesce(max(id), 0) from ledger_entry))`,
        to < noted ? [to.toString()] : [to.toString(), this.time.given()],
      );
      return Number(summed.rows[0]?.n ?? 0);
    });
  }
}
