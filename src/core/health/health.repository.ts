// Reads the numbers and samples for the probes, `status` and `doctor`.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/domain/ports/clock.js';
import { StoreUnavailable } from '../../shared/domain/errors.js';
import { Database } from '../../frames/store/database.js';
import { INVOICE_AT } from '../../frames/store/newest-first.js';
import { QUEUED } from '../../frames/store/queue.js';

/** The waiting work and its age, for the metrics. */
export type Backlog = {
  readonly waitingEvents: number;
  readonly pendingCalls: number;
  readonly oldestSeconds: number;
  readonly openReviews: ReadonlyMap<string, number>;
  /** The seconds until the first deadline of the open items, by kind. A kind without a deadline is absent. */
  readonly dueSeconds: ReadonlyMap<string, number>;
  readonly parkedEvents: number;
};

/** A call or a read with a failed try, or an event with a failed decision. */
export type Stuck = {
  /** The call's kind, or the event's type. */
  readonly what: string;
  readonly lane: string;
  readonly attempts: number;
  /** The HTTP status of the last response. Null: none. */
  readonly lastStatus: number | null;
  readonly lastMessage: string | null;
  readonly nextTryAt: Date;
};

@Injectable()
export class HealthRepository {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves if the database replies and accepts writes. Rejects if it does not reply, or if it is read-only (a
   * standby).
   */
  async ping(): Promise<void> {
    // A standby replies too, but refuses the first write (SQLSTATE 25006).
    const found = await this.db.pool.query<{ read_only: boolean }>(
      `select current_setting('transaction_read_only') = 'on' as read_only`,
    );
    if (found.rows[0]?.read_only !== false) throw new StoreUnavailable('the database takes no writes');
  }

  async backlog(): Promise<Backlog> {
    const now = this.clock.now();
    const found = await this.db.pool.query<{
      waiting: string;
      pending: string;
      parked: string;
      oldest: Date | null;
    }>(
      `with undecided as materialized (
         select received_at from inbox_event where lane = any (${QUEUED}) and status = 'received')
       select (select count(*) from undecided) as waiting,
              (select count(*) from inbox_event where aside = 'parked') as parked,
              (select count(*) from open_call where status = 'pending') as pending,
              least((select min(received_at) from undecided),
                    (select min(created_at) from open_call where status = 'pending')) as oldest`,
    );
    const kinds = await this.db.pool.query<{ kind: string; n: string; due: Date | null }>(
      `select kind, count(*) as n, min(due_at) as due from review where status = 'open' group by kind`,
    );
    const row = found.rows[0];
    return {
      waitingEvents: Number(row?.waiting ?? 0),
      pendingCalls: Number(row?.pending ?? 0),
      parkedEvents: Number(row?.parked ?? 0),
      oldestSeconds: Math.max(0, (now.getTime() - (row?.oldest ?? now).getTime()) / 1000),
      openReviews: new Map(kinds.rows.map((r) => [r.kind, Number(r.n)])),
      dueSeconds: new Map(
        kinds.rows.flatMap(({ kind, due }) => (due === null ? [] : [[kind, (due.getTime() - now.getTime()) / 1000]])),
      ),
    };
  }

  async invoicesByStatus(): Promise<Readonly<Record<string, number>>> {
    const found = await this.db.pool.query<{ status: string; n: string }>(
      'select status, count(*) as n from invoice group by status order by status',
    );
    return Object.fromEntries(found.rows.map((r) => [r.status, Number(r.n)]));
  }

  /** The waiting work with the most tries: calls, then reads of an invoice, then events. */
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

  /**
   * Counts the requests since `since` that the MoR refused with a code `integration_…`: the MoR's tax integration is at
   * fault.
   */
  async integrationRefusals(since: Date): Promise<{ readonly count: number; readonly last: Date | null }> {
    const found = await this.db.pool.query<{ n: string; last: Date | null }>(
      `select count(*) as n, max(at) as last from audit where at >= $1 and detail->>'code' like 'integration\\_%'`,
      [since],
    );
    return { count: Number(found.rows[0]?.n ?? 0), last: found.rows[0]?.last ?? null };
  }

  /** The customers of the newest invoices, without repeats. Reads at most a hundred times `limit` invoices. */
  async recentCustomers(limit: number): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ customer_id: string }>(
      `select customer_id from (select customer_id, ${INVOICE_AT} as at, seq from invoice x order by ${INVOICE_AT} desc, seq desc limit $1 * 100) newest
        where customer_id is not null group by customer_id order by max(at) desc, max(seq) desc limit $1`,
      [limit],
    );
    return found.rows.map((r) => r.customer_id);
  }

  /** The number of subscriptions with an invoice in the database. */
  async subscriptions(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>('select count(distinct subscription_id) as n from invoice');
    return Number(found.rows[0]?.n ?? 0);
  }

  /** Looks at the newest invoices, and counts the invoices Stripe sends to the customer. */
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
}
