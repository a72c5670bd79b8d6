// The inbox and the quarantine as one list of events, and the one act of an operator: to decide an event again.
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { type EventSource, type InboxSource } from '../domain/ports/inbox.js';
import { BadCursor, type Page, type PageRequest, type Span } from '../domain/page.js';
import { isBareEventLane } from '../domain/events/channel-lane.js';
import { laneAgain } from '../domain/events/place.js';
import { DatabaseTime, timeSql } from '../store/database-time.js';
import { Database, inTransaction } from '../store/database.js';
import { invoiceNumbers } from '../engine/read-model.js';
import { bodyOf, hasBody } from '../store/event-bodies.js';
import { makeDue, QUEUED } from '../store/queue.js';
import { type Copy, isRepeat, tellConflict } from '../store/second-body.js';
import { LIST_PARAMETERS, listLedBy } from '../store/led-by.js';
import { numbersWithin } from '../store/number-at.js';

export type EventFilter = Span & {
  readonly source?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly eventId?: string | undefined;
};

export type EventStatus = 'received' | 'done' | 'ignored' | 'parked' | 'quarantined';

export type EventRow = {
  /** `ie_…` in the inbox, `iq_…` in quarantine. */
  readonly id: string;
  readonly source: EventSource;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
  readonly status: EventStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly decidedAt: Date | null;
  /** Of its invoice; left out: nobody asked for it. */
  readonly invoiceNumber?: string | null;
};

const SENDERS = ['stripe', 'mor_payments', 'mor_events'] as const satisfies readonly InboxSource[];

type Row = Record<string, unknown>;

/** `<inbox id>.<quarantine id>`: the progress in each of the two tables. */
function startOf(cursor: string | null): [string, string] {
  const end = '9223372036854775807';
  if (cursor === null) return [end, end];
  const match = /^(\d{1,18})\.(\d{1,18})$/.exec(cursor);
  if (match === null) throw new BadCursor('the cursor is not one of ours');
  return [match[1] ?? end, match[2] ?? end];
}

const COLUMNS = 'id, source, event_id, type, lane, received_at';

// A copy in quarantine leaves the list once the inbox took the same bytes after all.
const NOT_TAKEN_IN = `q.released_at is null and not exists (
  select 1 from inbox_event i where i.source = q.source and i.event_id = q.event_id and i.body_sha256 = q.body_sha256)`;

const INBOX_COLUMNS = `${COLUMNS}, status, reason, attempts, decided_at`;

// The words of the partial indexes: the planner must see they hold all matching rows.
const ASIDE = 'aside is not null';

const LISTED = `source in ('crossbill', 'mor_events', 'mor_payments')`;

// Looks for a bare id under each source: so the unique index finds it.
const ANY_SOURCE = `source in ('stripe', 'mor_payments', 'mor_events', 'crossbill')`;

/**
 * The newest first: events before the number `before`, at most `count`. Never walks back from the newest event until
 * enough of them match, unless matches are always near.
 */
async function inboxRows(
  pool: pg.Pool,
  filter: EventFilter,
  before: string,
  count: number,
  above = '0',
): Promise<EventRow[]> {
  const { source, status, type, eventId } = filter;
  const aside = status === 'parked' || (status === 'ignored' && type === undefined);
  const isListed = source !== undefined && source !== 'stripe' && type === undefined && !aside;
  const few = eventId !== undefined ? ANY_SOURCE : status === 'received' ? `lane = any (${QUEUED})` : null;
  const [lead, and] = aside ? ['aside', ASIDE] : isListed ? ['source', LISTED] : ['type', 'true'];
  const named = aside ? { aside: status } : { status };
  const list = listLedBy({ source, ...named, type, event_id: eventId }, few === null ? [lead] : [], 'id');
  const arrived = receivedWithin(filter, list.values.length);
  const all = `select ${INBOX_COLUMNS} from inbox_event where ${list.where} and ${few ?? and} and ${arrived.where}`;
  const sql =
    few === null
      ? `${all} and id < $1 and id > ${above} order by ${list.order} limit $2`
      : // Their own index finds all of them; sort them afterwards.
        `with few as materialized (${all}) select * from few where id < $1 order by id desc limit $2`;
  return (await pool.query<Row>(sql, [before, count, ...list.values, ...arrived.values])).rows.map(inboxEvent);
}

/** The newest event of a sender; null: none ever came. */
async function newestEvent(pool: pg.Pool, source: InboxSource): Promise<EventRow | null> {
  return (await inboxRows(pool, { source }, startOf(null)[0], 1))[0] ?? null;
}

