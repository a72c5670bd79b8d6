// Reads lanes: their state from the logs, and the events waiting for a decision.
import type pg from 'pg';
import { type LaneState } from '../shared/domain/model.js';
import { type EventSource } from '../shared/domain/ports/inbox.js';
import { LaneUnreadable, type WaitingEvent } from './lane.repository.js';
import { type DatabaseTime, timeSql } from '../frames/store/database-time.js';
import { type ParsedEvents } from './parsed-events.js';
import { bodyOf } from '../frames/store/event-bodies.js';
import { fold, type Folded, type LoggedRow, storyOf } from './lane-log.js';

type Row = Record<string, unknown>;
type Db = pg.Pool | pg.PoolClient;

/** One step decides at most this many events. The lane's other events follow in the next step. */
export const EVENTS_AT_ONCE = 50;

/** A read takes this many of a lane's newest rows. They nearly always contain a snapshot, so one read is enough. */
const ROWS_AT_ONCE = 40;
const LOG_COLUMNS = 'lane, version, at, at_rest, snapshot, change, bodies';

export type Loaded = {
  readonly folded: Folded;
  /** The events to decide now, oldest first. */
  readonly events: readonly WaitingEvent[];
  /** The earliest due time of the waiting events outside `events`. Null: there are none. */
  readonly moreAt: Date | null;
};

/**
 * Reads lanes with one statement, and the events of the lanes in `withEvents`. `parsed`: the events this process has
 * parsed. `now` is the database's time of the read. Throws `LaneUnreadable` for the first unreadable lane.
 */
export async function loadLanes(
  db: Db,
  lanes: readonly string[],
  {
    time,
    withEvents,
    parsed,
  }: { readonly time: DatabaseTime; readonly withEvents: ReadonlySet<string>; readonly parsed: ParsedEvents },
): Promise<{ readonly now: Date; readonly lanes: ReadonlyMap<string, Loaded> }> {
  const found = await db.query<LoadedRow>({
    name: 'load',
    text: LOAD_SQL,
    values: [lanes, time.given(), [...withEvents]],
  });
  const of = (what: LoadedRow['what']): ReadonlyMap<string, LoadedRow[]> =>
    grouped(
      found.rows.filter((r) => r.what === what),
      (r) => r.lane,
    );
  const [log, events] = [of('log'), of('event')];
  const now = found.rows.find((r) => r.what === 'now')?.at;
  if (now === undefined) throw new Error('the database did not say the time');
  const out = new Map<string, Loaded>();
  for (const lane of lanes) {
    const newest = (log.get(lane) ?? []).map((r): LoggedRow => ({ ...r, version: Number(r.id) }));
    const rows = enough(newest) ?? (await allRows(db, lane));
    out.set(lane, { folded: foldOf(lane, rows), ...waitingOf(events.get(lane) ?? [], now, parsed) });
  }
  return { now, lanes: out };
}

/** A row from `LOAD_SQL`: the time, a row of the log, or an event. */
type LoadedRow = Row &
  Omit<LoggedRow, 'version'> & {
    readonly what: 'now' | 'log' | 'event';
    readonly id: string;
    readonly attempts: number | null;
    readonly next_try_at: Date;
  };

// A single statement reads all its parts as of one moment. Each part reads by an index, and the first part names the
// columns.
const LOAD_SQL = `
  select 'now' as what, null::text as lane, null::bigint as id, ${timeSql(2)} as at, null::boolean as at_rest, null::boolean as snapshot,
         null::json as change, null::json as bodies, null::text as source, null::text as event_id, null::text as type, null::bytea as body,
         null::integer as attempts, null::timestamptz as next_try_at
   union all
  (select 'log', r.lane, r.version, r.at, r.at_rest, r.snapshot, r.change, r.bodies, null, null, null, null, null, null
     from unnest($1::text[]) as w(wanted) cross join lateral (
          select ${LOG_COLUMNS} from lane_log where lane = w.wanted order by version desc limit ${ROWS_AT_ONCE}) r
    order by r.lane, r.version)
   union all
  (select 'event', e.lane, e.id, e.received_at, null, null, null, null, e.source, e.event_id, e.type, e.body, e.attempts, e.next_try_at
     from unnest($3::text[]) as w(wanted) cross join lateral (
          select id, source, event_id, type, lane, ${bodyOf('e')} as body, received_at, attempts, next_try_at from inbox_event e
           where e.lane = w.wanted and e.status = 'received' order by id limit ${EVENTS_AT_ONCE + 1}) e
    order by e.id)`;

