// Looks at what Stripe would charge by itself, in PostgreSQL: the newest of each subscription or customer.
import { Injectable } from '@nestjs/common';
import { type ChargeLook, ChargeLooks } from '../domain/ports/charge-looks.js';
import { jsonText } from './codec.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

@Injectable()
export class PgChargeLooks extends ChargeLooks {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async recent(key: string, withinMs: number): Promise<ChargeLook | null> {
    const found = await this.db.pool.query<Pick<ChargeLook, 'charged'>>({
      name: 'charge_look',
      text: `select charged from charge_look where key = $1 and looked_at >= ${timeSql(2)} - $3::float8 * interval '1 millisecond'`,
      values: [key, this.time.given(), withinMs],
    });
    const row = found.rows[0];
    return row === undefined ? null : { key, charged: row.charged };
  }

  async keep(looks: readonly ChargeLook[]): Promise<void> {
    await this.db.pool.query({
      name: 'keep_charge_looks',
      text: `insert into charge_look (key, charged, looked_at)
             select l.key, nullif(l.charged, 'null'::jsonb), ${timeSql(2)} from jsonb_to_recordset($1::jsonb) as l(key text, charged jsonb)
              order by l.key
                 on conflict (key) do update set charged = excluded.charged, looked_at = excluded.looked_at`,
      values: [jsonText(looks), this.time.given()],
    });
  }
}