/** Newest first, by the time of arrival. */
async function eventPage({ pool, orm }: Database, filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
  const [inboxBefore, quarantineBefore] = startOf(page.cursor);
  const { source, status, type, eventId } = filter;
  const { above, below } = await numbersWithin(orm, 'inbox_event', 'received_at', filter);
  const before = BigInt(below) < BigInt(inboxBefore) ? below : inboxBefore;
  const inbox = status === 'quarantined' ? [] : await inboxRows(pool, filter, before, page.limit + 1, above);
  const copies = listLedBy({ source, type, event_id: eventId }, [], 'id');
  const arrived = receivedWithin(filter, copies.values.length);
  const quarantine =
    status !== undefined && status !== 'quarantined'
      ? []
      : (
          await pool.query<Row>(
            `select ${COLUMNS}, reason, deliveries as attempts from inbox_quarantine q
              where id < $1 and ${copies.where} and ${arrived.where} and ${eventId === undefined ? 'true' : ANY_SOURCE} and ${NOT_TAKEN_IN}
              order by ${copies.order} limit $2`,
            [quarantineBefore, page.limit + 1, ...copies.values, ...arrived.values],
          )
        ).rows.map(quarantined);
  const all = merged(inbox, quarantine);
  const data = all.slice(0, page.limit);
  const lastOf = (prefix: string, from: string): string =>
    data
      .filter((e) => e.id.startsWith(prefix))
      .at(-1)
      ?.id.slice(prefix.length) ?? from;
  const nextCursor =
    all.length > page.limit
      ? `${lastOf('ie_', inboxBefore).slice(0, 18)}.${lastOf('iq_', quarantineBefore).slice(0, 18)}`
      : null;
  return { data, nextCursor };
}

/** After the parameters of a list with `given` values. */
function receivedWithin({ since, until }: Span, given: number): { readonly where: string; readonly values: Date[] } {
  const times = [
    { is: '>=', time: since },
    { is: '<', time: until },
  ].filter((t): t is { is: string; time: Date } => t.time !== undefined);
  const where = times.map(({ is }, i) => `received_at ${is} $${LIST_PARAMETERS + given + i + 1}`);
  return { where: where.join(' and ') || 'true', values: times.map(({ time }) => time) };
}

/** Newer arrival first, each list in its own order: a cursor counts ids, so skip none. */
function merged(a: readonly EventRow[], b: readonly EventRow[]): EventRow[] {
  const out: EventRow[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const x = a[i];
    const y = b[j];
    if (x === undefined || y === undefined) return [...out, ...a.slice(i), ...b.slice(j)];
    if (x.receivedAt >= y.receivedAt) out.push((i++, x));
    else out.push((j++, y));
  }
}

export async function eventById(
  pool: pg.Pool,
  id: string,
): Promise<(EventRow & { readonly body: Buffer | null }) | null> {
  const match = /^(ie|iq)_(\d{1,18})$/.exec(id);
  if (match === null) return null;
  const found =
    match[1] === 'ie'
      ? await pool.query<Row>(`select ${INBOX_COLUMNS}, ${bodyOf('e')} as body from inbox_event e where id = $1`, [
          match[2],
        ])
      : await pool.query<Row>(
          `select ${COLUMNS}, reason, deliveries as attempts, body from inbox_quarantine where id = $1`,
          [match[2]],
        );
  const row = found.rows[0];
  if (row === undefined) return null;
  const event = match[1] === 'ie' ? inboxEvent(row) : quarantined(row);
  return { ...event, body: Buffer.isBuffer(row['body']) ? row['body'] : null };
}

function inboxEvent(r: Row): EventRow {
  return {
    ...common(r),
    id: `ie_${r['id'] as string}`,
    status: r['status'] as EventStatus,
    decidedAt: r['decided_at'] as Date | null,
  };
}

function quarantined(r: Row): EventRow {
  return { ...common(r), id: `iq_${r['id'] as string}`, status: 'quarantined', decidedAt: null };
}

function common(r: Row): Omit<EventRow, 'id' | 'status' | 'decidedAt'> {
  return {
    source: r['source'] as EventSource,
    eventId: r['event_id'] as string,
    type: r['type'] as string,
    lane: r['lane'] as string,
    reason: r['reason'] as string | null,
    attempts: r['attempts'] as number,
    receivedAt: r['received_at'] as Date,
  };
}

@Injectable()
export class EventsStore {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** The newest first, by the time of arrival. Throws BadCursor. */
  list(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
    return eventPage(this.db, filter, page);
  }

  /** The list with the numbers of the invoices. */
  async numbered(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
    const { data, nextCursor } = await this.list(filter, page);
    const numbers = await invoiceNumbers(
      this.db.orm,
      data.map((e) => ({ invoiceId: e.lane })),
    );
    return { data: data.map((e) => ({ ...e, invoiceNumber: numbers.get(e.lane) ?? null })), nextCursor };
  }

  find(id: string): Promise<(EventRow & { readonly body: Buffer | null }) | null> {
    return eventById(this.db.pool, id);
  }

  /** The newest event of each source; a source without any is not in it. */
  async newest(): Promise<readonly EventRow[]> {
    const found = await Promise.all(SENDERS.map((source) => newestEvent(this.db.pool, source)));
    return found.filter((e) => e !== null);
  }

  /** When each source's newest event came; null: none ever did. */
  async lastEvents(): Promise<readonly { readonly source: InboxSource; readonly at: Date | null }[]> {
    const newest = await this.newest();
    return SENDERS.map((source) => ({ source, at: newest.find((e) => e.source === source)?.receivedAt ?? null }));
  }

