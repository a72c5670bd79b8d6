// The rows of many lanes at once: one statement a table to load them, one to save what changed.
import type pg from 'pg';
import { emptyLane } from '../domain/lane/change.js';
import { type LaneState } from '../domain/model.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type EventVerdict, type WaitingEvent } from '../domain/ports/lane-store.js';
import {
  ATTEMPT,
  type Codec,
  ENTRY,
  flat,
  flatEntry,
  fromRow,
  insertSql,
  INVOICE,
  JOURNAL,
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

type Row = Record<string, unknown>;

/** Events decided or routed in one go; the rest of a lane's backlog follows in the next. */
export const EVENTS_AT_ONCE = 50;

export type LoadedLane = { readonly state: LaneState; readonly events: readonly WaitingEvent[] };

/** Loads lanes, all statements in one flight; `working`: those whose waiting events are wanted too. */
export async function loadLanes(
  db: pg.PoolClient,
  lanes: readonly string[],
  working: readonly string[],
  now: Date,
): Promise<(lane: string) => LoadedLane> {
  const [invoices, payments, refunds, objects, taxes, reviews, messages, events] = await Promise.all([
    select(db, INVOICE, 'invoice_id', lanes, 'invoice_id', (i) => i.invoiceId),
    select(db, PAYMENT, 'invoice_id', lanes, 'seq', (p) => p.invoiceId),
    select(db, REFUND, 'invoice_id', lanes, 'seq', (r) => r.invoiceId),
    select(db, OBJECT, 'invoice_id', lanes, 'seq', (o) => o.invoiceId),
    select(db, TAX, 'invoice_id', lanes, 'seq', (t) => t.invoiceId),
    select(db, REVIEW, 'invoice_id', lanes, 'seq', (r) => r.invoiceId),
    select(db, MESSAGE, 'lane', lanes, 'created_at, id', (m) => m.lane),
    waitingEvents(db, working, now),
  ]);
  return (lane) => ({
    state: {
      ...emptyLane(lane),
      invoice: invoices.get(lane)?.[0] ?? null,
      payments: payments.get(lane) ?? [],
      refunds: refunds.get(lane) ?? [],
      objects: objects.get(lane) ?? [],
      taxes: taxes.get(lane) ?? [],
      reviews: reviews.get(lane) ?? [],
      messages: (messages.get(lane) ?? []).map(unflat),
    },
    events: events.get(lane) ?? [],
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
  const sql = `select * from ${codec.table} where ${column} = any($1) order by ${order}`;
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

async function waitingEvents(
  db: pg.PoolClient,
  lanes: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, readonly WaitingEvent[]>> {
  if (lanes.length === 0) return new Map();
  const waiting = await db.query<Row>({
    name: 'load_waiting_events',
    text: `select e.* from unnest($1::text[]) as wanted(lane) cross join lateral (
             select id, source, event_id, type, lane, body, received_at, attempts from inbox_event
              where lane = wanted.lane and status = 'received' and next_try_at <= $2 order by id limit ${EVENTS_AT_ONCE}) e
            order by e.id`,
    values: [lanes, now],
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

/** Writes what differs, all statements in one flight. Rows are values: one that was not replaced was not changed. */
export function saveLanes(db: pg.PoolClient, lanes: readonly ChangedLane[]): readonly Promise<void>[] {
  const changed = <T>(rows: (s: LaneState) => readonly T[]): T[] =>
    lanes.flatMap(({ before, after }) => {
      const [was, is] = [rows(before), rows(after)];
      return was === is ? [] : is.filter((row) => !was.includes(row));
    });
  const invoices = changed((s) => (s.invoice === null ? [] : [s.invoice]));
  const messages = changed((s) => s.messages).map(flat);
  const attempts = changed((s) => s.attempts);
  const entries = changed((s) => s.entries).map(flatEntry);
  const journal = changed((s) => s.journal);
  return [
    write(db, INVOICE, invoices),
    write(
      db,
      PAYMENT,
      changed(({ payments }) => payments),
    ),
    write(
      db,
      REFUND,
      changed(({ refunds }) => refunds),
    ),
    write(
      db,
      OBJECT,
      changed(({ objects }) => objects),
    ),
    write(
      db,
      TAX,
      changed(({ taxes }) => taxes),
    ),
    write(
      db,
      REVIEW,
      changed(({ reviews }) => reviews),
    ),
    write(db, MESSAGE, messages),
    write(db, ATTEMPT, attempts, `${insertSql(ATTEMPT)} on conflict do nothing`),
    write(db, ENTRY, entries, insertSql(ENTRY)),
    write(db, JOURNAL, journal, insertSql(JOURNAL)),
  ];
}

async function write<T>(db: pg.PoolClient, codec: Codec<T>, rows: readonly T[], sql = upsertSql(codec)): Promise<void> {
  if (rows.length === 0) return;
  const values = [JSON.stringify(rows.map((r) => toJson(codec, r)))];
  await db.query({ name: `save_${codec.table}`, text: sql, values });
}

export async function saveVerdicts(db: pg.PoolClient, verdicts: readonly EventVerdict[], now: Date): Promise<void> {
  if (verdicts.length === 0) return;
  await db.query({
    name: 'save_verdicts',
    text: `update inbox_event e set status = v.status, reason = v.reason, decided_at = $2
             from jsonb_to_recordset($1::jsonb) as v(id bigint, status text, reason text) where e.id = v.id`,
    values: [JSON.stringify(verdicts.map(({ id, status, reason }) => ({ id: id.toString(), status, reason }))), now],
  });
}
