// The simulation's own access to the database: it empties the tables between runs, reads plain rows for the rules, and
// finds the next due work.
import { type MorObjectDetail } from '#src/shared/domain/mor-object.js';
import { type RetryHistory } from '#src/shared/domain/retry.js';
import type pg from 'pg';
import { connectAlone } from '#src/frames/store/connect.js';
import { Database } from '#src/frames/store/database.js';
import { fold, type LoggedRow } from '#src/engine/lane-log.js';
import { keepConnections } from './faulty-pool.js';
import { StoreCopy } from './store-copy.js';

export type PaymentLine = {
  readonly id: string;
  readonly payment_id: string | null;
  /** The person or program that gave the payment its id (`payment_id`). Null: the MoR gave it. */
  readonly identified_by: string | null;
  readonly invoice_id: string;
  readonly origin: string;
  readonly status: string;
  readonly amount: string | null;
  readonly currency: string;
  readonly processor_charge_id: string | null;
  /** The reference in Stripe: the charge, the proforma invoice or the link. */
  readonly reference: string | null;
  readonly succeeded_at: Date | null;
  readonly mark: string;
  readonly mark_mode: string | null;
  readonly payment_record_id: string | null;
  readonly amount_refunded: string;
};
export type RefundLine = {
  readonly id: string;
  readonly payment_row_id: string;
  readonly mor_refund_id: string | null;
  readonly processor_refund_id: string | null;
  readonly amount: string;
  readonly status: string;
  readonly origin: string;
  readonly counted: boolean;
  readonly mirror: string;
  readonly surplus: string;
  readonly credit_note_id: string | null;
  readonly failure: { readonly code: string | null } | null;
};
export type ReviewLine = {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly subject: string;
  readonly invoice_id: string | null;
  readonly payment_row_id: string | null;
  readonly refund_id: string | null;
  readonly resolution: string | null;
  readonly topic: string;
  readonly fact: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
};
/** True if the fact of the item contains the id. */
export const namesInFact = ({ fact }: ReviewLine, id: string): boolean => JSON.stringify(fact).includes(id);

export type EventLine = {
  readonly source: string;
  readonly event_id: string;
  readonly type: string;
  readonly lane: string;
  readonly status: string;
  readonly reason: string | null;
  readonly sha: string;
};
export type CallLine = {
  readonly lane: string;
  readonly kind: string;
  readonly subject: string;
  readonly generation: number;
  readonly key: string;
  readonly status: string;
  readonly attempts: number;
  readonly lastMessage: string | null;
};
export type LedgerLine = {
  readonly debit_account: string;
  readonly credit_account: string;
  readonly amount: string;
  readonly reason: string;
  readonly payment_row_id: string;
};
export type InvoiceLine = {
  readonly invoice_id: string;
  readonly status: string;
  readonly platform_status: string;
  readonly amount_due: string | null;
  readonly enrolled: boolean | null;
  readonly next_try_at: Date | null;
  readonly retries: RetryHistory | null;
};

export type ObjectLine = {
  readonly id: string;
  readonly kind: string;
  readonly mor_id: string | null;
  readonly invoice_id: string;
  readonly status: string;
  readonly detail: MorObjectDetail;
};

export type NotificationLine = {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly body: string;
  readonly status: string;
  readonly attempts: number;
};

export type Snapshot = {
  readonly notifications: readonly NotificationLine[];
  readonly objects: readonly ObjectLine[];
  readonly payments: readonly PaymentLine[];
  readonly refunds: readonly RefundLine[];
  readonly reviews: readonly ReviewLine[];
  readonly events: readonly EventLine[];
  readonly calls: readonly CallLine[];
  readonly ledger: readonly LedgerLine[];
  readonly invoices: readonly InvoiceLine[];
  /** The log of each lane, oldest row first. */
  readonly log: ReadonlyMap<string, readonly LoggedRow[]>;
  readonly openCalls: readonly { readonly id: string; readonly lane: string }[];
  /** Number of lanes leased at the time of the snapshot. */
  readonly leased: number;
};

const DUE_SQL = `
  select extract(epoch from min(at)) * 1000 as due_ms,
         (select extract(epoch from max(lease_until)) * 1000 from lane where key not like 'job:%') as held_ms from (
    select greatest(e.next_try_at, l.lease_until) as at
      from inbox_event e left join lane l on l.key = e.lane where e.status = 'received'
    union all
    select next_try_at from notification where status = 'pending'
    union all
    select greatest(l.due_at, l.lease_until) from lane l where l.due_at is not null) as d`;