  /** Copies in quarantine not taken in. */
  async quarantined(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>(
      `select count(*) as n from inbox_quarantine q where released_at is null and not exists (
         select 1 from inbox_event i where i.source = q.source and i.event_id = q.event_id and i.body_sha256 = q.body_sha256)`,
    );
    return Number(found.rows[0]?.n ?? 0);
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

  /**
   * Gives an event another decision: a parked or decided one of the inbox (`ie_…`), or an authentic one from quarantine
   * (`iq_…`), moved into the inbox. Returns the inbox id; null: there is no such event.
   */
  async retry(id: string): Promise<string | null> {
    const match = /^(ie|iq)_(\d{1,18})$/.exec(id);
    if (match === null) return null;
    const number = match[2] ?? '';
    return inTransaction(this.db.pool, async (db) => {
      if (match[1] === 'iq') return this.release(db, number);
      return (await this.again(db, number)) ? id : null;
    });
  }

  /** Unique rows stay unique for good: deciding an event a second time has no second effect. */
  private async again(db: pg.ClientBase, id: string): Promise<boolean> {
    const found = await db.query<{ source: InboxSource; lane: string; body: Buffer }>(
      `select e.source, e.lane, ${bodyOf('e')} as body from inbox_event e where id = $1 and ${hasBody('e')} for update of e`,
      [id],
    );
    const [event] = found.rows;
    if (event === undefined) return false;
    const lane = laneAgain(event.source, event.lane, event.body);
    const now = this.time.given();
    await db.query(
      `with again as (
         update inbox_event set lane = $3, status = 'received', reason = null, attempts = 0, decided_at = null, next_try_at = ${timeSql(2)}
          where id = $1 returning lane)
       ${makeDue(`select lane, ${timeSql(2)}, 1 from again`)}`,
      [id, now, lane],
    );
    return true;
  }

  /**
   * Closes a parked event for good, with the reason: ignored from then on, but open to another decision. False: it is
   * not parked.
   */
  async dismiss(id: string, why: string): Promise<boolean> {
    const number = /^ie_(\d{1,18})$/.exec(id)?.[1];
    if (number === undefined) return false;
    const closed = await this.db.pool.query(
      `update inbox_event set status = 'ignored', reason = $2, decided_at = ${timeSql(3)} where id = $1 and status = 'parked'`,
      [number, why, this.time.given()],
    );
    return closed.rowCount === 1;
  }

  /**
   * Takes a copy from quarantine into the inbox. If its event is there already, this one gets another decision, and the
   * copy is done with; for another event under the same id a person gets an item.
   */
  private async release(db: pg.ClientBase, id: string): Promise<string | null> {
    const copy = await db.query<Row>('select * from inbox_quarantine where id = $1 for update', [id]);
    const q = copy.rows[0];
    if (q === undefined || q['body'] === null || q['second_body'] === true) return null;
    const [source, lane, body] = [q['source'] as InboxSource, q['lane'] as string, q['body'] as Buffer];
    const taken = await db.query<{ id: string; lane: string }>(
      `with taken as (
         insert into inbox_event as e (source, event_id, type, lane, body_sha256, status, received_at, next_try_at)
         select source, event_id, type, $3, body_sha256, 'received', received_at, ${timeSql(2)} from inbox_quarantine where id = $1
         on conflict (source, event_id) do update
           set lane = case when e.lane = $4 then $3 else e.lane end, status = 'received', reason = null, attempts = 0, decided_at = null, next_try_at = excluded.next_try_at
           where e.body_sha256 = excluded.body_sha256
         returning id, lane, received_at),
       kept as (
         insert into event_body (event_id, received_at, body)
         select t.id, t.received_at, q.body from taken t, inbox_quarantine q where q.id = $1 on conflict do nothing)
       select id, lane from taken`,
      [id, this.time.given(), laneAgain(source, lane, body), lane],
    );
    const [event] = taken.rows;
    if (event === undefined) return this.compare(db, id, { ...common(q), source, lane, body });
    await db.query(makeDue(`values ($1::text, ${timeSql(2)}, 1)`), [event.lane, this.time.given()]);
    await this.released(db, id);
    return `ie_${event.id}`;
  }

  /** Other bytes than the copy's came under its id meanwhile. */
  private async compare(db: pg.ClientBase, id: string, copy: Copy): Promise<string | null> {
    const found = await db.query<{ id: string; body: Buffer | null }>(
      `select e.id, ${bodyOf('e')} as body from inbox_event e where e.source = $1 and e.event_id = $2`,
      [copy.source, copy.eventId],
    );
    const [known] = found.rows;
    if (known === undefined) return null;
    if (!isRepeat(known.body, copy)) {
      await tellConflict(db, copy, !isBareEventLane(copy.lane), this.time);
      return null;
    }
    await this.again(db, known.id);
    await this.released(db, id);
    return `ie_${known.id}`;
  }

  private async released(db: pg.ClientBase, id: string): Promise<void> {
    await db.query(`update inbox_quarantine set released_at = ${timeSql(2)} where id = $1`, [id, this.time.given()]);
  }
}
