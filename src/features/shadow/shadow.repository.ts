// Counts what shadow mode decided. Reads whole tables: shadow mode has a database of its own, so the tables are small.
import { Injectable } from '@nestjs/common';
import { Database } from '../../frames/store/database.js';
import { UNSENT } from '../../shared/domain/ports/call.js';

export type ShadowStatus = {
  /** Calls decided and never sent, by kind. */
  readonly calls: ReadonlyMap<string, number>;
  /** Marks decided by Crossbill, and made by another integration. */
  readonly agreed: number;
  /** Marks decided by Crossbill, and made by nobody so far. */
  readonly unmarked: number;
};

@Injectable()
export class ShadowRepository {
  constructor(private readonly db: Database) {}

  async status(): Promise<ShadowStatus> {
    const calls = await this.db.pool.query<{ kind: string; n: string }>(
      `select kind, count(*) as n from open_call where status = $1 group by kind order by kind`,
      [UNSENT.listed],
    );
    const marks = await this.db.pool.query<{ agreed: string; unmarked: string }>(
      `select count(*) filter (where p.mark = 'confirmed') as agreed,
              count(*) filter (where p.mark in ('reporting', 'attaching', 'referencing')) as unmarked
         from open_call m join payment p on p.invoice_id = m.lane and m.subject in (p.id, p.payment_id)
        where m.status = $1 and m.kind in ('report_payment', 'attach_payment', 'set_reference')`,
      [UNSENT.listed],
    );
    const row = marks.rows[0];
    return {
      calls: new Map(calls.rows.map((r) => [r.kind, Number(r.n)])),
      agreed: Number(row?.agreed ?? 0),
      unmarked: Number(row?.unmarked ?? 0),
    };
  }
}