export class SimRepository {
  private constructor(
    /** Has one connection for lanes and one for intake: queries on one connection run in order. */
    readonly db: Database,
    private readonly poll: pg.Client,
    private readonly emptying: string,
    private readonly copies: StoreCopy,
  ) {}

  /** Opens a database with the current schema. This object owns the database and empties it before each run. */
  static async open(url: string): Promise<SimRepository> {
    const db = await Database.open({ url, poolSize: 2, onError: () => undefined });
    keepConnections(db.pool);
    const poll = await connectAlone(url, { name: 'crossbill-simulate', statementMs: 0 });
    // Triggers protect append-only tables from deletes. This setting skips triggers in this session.
    await poll.query(`set session_replication_role = replica; set synchronous_commit = off`);
    const tables = await poll.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename not like '%migration%'`,
    );
    const sequences = await poll.query<{ name: string }>(
      `select quote_ident(sequencename) as name from pg_sequences where schemaname = 'public' and sequencename not like '%migration%'`,
    );
    const emptying = [
      ...tables.rows.map((t) => `delete from ${t.name}`),
      ...sequences.rows.map((s) => `select setval('${s.name}', 1, false)`),
    ].join('; ');
    return new SimRepository(db, poll, emptying, new StoreCopy(poll));
  }

  /** Copies all tables and replaces the earlier copy. The copy stands for a backup or a standby. */
  keep(): Promise<void> {
    return this.copies.keep();
  }

  /** Restores the copy. `numbers`: restores the sequences too. */
  putBack(numbers: boolean): Promise<void> {
    return this.copies.putBack(numbers);
  }

  async notificationIds(): Promise<readonly string[]> {
    return (await this.poll.query<{ id: string }>('select id from notification')).rows.map((n) => n.id);
  }

  /**
   * Empties the tables with deletes: a run leaves few rows, and a truncate would make a file for each table and index.
   */
  async reset(): Promise<void> {
    await this.poll.query(this.emptying);
  }

  /** Keeps the tables small after many runs. */
  async vacuum(): Promise<void> {
    await this.poll.query('vacuum');
  }

  /**
   * Returns when the next work is due (null: no work) and when the last lease of a lane ends (null: no lease), in
   * milliseconds since 1970.
   */
  async due(): Promise<{ readonly dueAt: number | null; readonly heldUntil: number | null }> {
    const found = await this.poll.query<{ due_ms: string | null; held_ms: string | null }>({
      name: 'due',
      text: DUE_SQL,
    });
    const ms = (text: string | null | undefined): number | null =>
      text === null || text === undefined ? null : Math.ceil(Number(text));
    return { dueAt: ms(found.rows[0]?.due_ms), heldUntil: ms(found.rows[0]?.held_ms) };
  }

  async snapshot(now: Date): Promise<Snapshot> {
    const rows = async <T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<readonly T[]> =>
      (await this.poll.query<T>(sql, values)).rows;
    const log = await this.logs();
    const leased = await rows<{ n: string }>('select count(*) as n from lane where lease_until > $1', [now]);
    return {
      notifications: await rows<NotificationLine>('select * from notification order by seq'),
      objects: await rows<ObjectLine>('select * from mor_object order by seq'),
      payments: await rows<PaymentLine>('select * from payment order by seq'),
      refunds: await rows<RefundLine>('select * from refund order by seq'),
      reviews: await rows<ReviewLine>('select * from review order by seq'),
      events: await rows<EventLine>(
        `select source, event_id, type, lane, status, reason, encode(body_sha256, 'hex') as sha from inbox_event order by id`,
      ),
      calls: [...log].flatMap(([lane, logged]) => fold(lane, logged).state.calls),
      ledger: await rows<LedgerLine>('select * from ledger_entry order by id'),
      invoices: await rows<InvoiceLine>('select * from invoice order by seq'),
      log,
      openCalls: await rows<{ id: string; lane: string }>('select id, lane from open_call order by id'),
      leased: Number(leased[0]?.n ?? 0),
    };
  }

  private async logs(): Promise<ReadonlyMap<string, readonly LoggedRow[]>> {
    const found = await this.poll.query<LoggedRow>('select * from lane_log order by lane, version');
    const lanes = new Map<string, LoggedRow[]>();
    for (const row of found.rows) {
      const own = lanes.get(row.lane);
      if (own === undefined) lanes.set(row.lane, [row]);
      else own.push(row);
    }
    return lanes;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.poll.end(), this.db.close()]);
  }
}
