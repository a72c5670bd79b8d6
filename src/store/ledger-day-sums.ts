// What a selection of the ledger adds up to by the sums of its days: all of it, however many entries it has.
import { type DataSource } from 'typeorm';
import { type LedgerFilter, type SelectionSums } from '../domain/ports/books.js';
import { DAY_MS } from '../policy.js';
import { dayOf } from './pg-ledger-sums.js';

/** Entries that no day's sums hold yet are some minutes' work. More there are only while a daemon catches up. */
const UNFOLDED_MOST = 50_000;

/** Null: the filter names what the sums of days do not know, or too many entries are in none yet. */
export async function daySums(orm: DataSource, filter: LedgerFilter): Promise<SelectionSums | null> {
  const { since, until, reason, currency, amount, invoiceId, paymentId, customerId } = filter;
  const narrower = [amount, invoiceId, paymentId, customerId].some((value) => value !== undefined);
  const wholeDays = [since, until].every((time) => time === undefined || time.getTime() % DAY_MS === 0);
  if (narrower || !wholeDays) return null;
  const [fold] = await orm.query<{ behind: string }[]>(
    'select coalesce((select max(id) from ledger_entry), 0) - up_to as behind from ledger_fold',
  );
  if (fold === undefined || Number(fold.behind) > UNFOLDED_MOST) return null;
  // One statement: an entry is in the days or after them, and never in both, however far the fold has come.
  const found = await orm.query<{ currency: string; rows: string; minor: string }[]>(
    `select currency, sum(entries)::text as rows, sum(amount)::text as minor from (
       select day, currency, reason, entries, amount from ledger_day
       union all
       select (moved_at at time zone 'UTC')::date, currency, reason, 1, amount from ledger_entry
        where id > (select up_to from ledger_fold)) x
      where ($1::date is null or day >= $1) and ($2::date is null or day < $2)
        and ($3::text is null or reason = $3) and ($4::text is null or currency = $4)
      group by currency order by sum(entries) desc, currency`,
    [
      since === undefined ? null : dayOf(since),
      until === undefined ? null : dayOf(until),
      reason ?? null,
      currency ?? null,
    ],
  );
  return {
    sums: found.map((r) => ({ currency: r.currency, rows: Number(r.rows), minor: BigInt(r.minor) })),
    all: true,
  };
}
