// Stores the last read of the payment method Stripe would charge: by subscription, or by customer for invoices without
// a subscription.
import { Injectable } from '@nestjs/common';
import { type ChargedFor, type ChargedMethod } from '../../shared/domain/ports/billing-reader.js';
import { jsonText } from '../../frames/store/codec.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';

export type ChargeLookup = { readonly key: string; readonly charged: ChargedMethod | null };

/**
 * The key of a stored read of a payment method: the subscription's id, or the customer's id for an invoice without a
 * subscription. Null if the invoice has its own payment method, because no other invoice uses that method.
 */
export function chargeKey({ customerId, subscriptionId, ownMethodId }: ChargedFor): string | null {
  return ownMethodId === null ? (subscriptionId ?? customerId) : null;
}

@Injectable()
export class ChargeLookupsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Returns the last read of the payment method for this key. Null if there is no read of the last `withinMs`
   * milliseconds.
   */
  async recent(key: string, withinMs: number): Promise<ChargeLookup | null> {
    const found = await this.db.pool.query<Pick<ChargeLookup, 'charged'>>({
      name: 'charge_look',
      text: `select charged from charge_look where key = $1 and looked_at >= ${timeSql(2)} - $3::float8 * interval '1 millisecond'`,
      values: [key, this.time.given(), withinMs],
    });
    const row = found.rows[0];
    return row === undefined ? null : { key, charged: row.charged };
  }

  /** Stores new reads of payment methods. A new read replaces the last one of the same key. */
  async keep(polls: readonly ChargeLookup[]): Promise<void> {
    await this.db.pool.query({
      name: 'keep_charge_looks',
      text: `insert into charge_look (key, charged, looked_at)
             select l.key, nullif(l.charged, 'null'::jsonb), ${timeSql(2)} from jsonb_to_recordset($1::jsonb) as l(key text, charged jsonb)
              order by l.key
                 on conflict (key) do update set charged = excluded.charged, looked_at = excluded.looked_at`,
      values: [jsonText(polls), this.time.given()],
    });
  }
}
