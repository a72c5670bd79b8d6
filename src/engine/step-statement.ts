// Writes the steps of many lanes in one SQL statement: a list of parts, each with its rows of all steps.
import { type Step } from './lane-step.js';
import { jsonText, insertSql, toJson } from '../frames/store/codec.js';
import { textArray } from '../frames/store/binary-arrays.js';
import { makeDue, AWAITED } from '../frames/store/queue.js';
import { LEDGER_ENTRY } from '../shared/domain/ledger-entry.js';
import { NOTIFY_SQL, storedNotification } from '../frames/store/notifications.js';
import { readRowWrites } from './read-rows.js';
import { droppedBodies } from './lane-log.js';
import { type StepWrite } from './subject.js';

type Statement = { readonly name: string; readonly text: string; readonly values: unknown[] };

/** A part of the statement. Its parameters begin at `$n`; `$1` is the time. */
type Part = { readonly name: string; readonly sql: (first: number) => string; readonly values: readonly unknown[] };

/** The parts of one kind for these steps. Empty: the steps write nothing of this kind. */
type PartsOf = (steps: readonly Step[]) => readonly Part[];

/** A part with its rows as one text of JSON. */
function ofJson(name: string, sql: Part['sql'], rowsOf: (step: Step) => readonly unknown[]): PartsOf {
  return (steps) => {
    const rows = steps.flatMap(rowsOf);
    return rows.length === 0 ? [] : [{ name, sql, values: [jsonText(rows)] }];
  };
}

/**
 * A part with an array for each column, for a part that joins tables by key: PostgreSQL's planner expects few rows from
 * an array, but a hundred rows from a JSON list.
 */
function ofColumns(name: string, sql: Part['sql'], rowsOf: (step: Step) => readonly (readonly unknown[])[]): PartsOf {
  return (steps) => {
    const rows = steps.flatMap(rowsOf);
    const [first] = rows;
    if (first === undefined) return [];
    return [{ name, sql, values: first.map((_, column) => rows.map((row) => row[column])) }];
  };
}

export const LOG_KEY = 'lane_log_pkey';

// In two cases the statement gives a row no version, and the database refuses the whole statement. First: another
// worker has claimed the lane. Second: the log lacks the previous row. This happens after a failover: the standby has
// not received the last commits, and this process still has their state in memory.
const LOG_SQL = (first: number): string => `
  insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
  select d.lane, case when (d.fence is null or d.fence = (select l.fence from lane l where l.key = d.lane))
                       and (d.version = 1 or exists (select from lane_log b where b.lane = d.lane and b.version = d.version - 1))
                      then d.version end,
         $1, d.at_rest, d.snapshot, d.change::json, d.bodies::json
    from unnest($${first}::text[], $${first + 1}::integer[], $${first + 2}::bigint[], $${first + 3}::boolean[], $${first + 4}::boolean[], $${first + 5}::text[],
                $${first + 6}::text[]) as d(lane, version, fence, at_rest, snapshot, change, bodies)
   order by d.lane`;

function logParts(steps: readonly Step[]): readonly Part[] {
  const rows = steps.flatMap(({ row, work }) => (row === null ? [] : [{ row, fence: work.fence }]));
  if (rows.length === 0) return [];
  const values = [
    textArray(rows.map(({ row }) => row.lane)),
    rows.map(({ row }) => row.version),
    rows.map(({ fence }) => fence?.toString() ?? null),
    rows.map(({ row }) => row.at_rest),
    rows.map(({ row }) => row.snapshot),
    textArray(rows.map(({ row }) => row.change)), // long texts go in binary, without escapes
    textArray(rows.map(({ row }) => row.bodies)),
  ];
  return [{ name: 'log', sql: LOG_SQL, values }];
}

/** Compares the lane too: after a failover the new server may give the event's number to another event. */
const OUTCOMES_SQL = (first: number): string => `
  update inbox_event e set status = v.status, reason = v.reason, decided_at = $1
    from unnest($${first}::bigint[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::text[]) as v(id, lane, status, reason)
   where e.id = v.id and e.lane = v.lane`;

const DROPPED_SQL = (first: number): string => `
  update lane_log l set bodies = (l.bodies::jsonb - $${first + 1}::text[])::json
   where l.lane = any($${first}::text[]) and l.bodies is not null`;

