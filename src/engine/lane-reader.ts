// Reads lanes: the fold of their logs, and the events that wait to be decided.
import type pg from 'pg';
import { type LaneState, type ReviewRow } from '../domain/model.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { LaneUnreadable, type WaitingEvent } from './lane-store.js';
import { columnList, fromRow, REVIEW } from '../store/codec.js';
import { type DatabaseTime, readTime } from '../store/database-time.js';
import { bodyOf } from '../store/event-bodies.js';
import { fold, type Folded, type LoggedRow, storyOf, withLooseReviews } from './lane-log.js';

type Row = Record<string, unknown>;
type Db = pg.Pool | pg.PoolClient;

/** Events decided or routed in one go; the rest of a lane's backlog follows in the next. */
export const EVENTS_AT_ONCE = 50;

/** More than a snapshot's distance, so that nearly every lane is read with one look at its newest rows. */
const ROWS_AT_ONCE = 40;
const LOG_COLUMNS = 'lane, version, at, at_rest, snapshot, change, bodies';

export type Loaded = {
  readonly folded: Folded;
  /** To be decided now, oldest first. */
  readonly events: readonly WaitingEvent[];
  /** When more of them are to be decided; null: there are none. */
  readonly moreAt: Date | null;
};

/**
 * Reads lanes in one flight, and the events of those of `withEvents`. `now`: the database's time at which they were read. Throws
 * LaneUnreadable for the first that cannot be.
 */
export async function loadLanes(
  db: Db,
  lanes: readonly string[],
  time: DatabaseTime,
  withEvents: ReadonlySet<string>,
): Promise<{ readonly now: Date; readonly lanes: ReadonlyMap<string, Loaded> }> {
  const [now, logs, loose, undecided] = await Promise.all([
    readTime(db, time),
    newestRows(db, lanes),
    looseReviews(db, lanes),
    undecidedEvents(db, [...withEvents]),
  ]);
  const out = new Map<string, Loaded>();
  for (const lane of lanes) {
    const rows = enough(logs.get(lane) ?? []) ?? (await allRows(db, lane));
    const folded = withLooseReviews(foldOf(lane, rows), loose.get(lane) ?? []);
    out.set(lane, { folded, ...waitingOf(undecided.get(lane) ?? [], now) });
  }
  return { now, lanes: out };
}

/** Throws LaneUnreadable. */
export function foldOf(lane: string, rows: readonly LoggedRow[]): Folded {
  try {
    return fold(lane, rows);
  } catch (e) {
    throw new LaneUnreadable(lane, e);
  }
}

/** The rows from the newest snapshot on, or from the first; null: more have to be read to find either. */
function enough(rows: readonly LoggedRow[]): readonly LoggedRow[] | null {
  const at = rows.findLastIndex((r) => r.snapshot);
  if (at >= 0) return rows.slice(at);
  return rows.length === 0 || rows[0]?.version === 1 ? rows : null;
}

async function newestRows(db: Db, lanes: readonly string[]): Promise<ReadonlyMap<string, readonly LoggedRow[]>> {
  const found = await db.query<LoggedRow>({
    name: 'load_log',
    text: `select r.* from unnest($1::text[]) as w(wanted) cross join lateral (
             select ${LOG_COLUMNS} from lane_log where lane = w.wanted order by version desc limit ${ROWS_AT_ONCE}) r
            order by r.lane, r.version`,
    values: [lanes],
  });
  return grouped(found.rows, (r) => r.lane);
}

/** All that is known of a lane as its log tells it: the state that was written last, and its story. */
export async function readLane(
  db: Db,
  lane: string,
): Promise<{ readonly state: LaneState; readonly story: ReturnType<typeof storyOf> }> {
  const rows = await allRows(db, lane);
  const loose = await looseReviews(db, [lane]);
  return { state: withLooseReviews(fold(lane, rows), loose.get(lane) ?? []).state, story: storyOf(rows) };
}

/** Everything that was ever written of a lane, oldest first. */
export async function allRows(db: Db, lane: string): Promise<readonly LoggedRow[]> {
  const found = await db.query<LoggedRow>(`select ${LOG_COLUMNS} from lane_log where lane = $1 order by version`, [
    lane,
  ]);
  return found.rows;
}

async function looseReviews(db: Db, lanes: readonly string[]): Promise<ReadonlyMap<string, readonly ReviewRow[]>> {
  const found = await db.query<Row>({
    name: 'load_review',
    text: `select ${columnList(REVIEW)} from review where invoice_id = any($1) order by seq`,
    values: [lanes],
  });
  return grouped(
    found.rows.map((r) => fromRow(REVIEW, r)),
    (r) => r.invoiceId ?? '',
  );
}

async function undecidedEvents(db: Db, lanes: readonly string[]): Promise<ReadonlyMap<string, readonly Row[]>> {
  if (lanes.length === 0) return new Map();
  const waiting = await db.query<Row>({
    name: 'load_waiting_events',
    text: `select e.* from unnest($1::text[]) as w(wanted) cross join lateral (
             select id, source, event_id, type, lane, ${bodyOf('e')} as body, received_at, attempts, next_try_at from inbox_event e
              where e.lane = w.wanted and e.status = 'received' order by id limit ${EVENTS_AT_ONCE + 1}) e
            order by e.id`,
    values: [lanes],
  });
  return grouped(waiting.rows, (r) => r['lane'] as string);
}

/** Those to decide now. After a failure they are decided one by one, so that a bad one does not hold the others. */
function waitingOf(rows: readonly Row[], now: Date): Omit<Loaded, 'folded'> {
  const due = rows.filter((r) => (r['next_try_at'] as Date).getTime() <= now.getTime()).map(waitingEvent);
  const events = due.slice(0, due.some((e) => e.attempts > 0) ? 1 : EVENTS_AT_ONCE);
  const later = rows.filter((r) => !events.some((e) => e.id.toString() === r['id']));
  const times = later.map((r) => (r['next_try_at'] as Date).getTime());
  return { events, moreAt: times.length === 0 ? null : new Date(Math.min(...times)) };
}

/** An event of the inbox that waits, from its row. */
export function waitingEvent(r: Row): WaitingEvent {
  return {
    id: BigInt(r['id'] as string),
    source: r['source'] as InboxSource,
    eventId: r['event_id'] as string,
    type: r['type'] as string,
    lane: r['lane'] as string,
    body: Buffer.isBuffer(r['body']) ? r['body'] : Buffer.alloc(0),
    receivedAt: r['received_at'] as Date,
    attempts: r['attempts'] as number,
  };
}

function grouped<T>(rows: readonly T[], by: (row: T) => string): ReadonlyMap<string, T[]> {
  const out = new Map<string, T[]>();
  for (const row of rows) {
    const list = out.get(by(row));
    if (list === undefined) out.set(by(row), [row]);
    else list.push(row);
  }
  return out;
}