/** Folds rows of a lane's log into its state. Throws `LaneUnreadable`. */
export function foldOf(lane: string, rows: readonly LoggedRow[]): Folded {
  try {
    return fold(lane, rows);
  } catch (e) {
    throw new LaneUnreadable(lane, e);
  }
}

/**
 * The rows from the newest snapshot on, or from the lane's first row on. Null: these rows contain neither, so the
 * caller must read more.
 */
function enough(rows: readonly LoggedRow[]): readonly LoggedRow[] | null {
  const at = rows.findLastIndex((r) => r.snapshot);
  if (at >= 0) return rows.slice(at);
  return rows.length === 0 || rows[0]?.version === 1 ? rows : null;
}

/** Reads the lane's state and its timeline from the whole log. Throws `LaneUnreadable`. */
export async function readLane(
  db: Db,
  lane: string,
): Promise<{ readonly state: LaneState; readonly story: ReturnType<typeof storyOf> }> {
  const rows = await allRows(db, lane);
  return { state: foldOf(lane, rows).state, story: storyOf(rows) };
}

/** All rows of a lane's log, oldest first. */
export async function allRows(db: Db, lane: string): Promise<readonly LoggedRow[]> {
  const found = await db.query<LoggedRow>(`select ${LOG_COLUMNS} from lane_log where lane = $1 order by version`, [
    lane,
  ]);
  return found.rows;
}

/**
 * The events to decide now. If a decision on one of them has failed before, this step takes only the oldest event, so a
 * bad event does not hold up the others.
 */
function waitingOf(rows: readonly LoadedRow[], now: Date, parsed: ParsedEvents): Omit<Loaded, 'folded'> {
  const due = rows.filter((r) => r.next_try_at.getTime() <= now.getTime());
  const events = due
    .slice(0, due.some((r) => (r.attempts ?? 0) > 0) ? 1 : EVENTS_AT_ONCE)
    .map((r) => waitingEvent({ ...r, received_at: r.at }, parsed));
  const later = rows.filter((r) => !events.some((e) => e.id.toString() === r.id));
  const times = later.map((r) => r.next_try_at.getTime());
  return { events, moreAt: times.length === 0 ? null : new Date(Math.min(...times)) };
}

/** Makes a waiting event of a row of the inbox. */
export function waitingEvent(row: Row, parsed: ParsedEvents): WaitingEvent {
  const stored = {
    source: row['source'] as EventSource,
    eventId: row['event_id'] as string,
    lane: row['lane'] as string,
    body: Buffer.isBuffer(row['body']) ? row['body'] : Buffer.alloc(0),
  };
  return {
    ...stored,
    id: BigInt(row['id'] as string),
    type: row['type'] as string,
    event: parsed.read(stored),
    receivedAt: row['received_at'] as Date,
    attempts: row['attempts'] as number,
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

/** A lane's row in the queue. `news` counts new events and requests. */
export type QueuedLane = { readonly lane: string; readonly fence: bigint; readonly news: bigint };

/** Reads the lanes' rows in the queue, even if another worker has claimed the lanes. */
export async function takenBy(db: Db, lanes: readonly string[]): Promise<Map<string, QueuedLane>> {
  const found = await db.query<{ key: string; fence: string; news: string }>(
    'select key, fence, news from lane where key = any($1)',
    [lanes],
  );
  return new Map(found.rows.map((r) => [r.key, { lane: r.key, fence: BigInt(r.fence), news: BigInt(r.news) }]));
}
