// Shadow mode's calls, counted. Reads whole tables: a shadow has a database of its own, and it is young.
import { SHADOW_MODE } from '../domain/ports/call.js';
import { ShadowBooks, type ShadowStanding } from '../domain/ports/shadow-books.js';
import { type Database } from './database.js';

const IN_SHADOW = `m.status = 'cancelled' and m.last_code = '${SHADOW_MODE}'`;

export class PgShadowBooks extends ShadowBooks {
  constructor(private readonly db: Database) {
    super();
  }

  override async standing(): Promise<ShadowStanding> {
    const calls = await this.db.pool.query<{ kind: string; n: string }>(
      `select m.kind, count(*) as n from outbox_message m where ${IN_SHADOW} group by m.kind order by m.kind`,
    );
    // A mark that was decided anew after shadow mode is our own from then on.
    const marks = await this.db.pool.query<{ agreed: string; unmarked: string }>(
      `select count(*) filter (where p.mark = 'confirmed') as agreed,
              count(*) filter (where p.mark in ('reporting', 'attaching', 'referencing')) as unmarked
         from outbox_message m join payment p on p.invoice_id = m.lane and m.subject in (p.id, p.payment_id)
        where ${IN_SHADOW} and m.kind in ('report_payment', 'attach_payment', 'set_reference')
          and not exists (select 1 from outbox_message d where d.lane = m.lane and d.kind = m.kind
                             and d.subject = m.subject and d.generation > m.generation)`,
    );
    const row = marks.rows[0];
    return {
      calls: new Map(calls.rows.map((r) => [r.kind, Number(r.n)])),
      agreed: Number(row?.agreed ?? 0),
      unmarked: Number(row?.unmarked ?? 0),
    };
  }
}
