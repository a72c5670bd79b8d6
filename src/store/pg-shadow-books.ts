// Shadow mode's calls, counted. Reads whole tables: a shadow has a database of its own, and it is young.
import { Injectable } from '@nestjs/common';
import { ShadowBooks, type ShadowStanding } from '../domain/ports/shadow-books.js';
import { Database } from './database.js';

@Injectable()
export class PgShadowBooks extends ShadowBooks {
  constructor(private readonly db: Database) {
    super();
  }

  override async standing(): Promise<ShadowStanding> {
    const calls = await this.db.pool.query<{ kind: string; n: string }>(
      `select kind, count(*) as n from open_call where status = 'shadow' group by kind order by kind`,
    );
    // A mark that was decided again after shadow mode is our own from then on.
    const marks = await this.db.pool.query<{ agreed: string; unmarked: string }>(
      `select count(*) filter (where p.mark = 'confirmed') as agreed,
              count(*) filter (where p.mark in ('reporting', 'attaching', 'referencing')) as unmarked
         from open_call m join payment p on p.invoice_id = m.lane and m.subject in (p.id, p.payment_id)
        where m.status = 'shadow' and m.kind in ('report_payment', 'attach_payment', 'set_reference')`,
    );
    const row = marks.rows[0];
    return {
      calls: new Map(calls.rows.map((r) => [r.kind, Number(r.n)])),
      agreed: Number(row?.agreed ?? 0),
      unmarked: Number(row?.unmarked ?? 0),
    };
  }
}
