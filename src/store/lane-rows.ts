// The rows of many lanes at once: one statement a table to load them, one to save what changed.
import type pg from 'pg';
import { emptyLane } from '../domain/lane/change.js';
import { type LaneState } from '../domain/model.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type EventVerdict, type WaitingEvent } from '../domain/ports/lane-store.js';
import {
  ATTEMPT,
  type Codec,
  columnList,
  ENTRY,
  flat,
  flatEntry,
  fromRow,
  insertSql,
  INVOICE,
  JOURNAL,
  jsonText,
  MESSAGE,
  OBJECT,
  PAYMENT,
  REFUND,
  REVIEW,
  TAX,
  toJson,
  unflat,
  upsertSql,
} from './codec.js';
import { type DatabaseTime, timeSql } from './database-time.js';

type Row = Record<string, unknown>;

/** Events decided or routed in one go; the rest of a lane's backlog follows in the next. */
export const EVENTS_AT_ONCE = 50;

/** Loads lanes, all statements in one flight. */
export async function loadLanes(db: pg.PoolClient, lanes: readonly string[]): Promise<(lane: string) => LaneState> {
  const [invoices, payments, refunds, objects, taxes, reviews, messages] = await Promise.all([
    select(db, INVOICE, 'invoice_id', lanes, 'invoice_id', (i) => i.invoiceId),
    select(db, PAYMENT, 'invoice_id', lanes, 'seq', (p) => p.invoiceId),
    select(db, REFUND, 'invoice_id', lanes, 'seq', (r) => r.invoiceId),
    select(db, OBJECT, 'invoice_id', lanes, 'seq', (o) => o.invoiceId),
    select(db, TAX, 'invoice_id', lanes, 'seq', (t) => t.invoiceId),
    select(db, REVIEW, 'invoice_id', lanes, 'seq', (r) => r.invoiceId),
    select(db, MESSAGE, 'lane', lanes, 'created_at, id', (m) => m.lane),
  ]);
  return (lane) => ({
    ...emptyLane(lane),
    invoice: invoices.get(lane)?.[0] ?? null,
    payments: payments.get(lane) ?? [],
    refunds: refunds.get(lane) ?? [],
    objects: objects.get(lane) ?? [],
    taxes: taxes.get(lane) ?? [],
    reviews: reviews.get(lane) ?? [],
    messages: (messages.get(lane) ?? []).map(unflat),
  });
}

async function select<T>(
  db: pg.PoolClient,
  codec: Codec<T>,
  column: string,
  lanes: readonly string[],
  order: string,
  laneOf: (row: T) => string | null,
): Promise<ReadonlyMap<string, T[]>> {
  if (lanes.length === 0) return new Map();
  // Each lane is looked up by itself: what is asked of many at once may be answered by reading the whole table.
  const sql = `select ${columnList(codec)} from unnest($1::text[]) as k(wanted) cross join lateral (
                 select * from ${codec.table} where ${column} = wanted offset 0) t order by ${order}`;
  const found = await db.query<Row>({ name: `load_${codec.table}`, text: sql, values: [lanes] });
  return byLane(
    found.rows.map((r) => fromRow(codec, r)),
    laneOf,
  );
}

function byLane<T>(rows: readonly T[], laneOf: (row: T) => string | null): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const row of rows) {
    const lane = laneOf(row);
    if (lane === null) continue;
    const list = out.get(lane);
    if (list === undefined) out.set(lane, [row]);
    else list.push(row);
  }
  return out;
}

/**
 * `e` waits to be decided; `$n` as in `timeSql`. Said so that only the index of its lane can be used: until the server has counted the rows it
 * takes the index of what is due for a tiny one, and reads all of it for each lane.
 */
export const waits = (n: number): string => `e.status || '' = 'received' and e.next_try_at <= ${timeSql(n)}`;

