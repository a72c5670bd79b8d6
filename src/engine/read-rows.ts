// The read rows of lanes, for lists, look-ups and verify. Crossbill writes them when a lane has nothing left to do.
import { isUnsent } from './lane.js';
import type pg from 'pg';
import { INVOICE } from '../shared/domain/invoice-row.js';
import { type CallKind, type CallRow } from '../shared/domain/call-row.js';
import { type LaneState } from '../shared/domain/model.js';
import { PAYMENT } from '../shared/domain/payment-row.js';
import { REFUND, type RefundRow } from '../shared/domain/refund-row.js';
import { REVIEW } from '../shared/domain/review-row.js';
import { MOR_OBJECT } from '../shared/domain/mor-object.js';
import { UNSENT } from '../shared/domain/ports/call.js';
import { Column, int, key, type Row, rowOf, text, time, word } from '../shared/domain/row.js';
import { fromRow, jsonText, toJson, upsertSql } from '../frames/store/codec.js';
import { snake } from '../frames/store/columns.js';

/** The lane as the read rows show it now, and the lane as they should show it. */
export type Shown = { readonly before: LaneState; readonly after: LaneState };

/** A part of a statement with one parameter, `$n`. */
export type Write = { readonly name: string; readonly sql: (first: number) => string; readonly value: string };

/** Rows to write, as JSON, and keys of rows to remove. */
type Changes = { readonly written: readonly unknown[]; readonly removed: readonly string[] };

type Table = {
  readonly name: string;
  readonly upsert: (count: number) => string;
  readonly remove: (count: number) => string;
  readonly changes: (shown: Shown) => Changes;
  /** The changes from the stored rows to the rows of this lane. */
  readonly changesInStore: (db: pg.PoolClient, state: LaneState) => Promise<Changes>;
};

/**
 * One table of the read model. `rowsOf` returns the lane's rows for this table. `allOf` returns every row of the lane
 * with a place in this table at any time: now, before or later.
 */
function table<T extends object, R extends T>(
  codec: Row<T, unknown>,
  rowsOf: (state: LaneState) => readonly R[],
  allOf: (state: LaneState) => readonly R[] = rowsOf,
): Table {
  const [name] = codec.key;
  if (name === undefined) throw new Error(`${codec.table} has no key`);
  const [keyOf, column] = [(row: T) => String(row[name]), snake(name)];
  const missing = (from: readonly string[], rows: readonly R[]): readonly string[] => {
    const kept = new Set(rows.map(keyOf));
    return from.filter((id) => !kept.has(id));
  };
  return {
    name: codec.table,
    upsert: (n) => upsertSql(codec, n),
    remove: (n) => `delete from ${codec.table} where ${column} in (select jsonb_array_elements_text($${n}::jsonb))`,
    changes: ({ before, after }) => {
      if (allOf(before) === allOf(after)) return NO_CHANGES;
      const [was, is] = [rowsOf(before), rowsOf(after)];
      // Rows are immutable: the same object means an unchanged row.
      const written = is.filter((row) => !was.includes(row)).map((row) => toJson(codec, row));
      return { written, removed: missing(was.map(keyOf), is) };
    },
    changesInStore: async (db, s) => {
      const found = await db.query<Record<string, unknown>>(`select * from ${codec.table} where ${column} = any($1)`, [
        allOf(s).map(keyOf),
      ]);
      const stored = new Map(found.rows.map((r) => fromRow(codec, r)).map((row) => [keyOf(row), row]));
      const is = rowsOf(s);
      const isStored = (row: R): boolean => {
        const known = stored.get(keyOf(row));
        return known !== undefined && textOf(toJson(codec, known)) === textOf(toJson(codec, row));
      };
      const written = is.filter((row) => !isStored(row)).map((row) => toJson(codec, row));
      return { written, removed: missing([...stored.keys()], is) };
    },
  };
}
const NO_CHANGES: Changes = { written: [], removed: [] };

/** Gives equal values the same text, although PostgreSQL reorders the members of a `jsonb`. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) => {
    if (typeof v !== 'object' || v === null || Array.isArray(v)) return v;
    return Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** A stored call without a reply, or a call Crossbill did not send because of shadow mode. */
export const OPEN_CALL = rowOf('open_call', {
  id: key(),
  lane: text(),
  kind: word<CallKind>(),
  subject: text(),
  status: new Column<CallRow['status'], false>('text', {
    coded: true,
    way: {
      to: (status) => (status === 'pending' ? status : UNSENT.listed),
      from: (stored) => (stored === 'pending' ? stored : 'cancelled'),
    },
  }),
  attempts: int(),
  lastStatus: int().orNull,
  lastMessage: text().orNull.said(),
  nextTryAt: time(),
  createdAt: time(),
});

/**
 * The calls without a reply, and the calls Crossbill did not send because of shadow mode. If Crossbill has made such an
 * unsent call again under its next key, the older call no longer counts.
 */
export function openCalls({ calls }: LaneState): readonly CallRow[] {
  const isLast = (call: CallRow): boolean =>
    !calls.some((x) => x.kind === call.kind && x.subject === call.subject && x.generation > call.generation);
  return calls.filter((m) => m.status === 'pending' || (isUnsent(m) && isLast(m)));
}

/**
 * The refunds with a read row. If two rows turned out to be the same refund, the `joined` row gets no read row, because
 * the other row stands for both.
 */
export function listedRefunds({ refunds }: LaneState): readonly RefundRow[] {
  return refunds.filter((r) => r.status !== 'joined');
}

// A table stands after the tables its foreign keys point to.
export const TABLES: readonly Table[] = [
  table(INVOICE, (s) => (s.invoice === null ? [] : [s.invoice])),
  table(PAYMENT, (s) => s.payments),
  table(REFUND, listedRefunds, (s) => s.refunds),
  table(MOR_OBJECT, (s) => s.objects),
  table(REVIEW, (s) => s.reviews),
  table(OPEN_CALL, openCalls, (s) => s.calls),
];

/** The writes for these changes of a table. */
export function writesOf({ name, upsert, remove }: Table, changes: readonly Changes[]): readonly Write[] {
  const written = changes.flatMap((c) => c.written);
  const removed = changes.flatMap((c) => c.removed);
  return [
    ...(written.length === 0 ? [] : [{ name, sql: upsert, value: jsonText(written) }]),
    // A prepared statement is named by the first four letters of each part. The `x` gives the removing part other
    // letters than the writing part.
    ...(removed.length === 0 ? [] : [{ name: `x${name}`, sql: remove, value: jsonText(removed) }]),
  ];
}

/** The writes for outdated read rows of these lanes. Empty if there are none. */
export function readRowWrites(lanes: readonly Shown[]): readonly Write[] {
  return TABLES.flatMap((t) => writesOf(t, lanes.map(t.changes)));
}
