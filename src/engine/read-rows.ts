// The read rows of lanes: what lists, look-ups and verify read. Written when a lane comes to rest, from its state.
import { INVOICE } from '../domain/invoice-row.js';
import { type LaneState, type OutboxRow, PAYMENT, REFUND, type RefundRow, REVIEW } from '../domain/model.js';
import { MOR_OBJECT } from '../domain/mor-object.js';
import { SHADOW_MODE } from '../domain/ports/call.js';
import { type Row } from '../domain/row.js';
import { jsonText, toJson, upsertSql } from '../store/codec.js';

/** What the read rows of a lane show, and what they are to show. */
export type Shown = { readonly before: LaneState; readonly after: LaneState };

/** A part of a statement with one parameter, `$n`. */
export type Write = { readonly name: string; readonly sql: (n: number) => string; readonly value: string };

type Table = {
  readonly name: string;
  readonly sql: (n: number) => string;
  /** JSON rows that differ; empty: none does. */
  readonly changed: (shown: Shown) => readonly unknown[];
};

function table<T>(codec: Row<T, unknown>, rowsOf: (s: LaneState) => readonly T[]): Table {
  return {
    name: codec.table,
    sql: (n) => upsertSql(codec, n),
    changed: ({ before, after }) => differing(rowsOf(before), rowsOf(after)).map((row) => toJson(codec, row)),
  };
}

/** Rows are values: one that was not replaced was not changed. */
function differing<T>(was: readonly T[], is: readonly T[]): readonly T[] {
  return was === is ? [] : is.filter((row) => !was.includes(row));
}

const isShadow = (m: OutboxRow): boolean => m.status === 'cancelled' && m.lastCode === SHADOW_MODE;

/** Refunds that a read row is kept of: of one that was joined to another, that other's is. */
export function listedRefunds(s: LaneState): readonly RefundRow[] {
  return s.refunds.some((r) => r.status === 'joined') ? s.refunds.filter((r) => r.status !== 'joined') : s.refunds;
}

/** What a person may have to know of: calls that wait, and those that shadow mode kept from being sent and that were not decided since. */
function openCalls({ messages }: LaneState): readonly OutboxRow[] {
  const later = (m: OutboxRow): boolean =>
    messages.some((x) => x.kind === m.kind && x.subject === m.subject && x.generation > m.generation);
  return messages.filter((m) => m.status === 'pending' || (isShadow(m) && !later(m)));
}

/** Calls that a read row is kept of. */
export function openCallIds(s: LaneState): ReadonlySet<string> {
  return new Set(openCalls(s).map((m) => m.id));
}

const openCall = (m: OutboxRow): unknown => ({
  id: m.id,
  lane: m.lane,
  kind: m.kind,
  subject: m.subject,
  status: isShadow(m) ? 'shadow' : 'pending',
  attempts: m.attempts,
  last_status: m.lastStatus,
  last_message: m.lastMessage,
  next_try_at: m.nextTryAt,
  created_at: m.createdAt,
});

const OPEN_CALL_COLUMNS = [
  'id',
  'lane',
  'kind',
  'subject',
  'status',
  'attempts',
  'last_status',
  'last_message',
  'next_try_at',
  'created_at',
];

// In the order of their foreign keys.
const TABLES: readonly Table[] = [
  table(INVOICE, (s) => (s.invoice === null ? [] : [s.invoice])),
  table(PAYMENT, (s) => s.payments),
  table(REFUND, listedRefunds),
  {
    name: 'joined_refund',
    sql: (n) => `delete from refund where id in (select jsonb_array_elements_text($${n}::jsonb))`,
    changed: ({ before, after }) => {
      if (before.refunds === after.refunds) return [];
      const gone = after.refunds.filter((r) => r.status === 'joined').map((r) => r.id);
      return gone.filter((id) => listedRefunds(before).some((r) => r.id === id));
    },
  },
  table(MOR_OBJECT, (s) => s.objects),
  table(REVIEW, (s) => s.reviews),
  {
    name: 'open_call',
    sql: (n) =>
      `insert into open_call (${OPEN_CALL_COLUMNS.join(', ')})
       select ${OPEN_CALL_COLUMNS.join(', ')} from json_populate_recordset(null::open_call, $${n}::json)
       on conflict (id) do update set status = excluded.status, attempts = excluded.attempts, last_status = excluded.last_status,
         last_message = excluded.last_message, next_try_at = excluded.next_try_at`,
    changed: ({ before, after }) => differing(openCalls(before), openCalls(after)).map(openCall),
  },
  {
    name: 'closed_call',
    sql: (n) => `delete from open_call where id in (select jsonb_array_elements_text($${n}::jsonb))`,
    changed: ({ before, after }) => {
      const now = new Set(openCalls(after).map((m) => m.id));
      return openCalls(before).flatMap((m) => (now.has(m.id) ? [] : [m.id]));
    },
  },
];

/** The writes that bring the read rows of these lanes up to date; none when they show it all. */
export function readRowWrites(lanes: readonly Shown[]): readonly Write[] {
  return TABLES.flatMap(({ name, sql, changed }) => {
    const rows = lanes.flatMap(changed);
    return rows.length === 0 ? [] : [{ name, sql, value: jsonText(rows) }];
  });
}
