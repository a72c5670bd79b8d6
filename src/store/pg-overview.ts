// The numbers and samples that `status` and `doctor` show. Reads only.
import { type EventRow, type Stuck } from '../domain/ports/books.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type Database } from './database.js';
import { INVOICE_AT } from './newest-first.js';
import { hasBody } from './event-bodies.js';
import { newestEvent } from './event-queries.js';
import { QUEUED } from './queue.js';

const SOURCES = ['stripe', 'mor_payments', 'mor_events'] as const satisfies readonly InboxSource[];

export class PgOverview {
  constructor(private readonly db: Database) {}

  async invoicesByStatus(): Promise<Readonly<Record<string, number>>> {
    const found = await this.db.pool.query<{ status: string; n: string }>(
      'select status, count(*) as n from invoice group by status order by status',
    );
    return Object.fromEntries(found.rows.map((r) => [r.status, Number(r.n)]));
  }

  /** The newest event of each source; a source without any is not in it. */
  async newestEvents(): Promise<readonly EventRow[]> {
    const found = await Promise.all(SOURCES.map((source) => newestEvent(this.db.pool, source)));
    return found.filter((e) => e !== null);
  }

  /** When each source's newest event came; null: none ever did. */
  async lastEvents(): Promise<readonly { readonly source: InboxSource; readonly at: Date | null }[]> {
    const newest = await this.newestEvents();
    return SOURCES.map((source) => ({ source, at: newest.find((e) => e.source === source)?.receivedAt ?? null }));
  }

  /** What has been tried most often and still waits: calls, then reads of an invoice, then events. */
  async stuck(limit: number): Promise<readonly Stuck[]> {
    const found = await this.db.pool.query<{
      what: string;
      lane: string;
      attempts: number;
      last_status: number | null;
      last_message: string | null;
      next_try_at: Date;
    }>(
      `(select kind as what, lane, attempts, last_status, last_message, next_try_at from open_call
         where status = 'pending' and attempts > 0 order by attempts desc, next_try_at limit $1)
       union all
       (select 'read_invoice', i.invoice_id, i.read_attempts, null, null, i.read_due_at
          from (select key from lane where due_at is not null) l join invoice i on i.invoice_id = l.key
         where i.read_attempts > 0 and i.read_due_at is not null order by i.read_attempts desc, i.read_due_at limit $1)
       union all
       (select type, lane, attempts, null, reason, next_try_at from inbox_event
         where lane = any (${QUEUED}) and status = 'received' and attempts > 0 order by attempts desc, next_try_at limit $1)
       limit $1`,
      [limit],
    );
    return found.rows.map((r) => ({
      what: r.what,
      lane: r.lane,
      attempts: r.attempts,
      lastStatus: r.last_status,
      lastMessage: r.last_message,
      nextTryAt: r.next_try_at,
    }));
  }

  /** Copies in quarantine that nobody took in. */
  async quarantined(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>(
      `select count(*) as n from inbox_quarantine q where released_at is null and not exists (
         select 1 from inbox_event i where i.source = q.source and i.event_id = q.event_id and i.body_sha256 = q.body_sha256)`,
    );
    return Number(found.rows[0]?.n ?? 0);
  }

  /** Refused requests since then, of which the MoR said that its tax integration does not work. */
  async integrationRefusals(since: Date): Promise<{ readonly count: number; readonly last: Date | null }> {
    const found = await this.db.pool.query<{ n: string; last: Date | null }>(
      `select count(*) as n, max(at) as last from audit where at >= $1 and detail->>'code' like 'integration\\_%'`,
      [since],
    );
    return { count: Number(found.rows[0]?.n ?? 0), last: found.rows[0]?.last ?? null };
  }

  /** Customers of the newest invoices, each once: of a hundred times as many invoices at most. */
  async recentCustomers(limit: number): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ customer_id: string }>(
      `select customer_id from (select customer_id, ${INVOICE_AT} as at, seq from invoice x order by ${INVOICE_AT} desc, seq desc limit $1 * 100) newest
        where customer_id is not null group by customer_id order by max(at) desc, max(seq) desc limit $1`,
      [limit],
    );
    return found.rows.map((r) => r.customer_id);
  }

  /** How many subscriptions had an invoice here. */
  async subscriptions(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>('select count(distinct subscription_id) as n from invoice');
    return Number(found.rows[0]?.n ?? 0);
  }

  /** Of the newest invoices, how many Stripe sends to the customer by itself. */
  async sentByPlatform(limit: number): Promise<{ readonly looked: number; readonly sent: number }> {
    const found = await this.db.pool.query<{ looked: string; sent: string }>(
      `select count(*) as looked, count(*) filter (where collection_method = 'send_invoice') as sent
         from (select collection_method from (select * from invoice x order by ${INVOICE_AT} desc, seq desc limit $1 * 100) x
                where collection_method is not null order by ${INVOICE_AT} desc, seq desc limit $1) newest`,
      [limit],
    );
    const [row] = found.rows;
    return { looked: Number(row?.looked ?? 0), sent: Number(row?.sent ?? 0) };
  }

  /** Parked events in their own order after `after` (0: from the start), as `ie_…`. */
  async parked(after: bigint, limit: number): Promise<readonly bigint[]> {
    const found = await this.db.pool.query<{ id: string }>(
      `select id from inbox_event e where aside = any (array['parked']) and ${hasBody('e')} and id > $1
        order by aside desc, id limit $2`,
      [after, limit],
    );
    return found.rows.map((r) => BigInt(r.id));
  }
}
