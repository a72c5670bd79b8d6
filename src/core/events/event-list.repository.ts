// Lists the events of inbox and quarantine together, in SQL.
import type pg from 'pg';
import { type EventSource, type InboxSource } from '../../shared/domain/ports/inbox.js';
import { BadCursor, type Page, type PageRequest, type Span } from '../../shared/domain/page.js';
import { type Database } from '../../frames/store/database.js';
import { bodyOf } from '../../frames/store/event-bodies.js';
import { LIST_PARAMETERS, listLedBy } from '../../frames/store/led-by.js';
import { numbersWithin } from '../../frames/store/number-at.js';
import { QUEUED } from '../../frames/store/queue.js';
import { maskCards } from '../../shared/masks/card-numbers.js';

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
  /** The note of the person who dismissed the event. Null: there is none, or an erasure removed it. */
  readonly note: string | null;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly decidedAt: Date | null;
  /** The number of the event's invoice. Absent: not loaded. */
  readonly invoiceNumber?: string | null;
};

export type Row = Record<string, unknown>;

/** Reads the cursor `<inbox id>.<quarantine id>`: the progress in each of the two tables. */
function startOf(cursor: string | null): [string, string] {
  const end = '9223372036854775807';
  if (cursor === null) return [end, end];
  const match = /^(\d{1,18})\.(\d{1,18})$/.exec(cursor);
  if (match === null) throw new BadCursor('the cursor is not one of ours');
  return [match[1] ?? end, match[2] ?? end];
}

const COLUMNS = 'id, source, event_id, type, lane, received_at';

// The SQL condition for the quarantined copies in the list. The list leaves out a released copy. It also leaves out a
// copy if the inbox has the event with the same bytes.
export const NOT_TAKEN_IN = `q.released_at is null and not exists (
  select 1 from inbox_event i where i.source = q.source and i.event_id = q.event_id and i.body_sha256 = q.body_sha256)`;

const INBOX_COLUMNS = `${COLUMNS}, status, reason, note, attempts, decided_at`;

// The condition of a partial index. The planner needs exactly this text.
const ASIDE = 'aside is not null';

const LISTED = `source in ('crossbill', 'mor_events', 'mor_payments')`;

// The unique index is on source and event id. So a search by event id alone names every source, and PostgreSQL can use
// the index.
const ANY_SOURCE = `source in ('stripe', 'mor_payments', 'mor_events', 'crossbill')`;

/**
 * Lists events of the inbox, newest first: at most `count` events with a number below `before`. A filter with few
 * matches has an index, so this query never reads the whole inbox.
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
      : // a partial index finds these few events: read all, then sort
        `with few as materialized (${all}) select * from few where id < $1 order by id desc limit $2`;
  return (await pool.query<Row>(sql, [before, count, ...list.values, ...arrived.values])).rows.map(inboxEvent);
}

/** The newest event of a sender. Null if none has arrived. */
export async function newestEvent(pool: pg.Pool, source: InboxSource): Promise<EventRow | null> {
  return (await inboxRows(pool, { source }, startOf(null)[0], 1))[0] ?? null;
}

/** A page of events, newest first, by the time of arrival. */
export async function eventPage(
  { pool, orm }: Database,
  filter: EventFilter,
  page: PageRequest,
): Promise<Page<EventRow>> {
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

/** The SQL condition for a span of arrival times. `given`: the number of filter parameters already in the statement. */
function receivedWithin({ since, until }: Span, given: number): { readonly where: string; readonly values: Date[] } {
  const times = [
    { is: '>=', time: since },
    { is: '<', time: until },
  ].filter((t): t is { is: string; time: Date } => t.time !== undefined);
  const where = times.map(({ is }, i) => `received_at ${is} $${LIST_PARAMETERS + given + i + 1}`);
  return { where: where.join(' and ') || 'true', values: times.map(({ time }) => time) };
}

/**
 * Merges two lists by time of arrival, newest first. Within each list the events stay in the order of their ids. The
 * cursor remembers one id for each list, so with another order the next page would skip events.
 */
function merged(one: readonly EventRow[], other: readonly EventRow[]): EventRow[] {
  const out: EventRow[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const x = one[i];
    const y = other[j];
    if (x === undefined || y === undefined) return [...out, ...one.slice(i), ...other.slice(j)];
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

function inboxEvent(row: Row): EventRow {
  return {
    ...common(row),
    id: `ie_${row['id'] as string}`,
    status: row['status'] as EventStatus,
    decidedAt: row['decided_at'] as Date | null,
  };
}

function quarantined(row: Row): EventRow {
  return { ...common(row), id: `iq_${row['id'] as string}`, status: 'quarantined', decidedAt: null };
}

/** A card number never shows, even in a text from before an earlier release masked it. */
const shownText = (stored: unknown): string | null => (typeof stored === 'string' ? maskCards(stored) : null);

export function common(row: Row): Omit<EventRow, 'id' | 'status' | 'decidedAt'> {
  return {
    source: row['source'] as EventSource,
    eventId: row['event_id'] as string,
    type: row['type'] as string,
    lane: row['lane'] as string,
    reason: shownText(row['reason']),
    note: shownText(row['note']),
    attempts: row['attempts'] as number,
    receivedAt: row['received_at'] as Date,
  };
}