/** The events of these lanes that are to be decided now, oldest first. */
export async function waitingEvents(
  db: pg.PoolClient,
  lanes: readonly string[],
  time: DatabaseTime,
): Promise<ReadonlyMap<string, readonly WaitingEvent[]>> {
  if (lanes.length === 0) return new Map();
  const waiting = await db.query<Row>({
    name: 'load_waiting_events',
    text: `select e.* from unnest($1::text[]) as wanted(lane) cross join lateral (
             select id, source, event_id, type, lane, body, received_at, attempts from inbox_event e
              where e.lane = wanted.lane and ${waits(2)} order by id limit ${EVENTS_AT_ONCE}) e
            order by e.id`,
    values: [lanes, time.given()],
  });
  const events = byLane(waiting.rows.map(waitingEvent), (e) => e.lane);
  // After a failure events are decided one by one, so that a bad one does not hold the others.
  for (const [lane, list] of events) if (list.some((e) => e.attempts > 0)) events.set(lane, list.slice(0, 1));
  return events;
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

export type ChangedLane = { readonly before: LaneState; readonly after: LaneState };

/** When a lane is looked at next. */
export type Due = { readonly key: string; readonly at: Date | null; readonly leased: boolean; readonly rest: boolean };

export type Decided = {
  readonly lanes: readonly ChangedLane[];
  readonly verdicts: readonly EventVerdict[];
  readonly due: readonly Due[];
};

/** One kind of row as a part of the statement that writes them all: its parameters begin at `$n`. Null: there is nothing to write. */
type Part = {
  readonly table: string;
  readonly sql: (n: number) => string;
  readonly values: (d: Decided) => readonly unknown[] | null;
};

/** Rows are values: one that was not replaced was not changed. */
function part<T, F = T>(
  codec: Codec<F>,
  rowsOf: (s: LaneState) => readonly T[],
  toFlat: (row: T) => F,
  sql: (n: number) => string = (n) => upsertSql(codec, n),
): Part {
  const values = ({ lanes }: Decided): readonly unknown[] | null => {
    const out: unknown[] = [];
    for (const { before, after } of lanes) {
      const [was, is] = [rowsOf(before), rowsOf(after)];
      if (was === is) continue;
      for (const row of is) if (!was.includes(row)) out.push(toJson(codec, toFlat(row)));
    }
    return out.length === 0 ? null : [jsonText(out)];
  };
  return { table: codec.table, sql, values };
}

const as = <T>(row: T): T => row;
const PARTS: readonly Part[] = [
  part(INVOICE, (s) => (s.invoice === null ? [] : [s.invoice]), as),
  part(PAYMENT, (s) => s.payments, as),
  part(REFUND, (s) => s.refunds, as),
  part(OBJECT, (s) => s.objects, as),
  part(TAX, (s) => s.taxes, as),
  part(REVIEW, (s) => s.reviews, as),
  part(MESSAGE, (s) => s.messages, flat),
  part(
    ATTEMPT,
    (s) => s.attempts,
    as,
    (n) => `${insertSql(ATTEMPT, n)} on conflict do nothing`,
  ),
  part(
    ENTRY,
    (s) => s.entries,
    flatEntry,
    (n) => insertSql(ENTRY, n),
  ),
  part(
    JOURNAL,
    (s) => s.journal,
    as,
    (n) => insertSql(JOURNAL, n),
  ),
  {
    table: 'inbox_event',
    sql: (n) => `update inbox_event e set status = v.status, reason = v.reason, decided_at = $1
                   from unnest($${n}::bigint[], $${n + 1}::text[], $${n + 2}::text[]) as v(id, status, reason) where e.id = v.id`,
    values: ({ verdicts: v }) =>
      v.length === 0
        ? null
        : [v.map((e) => e.id), v.map((e) => e.status), v.map((e) => e.reason?.replaceAll('\0', '\ufffd') ?? null)],
  },
];

// Rows to be updated are named by arrays. The server takes those for short and looks each row up; of a JSON list it expects a hundred
// rows, and reads the whole table for them.
// Not a worker's: whatever was added is due at once, and a lease that another holds stays as it is.
// What a worker goes on with stays due as it was: its index is not touched.
const DUE_SQL = `
  update lane l set due_at = case when not d.leased then least(l.due_at, coalesce(d.at, $1))
                                  when not d.rest and l.due_at <= d.at then l.due_at else d.at end,
         lease_until = case when not d.leased then l.lease_until when d.rest then null else $2 end
    from unnest($3::text[], $4::timestamptz[], $5::boolean[], $6::boolean[]) as d(key, at, leased, rest) where l.key = d.key
  returning l.key, l.xmin::text as version`;

/** Writes what differs, in one statement. Gives the version of each lane's row from now on; it is always written. */
export async function saveDecided(
  db: pg.PoolClient,
  decided: Decided,
  now: Date,
  leaseUntil: Date,
): Promise<ReadonlyMap<string, string>> {
  const { due } = decided;
  const values: unknown[] = [now, leaseUntil];
  values.push(...(['key', 'at', 'leased', 'rest'] as const).map((column) => due.map((d) => d[column])));
  const writes: string[] = [];
  let name = 'save';
  for (const [i, part] of PARTS.entries()) {
    const own = part.values(decided);
    if (own === null) continue;
    writes.push(`w_${part.table} as (${part.sql(values.length + 1)})`);
    values.push(...own);
    name += `_${i}`; // a name stands for one text on a connection: parts of their own, and no more than 63 letters in all
  }
  const text = writes.length === 0 ? DUE_SQL : `with ${writes.join(', ')} ${DUE_SQL}`;
  const saved = await db.query<{ key: string; version: string }>({ name, text, values });
  return new Map(saved.rows.map((r) => [r.key, r.version]));
}
