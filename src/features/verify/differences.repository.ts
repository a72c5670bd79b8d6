// Finds the unsettled differences of the newest verify run: those of an invoice, and those of a month.
import { Injectable } from '@nestjs/common';
import { type Difference, type MonthCompared } from '../../shared/domain/difference.js';
import { Differences, type OpenDifference } from '../../shared/domain/ports/differences.js';
import { Database } from '../../frames/store/database.js';
import { INVOICE_AT } from '../../frames/store/newest-first.js';

const NEWEST = `select differences, more, since, finished_at from verify_run where outcome <> 'running' order by seq desc limit 1`;
const IS_OPEN = `not exists (select from difference_ack a where a.id = x.d->>'id')`;

@Injectable()
export class DifferencesRepository extends Differences {
  constructor(private readonly db: Database) {
    super();
  }

  /** The unsettled differences of an invoice, in the order of the run. */
  async ofInvoice(invoiceId: string): Promise<readonly OpenDifference[]> {
    const found = await this.db.pool.query<{ d: Difference; finished_at: Date }>(
      `select x.d, r.finished_at from (${NEWEST}) r cross join jsonb_array_elements(r.differences) with ordinality x(d, n)
        where x.d->>'invoiceId' = $1 and ${IS_OPEN} order by x.n`,
      [invoiceId],
    );
    return found.rows.map(({ d, finished_at: foundAt }) => ({ ...d, acknowledged: null, foundAt }));
  }

  /**
   * The comparison of a month with Stripe and the MoR. A difference belongs to the months of its invoice's ledger
   * entries; without entries, to the month of the invoice; without an invoice, to every month within the run.
   */
  async ofMonth({ since, until }: { readonly since: Date; readonly until: Date }): Promise<MonthCompared> {
    const found = await this.db.pool.query<{ differences: string; compared_at: Date | null; whole: boolean }>(
      `with run as materialized (${NEWEST}),
       open as (
         select x.d->>'invoiceId' as invoice_id, x.d->>'refundId' as refund_id
           from run cross join jsonb_array_elements(run.differences) x(d) where ${IS_OPEN}),
       moved as (
         select (select ${INVOICE_AT} >= $1 and ${INVOICE_AT} < $2 from invoice x where x.invoice_id = o.invoice_id) as is_made_here,
                (select bool_or(e.moved_at >= $1 and e.moved_at < $2) from ledger_entry e
                  where e.invoice_id = o.invoice_id and (o.refund_id is null or e.refund_id = o.refund_id)) as is_moved_here
           from open o),
       within as (select coalesce((select since < $2 and finished_at >= $1 from run), false) as run),
       complete as (
         select since, began_at from verify_run where outcome in ('clean', 'differences') and since < $2 and began_at > $1),
       compared as (select range_agg(tstzrange(since, began_at)) as spans, max(began_at) as at from complete),
       wanted as (
         select greatest($1, (select began_at from installation)) as since, least($2, (select at from compared)) as until)
       select (select count(*) from moved cross join within
                where coalesce(is_moved_here, is_made_here, within.run))
              + case when within.run then (select coalesce(sum(m.value::bigint), 0) from run, jsonb_each_text(run.more) m) else 0 end
                as differences,
              compared.at as compared_at,
              coalesce(wanted.since >= wanted.until or compared.spans @> tstzrange(wanted.since, wanted.until), false) as whole
         from within, compared, wanted`,
      [since, until],
    );
    const [row] = found.rows;
    return {
      differences: Number(row?.differences ?? 0),
      comparedAt: row?.compared_at ?? null,
      isWhole: row?.whole === true,
    };
  }
}
