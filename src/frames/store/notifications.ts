// Notifications to the merchant's backend, in PostgreSQL. Crossbill stores them with a decision. Workers send them.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { REVIEW, type ReviewRow } from '../../shared/domain/review-row.js';
import { type NewNotification } from '../../shared/domain/notification.js';
import { BadCursor, type Page, type PageRequest, type Span } from '../../shared/domain/page.js';
import { type Delivery, type DeliveryResult } from '../../shared/domain/ports/receiver.js';
import { fromRow, jsonText } from './codec.js';
import { type DatabaseTime, laterSql, readTime, timeSql } from './database-time.js';
import { Database } from './database.js';
import { listLedBy } from './led-by.js';
import { numberedWithin, numbersWithin } from './number-at.js';
import { Parameters } from './walk.js';

export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'dead'] as const;

/** One try to deliver a notification. */
export type NotificationTry = {
  readonly at: Date;
  readonly status: number | null;
  /** Why the try failed, in our words. Null: delivered. */
  readonly why: string | null;
  readonly elapsedMs: number;
};

export type NotificationRow = NewNotification & {
  readonly status: (typeof NOTIFICATION_STATUSES)[number];
  /** The number of tries since Crossbill stored the notification, or since its last replay. */
  readonly attempts: number;
  /** The tries, the newest last. Crossbill stores only the newest ones. */
  readonly tries: readonly NotificationTry[];
  /** The time of the next try. Null: no more tries. */
  readonly nextTryAt: Date | null;
  readonly deliveredAt: Date | null;
};

/** A notification this process is delivering. */
export type TakenNotification = Delivery & {
  /** How often a process has taken the notification, including this time. */
  readonly attempts: number;
};

/** A review item, with the customer and the subscription of its invoice. Null: the item is about no invoice. */
type UnnotifiedReview = ReviewRow & { readonly customerId: string | null; readonly subscriptionId: string | null };

/**
 * Facts outside the lanes and still without a notification: deadlines, items without an invoice, findings of verify.
 */
type Unnotified = {
  readonly opened: readonly UnnotifiedReview[];
  readonly dueSoon: readonly UnnotifiedReview[];
};

export type NotificationStatus = {
  readonly pending: number;
  readonly dead: number;
  /** The arrival of the oldest waiting notification. Null: none waits. */
  readonly oldestPendingAt: Date | null;
  /** When the receiver replied 410 (gone). Null: it accepts notifications. */
  readonly goneAt: Date | null;
};

/** The most rows `since` returns. */
export const LISTED_AT_ONCE = 1_000;

export type NotificationFilter = Span & { readonly status?: string; readonly type?: string };

type Row = Record<string, unknown>;

/** The most tries stored with one notification: two full rounds. */
const TRIES_KEPT = 20;
/** Crossbill reports nothing older than this: the first setting of NOTIFY_URL must not send the whole past. */
export const NEWS_FOR_MS = 86_400_000;
const NEWS_FOR = `interval '${NEWS_FOR_MS} milliseconds'`;
const MOST_UNNOTIFIED = 200;
const UNNOTIFIED_REVIEW = `r.*, i.customer_id, i.subscription_id
   from review r left join invoice i on i.invoice_id = r.invoice_id`;

const COLUMNS =
  'id, type, subject, invoice_id, format, body, status, attempts, tries, next_try_at, created_at, delivered_at';

/**
 * The SQL condition to change the notification's status after try `$3`. A success changes every pending notification. A
 * failure counts only for the newest try: a stalled process may report an older try late.
 */
const OURS = `(n.status = 'pending' and ($7 = 'delivered' or n.attempts = $3))`;

/**
 * Stores notifications, as a part of the SQL statement of a lane's decision. `$n`: rows from `storedNotification`.
 * `$1`: the time.
 */
export const NOTIFY_SQL = (first: number): string => `
  insert into notification (id, type, subject, invoice_id, format, body, created_at, next_try_at)
  select d.id, d.type, d.subject, d.invoice_id, d.format, d.body, d.at, $1
    from jsonb_to_recordset($${first}::jsonb)
      as d(id text, type text, subject text, invoice_id text, format text, body text, at timestamptz)
   order by d.id
  on conflict (id) do nothing`;

export const storedNotification = ({ invoiceId, ...n }: NewNotification): Row => ({ ...n, invoice_id: invoiceId });

@Injectable()
export class Notifications {
  private readonly receiver: Buffer;

