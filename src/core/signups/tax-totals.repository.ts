// Remembers the totals of tax calculations. The MoR has no read for a calculation (Document 2), and a signup must know
// what its shopper pays.
import { Injectable } from '@nestjs/common';
import { money, type Money } from '../../shared/domain/money.js';
import { DAY_MS, TAX_CALCULATION_LIFE_MS } from '../../shared/policy.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';

/** A total is kept a day longer than its calculation is valid: the clocks differ. */
const KEPT_MS = TAX_CALCULATION_LIFE_MS + DAY_MS;

@Injectable()
export class TaxTotalsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Stores the total of a calculation, with its tax. Deletes the totals of calculations no longer valid. */
  async keep(taxCalculationId: string, total: Money): Promise<void> {
    await this.db.pool.query(
      `with old as (delete from tax_total where made_at < ${timeSql(4)} - $5::float8 * interval '1 millisecond')
       insert into tax_total (tax_calculation_id, amount, currency, made_at) values ($1, $2, $3, ${timeSql(4)})
           on conflict do nothing`,
      [taxCalculationId, total.minor, total.currency, this.time.given(), KEPT_MS],
    );
  }

  /** The total of a calculation, with its tax. Null: made elsewhere, or too long ago. */
  async find(taxCalculationId: string): Promise<Money | null> {
    const found = await this.db.pool.query<{ amount: string; currency: string }>(
      'select amount, currency from tax_total where tax_calculation_id = $1',
      [taxCalculationId],
    );
    const row = found.rows[0];
    return row === undefined ? null : money(BigInt(row.amount), row.currency);
  }
}