const DUE_SQL = (first: number): string =>
  makeDue(`
    select d.key, case when d.awaited and coalesce(d.at, $1) <= $1 then ${AWAITED} else coalesce(d.at, $1) end, 1
      from unnest($${first}::text[], $${first + 1}::timestamptz[], $${first + 2}::boolean[]) as d(key, at, awaited)`);

/**
 * Gives lanes back. If an event or request arrived since the claim, the lane keeps its due time in the queue. If none
 * arrived, the lane is due at the step's `dueAt`, or leaves the queue if `dueAt` is null. The statement locks the
 * lanes' rows first, so it sees every arrival.
 */
const IDLE_SQL = (first: number): string => `
  select l.key, d.at, l.news <> d.seen as more
    from unnest($${first}::text[], $${first + 1}::bigint[], $${first + 2}::bigint[], $${first + 3}::timestamptz[]) as d(key, fence, seen, at)
    join lane l on l.key = d.key and l.fence = d.fence
   order by l.key for update of l`;
const AFTER_IDLE = `,
  w_back as (update lane l set lease_until = null, lease_owner = null, due_at = case when r.more then l.due_at else r.at end
               from w_rest r where l.key = r.key and (r.more or r.at is not null)),
  w_out as (delete from lane l using w_rest r where l.key = r.key and not r.more and r.at is null)`;

const BEFORE_OWN: readonly PartsOf[] = [
  logParts,
  ofJson(
    'ledger',
    (n) => insertSql(LEDGER_ENTRY, n),
    ({ after }) =>
      after.entries.map((e) => toJson(LEDGER_ENTRY, { ...e, amount: e.amount.minor, currency: e.amount.currency })),
  ),
  ofJson('notify', NOTIFY_SQL, ({ notified }) => notified.map(storedNotification)),
  ofColumns('verdicts', OUTCOMES_SQL, ({ work, outcomes }) =>
    outcomes.map((v) => [v.id.toString(), work.lane, v.status, v.reason === null ? null : storable(v.reason)]),
  ),
  (steps) => {
    const resting = steps.filter(({ row }) => row?.at_rest === true);
    const writes = readRowWrites(resting.map(({ known, after }) => ({ before: known.folded.shown, after })));
    return writes.map(({ name, sql, value }) => ({ name, sql, values: [value] }));
  },
];

const AFTER_OWN: readonly PartsOf[] = [
  ofColumns('dropped', DROPPED_SQL, ({ known, after }) =>
    droppedBodies(known.folded.state, after).map((id) => [after.lane, id]),
  ),
  ofColumns('due', DUE_SQL, ({ work, dueAt }) =>
    work.fence === null ? [[work.lane, dueAt, work.awaited === true]] : [],
  ),
  ofColumns('rest', IDLE_SQL, ({ work, isIdle, dueAt, known }) =>
    work.fence !== null && isIdle
      ? [[work.lane, work.fence.toString(), (known.taken?.news ?? -1n).toString(), dueAt]]
      : [],
  ),
];

/**
 * The statement for all steps. `writes`: the writes to subjects' own tables. Null: there is nothing to write. Each set
 * of parts is a prepared statement of its own.
 */
export function statementOf(steps: readonly Step[], now: Date, writes: readonly StepWrite[]): Statement | null {
  const own = writes.map(({ name, sql, rows }) => ofColumns(name, sql, ({ after }) => rows(after)));
  const parts = [...BEFORE_OWN, ...own, ...AFTER_OWN].flatMap((partsOf) => partsOf(steps));
  if (parts.length === 0) return null;
  // On one connection the name of a prepared statement must always have the same text. PostgreSQL compares only the
  // first 63 characters of a name, so each part adds four letters.
  const name = `step_${parts.map((p) => p.name.slice(0, 4)).join('')}`;
  return { name, text: textOf(name, parts), values: [now, ...parts.flatMap((p) => p.values)] };
}

/** The text of the statement for each set of parts. A text has ten thousand characters, so this process keeps it. */
const texts = new Map<string, string>();

function textOf(name: string, parts: readonly Part[]): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  let n = 2;
  const writes = parts.map((part) => {
    const sql = part.sql(n);
    n += part.values.length;
    return `w_${part.name} as (${sql})${part.name === 'rest' ? AFTER_IDLE : ''}`;
  });
  const text = `with ${writes.join(',\n')} select $1::timestamptz`;
  texts.set(name, text);
  return text;
}

/** Replaces NUL, as `jsonText` does: PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