  /** `receiverUrl`: the address of the receiver, or null. The store keeps only its hash. */
  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
    receiverUrl: string | null,
  ) {
    this.receiver = createHash('sha256')
      .update(receiverUrl ?? '')
      .digest();
  }

  /** The database's time. */
  time(): Promise<Date> {
    return readTime(this.db.pool, this.clock);
  }

  /** Stores notifications. An existing id keeps its notification unchanged. */
  async add(rows: readonly NewNotification[]): Promise<void> {
    if (rows.length === 0) return;
    const now = await this.time();
    await this.db.pool.query(NOTIFY_SQL(2), [now, jsonText(rows.map(storedNotification))]);
  }

  /**
   * Finds facts outside the lanes without a notification. A review item counts as due soon `soonMs` before its
   * deadline.
   */
  async untold(soonMs: number): Promise<Unnotified> {
    const unnotified = (type: string, subject: string): string =>
      `not exists (select from notification n where n.type = '${type}' and n.subject = ${subject})`;
    const now = this.clock.given();
    const opened = await this.db.pool.query<Row>(
      `select ${UNNOTIFIED_REVIEW} where r.status = 'open' and r.created_at > ${timeSql(1)} - ${NEWS_FOR}
          and ${unnotified('review.opened', 'r.id')} order by r.seq limit ${MOST_UNNOTIFIED}`,
      [now],
    );
    const dueSoon = await this.db.pool.query<Row>(
      `select ${UNNOTIFIED_REVIEW} where r.status = 'open' and r.due_at > ${timeSql(1)} and r.due_at <= ${laterSql(1, 2)}
          and not exists (select from notification n where n.type = 'review.due_soon'
            and n.subject = r.id || ':' || to_char(r.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        order by r.due_at limit ${MOST_UNNOTIFIED}`,
      [now, soonMs],
    );
    const reviews = (rows: readonly Row[]): readonly UnnotifiedReview[] =>
      rows.map((r) => ({
        ...fromRow(REVIEW, r),
        customerId: r['customer_id'] as string | null,
        subscriptionId: r['subscription_id'] as string | null,
      }));
    return { opened: reviews(opened.rows), dueSoon: reviews(dueSoon.rows) };
  }

  /**
   * Takes up to `limit` due notifications. Each is due again after `againInMs`, in case this process dies. After a 410
   * of the receiver, takes none until `markGone(false)`.
   */
  async take(limit: number, againInMs: number): Promise<readonly TakenNotification[]> {
    const taken = await this.db.pool.query<TakenNotification>({
      name: 'take_notifications',
      text: `
        with due as materialized (
          select id from notification where status = 'pending' and next_try_at <= ${timeSql(1)}
             and not exists (select from notification_receiver where url_sha256 = $4)
           order by next_try_at, seq limit (select $2::int) for update skip locked),
        taken as (
          update notification n set attempts = n.attempts + 1, next_try_at = ${laterSql(1, 3)}
           where n.id = any (array(select id from due)) returning n.id, n.body, n.attempts, n.seq)
        select id, body, attempts from taken order by seq`,
      values: [this.clock.given(), limit, againInMs, this.receiver],
    });
    return taken.rows;
  }

  /** Stores the result of a delivery. `retryInMs` null: there is no further try. */
  async settle({ id, attempts }: TakenNotification, result: DeliveryResult, retryInMs: number | null): Promise<void> {
    const { outcome, status, why, elapsedMs } = result;
    const gone = outcome === 'gone';
    const [next, counted] = [outcome === 'delivered' ? null : retryInMs, gone ? attempts - 1 : attempts];
    await this.db.pool.query(
      `update notification n
          set tries = jsonb_path_query_array(n.tries || jsonb_build_array(jsonb_build_object(
                'at', ${timeSql(1)}, 'status', $4::int, 'why', $5::text, 'elapsedMs', $6::int)), '$[last - ${TRIES_KEPT - 1} to last]'),
              status = case when ${OURS} then $7::text else n.status end,
              next_try_at = case when ${OURS} then ${laterSql(1, 8)} else n.next_try_at end,
              attempts = case when ${OURS} then $9::int else n.attempts end,
              delivered_at = case when ${OURS} and $7 = 'delivered' then ${timeSql(1)} else n.delivered_at end
        where n.id = $2`,
      [
        this.clock.given(),
        id,
        attempts,
        status,
        why,
        elapsedMs,
        outcome === 'delivered' ? 'delivered' : next === null ? 'dead' : 'pending',
        next,
        counted,
      ],
    );
  }

  /** Records if the receiver at this address has stopped notifications (410), or accepts them again. */
  async markGone(gone: boolean): Promise<void> {
    if (!gone) await this.db.pool.query('delete from notification_receiver where url_sha256 = $1', [this.receiver]);
    else {
      await this.db.pool.query(
        `insert into notification_receiver (url_sha256, gone_at) values ($2, ${timeSql(1)}) on conflict do nothing`,
        [this.clock.given(), this.receiver],
      );
    }
  }

  async list(
    { status, type, ...span }: NotificationFilter,
    { limit, cursor }: PageRequest,
  ): Promise<Page<NotificationRow>> {
    if (cursor !== null && !/^\d{1,18}$/.test(cursor)) throw new BadCursor('not a cursor of this list');
    const led = listLedBy({ type, status }, ['type', 'status'], 'seq');
    const parameters = new Parameters();
    for (const value of [cursor ?? '9223372036854775807', limit + 1, ...led.values]) parameters.of(value);
    const numbers = await numbersWithin(this.db.orm, 'notification', 'created_at', span, 'seq');
    const when = numberedWithin('seq', { at: 'created_at', span, numbers }, parameters)
      .map((c) => ` and ${c}`)
      .join('');
    const found = await this.db.pool.query<Row>(
      `select ${COLUMNS}, seq from notification where seq < $1 and ${led.where}${when} order by ${led.order} limit $2`,
      parameters.values,
    );
    const rows = found.rows.slice(0, limit);
    const more = found.rows.length > limit ? rows.at(-1) : undefined;
    return { data: rows.map(rowOf), nextCursor: more === undefined ? null : (more['seq'] as string) };
  }

  async one(id: string): Promise<NotificationRow | null> {
    const found = await this.db.pool.query<Row>(`select ${COLUMNS} from notification where id = $1`, [id]);
    const row = found.rows[0];
    return row === undefined ? null : rowOf(row);
  }

  /**
   * Sends the notification again, beginning with the first try, even to a receiver that replied 410. Null: there is no
   * such notification.
   */
  async replay(id: string): Promise<NotificationRow | null> {
    const again = await this.db.pool.query<Row>(
      `update notification set status = 'pending', attempts = 0, next_try_at = ${timeSql(1)} where id = $2 returning ${COLUMNS}`,
      [this.clock.given(), id],
    );
    const row = again.rows[0];
    if (row === undefined) return null;
    await this.markGone(false);
    return rowOf(row);
  }

  /** The oldest `LISTED_AT_ONCE` notifications stored since `at`, oldest first. */
  async since(at: Date): Promise<readonly NotificationRow[]> {
    const found = await this.db.pool.query<Row>(
      `select ${COLUMNS} from notification where created_at >= $1 order by created_at, seq limit ${LISTED_AT_ONCE}`,
      [at],
    );
    return found.rows.map(rowOf);
  }

  async status(): Promise<NotificationStatus> {
    const found = await this.db.pool.query<{ pending: string; dead: string; oldest: Date | null; gone: Date | null }>(
      `select (select count(*) from notification where status = 'pending') as pending,
              (select count(*) from notification where status = 'dead') as dead,
              (select min(created_at) from notification where status = 'pending') as oldest,
              (select gone_at from notification_receiver where url_sha256 = $1) as gone`,
      [this.receiver],
    );
    const { pending = '0', dead = '0', oldest = null, gone = null } = found.rows[0] ?? {};
    return { pending: Number(pending), dead: Number(dead), oldestPendingAt: oldest, goneAt: gone };
  }

  /** Deletes delivered and dead notifications older than `days`. Returns their number. */
  async forget(days: number): Promise<number> {
    const gone = await this.db.pool.query(
      `delete from notification where status <> 'pending' and created_at < ${timeSql(1)} - $2::int * interval '1 day'`,
      [this.clock.given(), days],
    );
    return gone.rowCount ?? 0;
  }
}

/** A row from the database. The table's own checks guarantee its columns. */
function rowOf(row: Row): NotificationRow {
  const tries = row['tries'] as readonly (Omit<NotificationRow['tries'][number], 'at'> & { readonly at: string })[];
  return {
    id: row['id'] as string,
    type: row['type'] as NotificationRow['type'],
    subject: row['subject'] as string,
    invoiceId: row['invoice_id'] as string | null,
    format: row['format'] as NotificationRow['format'],
    body: row['body'] as string,
    at: row['created_at'] as Date,
    status: row['status'] as NotificationRow['status'],
    attempts: row['attempts'] as number,
    tries: tries.map((t) => ({ ...t, at: new Date(t.at) })),
    nextTryAt: row['next_try_at'] as Date | null,
    deliveredAt: row['delivered_at'] as Date | null,
  };
}
