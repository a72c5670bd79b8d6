// One step of a lane: the decision on the lane's state, then the writes. One SQL statement writes the steps of many
// lanes.
import { LEDGER_ENTRY, type LaneState } from '../shared/domain/model.js';
import { type NewNotification } from '../shared/domain/notification.js';
import { type TellStep } from './decider.js';
import { LaneFenced, type LaneWork } from './lane-store.js';
import { type Remembered } from '../shared/domain/request-name.js';
import { textArray } from '../frames/store/binary-arrays.js';
import { insertSql, jsonText, toJson } from '../frames/store/codec.js';
import { droppedBodies, type Folded, isEmpty, logRow, type NewRow, wantsSnapshot } from './lane-log.js';
import { AWAITED, makeDue } from '../frames/store/queue.js';
import { type Loaded, type QueuedLane } from './lane-reader.js';
import { NOTIFY_SQL, storedNotification } from '../frames/store/notifications.js';
import { readRowWrites } from './read-rows.js';
import { type StepWrite } from './subject.js';

export type Step = {
  readonly work: LaneWork<unknown>;
  readonly known: Loaded & { readonly taken: QueuedLane | null };
  readonly value: unknown;
  readonly made: string | null;
  readonly after: LaneState;
  /** The step's row in the log. Null: the step has nothing to write. */
  readonly row: NewRow | null;
  readonly rest: boolean;
  readonly dueAt: Date | null;
  readonly verdicts: ReturnType<LaneWork<unknown>['decide']>['verdicts'];
  readonly told: readonly NewNotification[];
};

/**
 * Decides, and returns the step to write. Throws `LaneFenced`, and the errors of `decide`. `tell` null: Crossbill makes
 * no notifications.
 */
export function decideStep(
  work: LaneWork<unknown>,
  known: Step['known'],
  at: Date,
  remembered: Remembered,
  tell: TellStep | null,
): Step {
  if (work.fence !== null && known.taken?.fence !== work.fence) {
    throw new LaneFenced(`lane ${work.lane} was claimed by another worker`);
  }
  const { folded } = known;
  const before = folded.state;
  const decided = work.decide({ state: before, events: work.fence === null ? [] : known.events, remembered, now: at });
  const { after, told } = tell === null ? { after: decided.state, told: [] } : tell(before, decided.state, at);
  const rest = decided.rest === true;
  const snapshot = wantsSnapshot(folded);
  // True: this step also writes the read rows. A step between two calls of a claim writes only the log. The exception
  // is a step that gives a payment the MoR's id: the next calls contain this id, and only the read row keeps the id
  // unique.
  const atRest = rest || work.fence === null || snapshot || isNamedLate(before, after);
  const behind = (): boolean => atRest && readRowWrites([{ before: folded.shown, after }]).length > 0;
  const row = logRow({ before, after, version: folded.version + 1, at, atRest, snapshot });
  const moreAt = rest && decided.verdicts.length >= known.events.length ? known.moreAt : null;
  return {
    work,
    known,
    value: decided.value,
    made: decided.made ?? null,
    after,
    row: isEmpty(row) && after.entries.length === 0 && !behind() ? null : row,
    rest,
    dueAt: earliest(decided.dueAt, moreAt),
    verdicts: decided.verdicts,
    told,
  };
}

/**
 * True if a payment gets the MoR's id in this step, and this step does not book the payment. Then no ledger entry keeps
 * the id unique.
 */
function isNamedLate(before: LaneState, after: LaneState): boolean {
  if (before.payments === after.payments) return false;
  const booked = new Set(after.entries.flatMap((e) => (e.reason === 'payment_collected' ? [e.paymentRowId] : [])));
  return after.payments.some(
    (p) =>
      p.paymentId !== null &&
      !booked.has(p.id) &&
      before.payments.find((x) => x.id === p.id)?.paymentId !== p.paymentId,
  );
}

function earliest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** The lane after the commit of the step. */
export function foldedAfter({ known: { folded }, after, row }: Step): Folded {
  const state = { ...after, attempts: [], entries: [], journal: [] };
  if (row === null) return { ...folded, state };
  return {
    state,
    shown: row.at_rest ? state : folded.shown,
    version: row.version,
    rowsSinceSnapshot: row.snapshot ? 1 : folded.rowsSinceSnapshot + 1,
  };
}

export const LOG_KEY = 'lane_log_pkey';

type Statement = { readonly name: string; readonly text: string; readonly values: unknown[] };
/** A part of the statement. Its parameters begin at `$n`. */
type Part = { readonly name: string; readonly sql: (n: number) => string; readonly values: readonly unknown[] };

// In two cases the statement gives a row no version, and the database refuses the whole statement. First: another
// worker has claimed the lane. Second: the log lacks the previous row. This happens after a failover: the standby has
// not received the last commits, and this process still has their state in memory.
const LOG_SQL = (n: number): string => `
  insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
  select d.lane, case when (d.fence is null or d.fence = (select l.fence from lane l where l.key = d.lane))
                       and (d.version = 1 or exists (select from lane_log b where b.lane = d.lane and b.version = d.version - 1))
                      then d.version end,
         $1, d.at_rest, d.snapshot, d.change::json, d.bodies::json
    from unnest($${n}::text[], $${n + 1}::integer[], $${n + 2}::bigint[], $${n + 3}::boolean[], $${n + 4}::boolean[], $${n + 5}::text[],
                $${n + 6}::text[]) as d(lane, version, fence, at_rest, snapshot, change, bodies)
   order by d.lane`;

/** The parameters of `LOG_SQL`. Long texts go in binary, without escapes. */
function logValues(steps: readonly Step[]): readonly unknown[] {
  const rows = steps.flatMap(({ row, work }) => (row === null ? [] : [{ ...row, fence: work.fence }]));
  if (rows.length === 0) return [];
  return [
    textArray(rows.map((r) => r.lane)),
    rows.map((r) => r.version),
    rows.map((r) => r.fence?.toString() ?? null),
    rows.map((r) => r.at_rest),
    rows.map((r) => r.snapshot),
    textArray(rows.map((r) => r.change)),
    textArray(rows.map((r) => r.bodies)),
  ];
}

/** Compares the lane too: after a failover the new server may give the event's number to another event. */
const VERDICTS_SQL = (n: number): string => `
  update inbox_event e set status = v.status, reason = v.reason, decided_at = $1
    from unnest($${n}::bigint[], $${n + 1}::text[], $${n + 2}::text[], $${n + 3}::text[]) as v(id, lane, status, reason)
   where e.id = v.id and e.lane = v.lane`;

const DROPPED_SQL = (n: number): string => `
  update lane_log l set bodies = (l.bodies::jsonb - $${n + 1}::text[])::json
   where l.lane = any($${n}::text[]) and l.bodies is not null`;

const DUE_SQL = (n: number): string =>
  makeDue(`
    select d.key, case when d.awaited and coalesce(d.at, $1) <= $1 then ${AWAITED} else coalesce(d.at, $1) end, 1
      from unnest($${n}::text[], $${n + 1}::timestamptz[], $${n + 2}::boolean[]) as d(key, at, awaited)`);

/**
 * Gives lanes back. If an event or request arrived since the claim, the lane keeps its due time in the queue. If none
 * arrived, the lane is due at the step's `dueAt`, or leaves the queue if `dueAt` is null. The statement locks the
 * lanes' rows first, so it sees every arrival.
 */
const REST_SQL = (n: number): string => `
  select l.key, d.at, l.news <> d.seen as more
    from unnest($${n}::text[], $${n + 1}::bigint[], $${n + 2}::bigint[], $${n + 3}::timestamptz[]) as d(key, fence, seen, at)
    join lane l on l.key = d.key and l.fence = d.fence
   order by l.key for update of l`;
const AFTER_REST = `,
  w_back as (update lane l set lease_until = null, lease_owner = null, due_at = case when r.more then l.due_at else r.at end
               from w_rest r where l.key = r.key and (r.more or r.at is not null)),
  w_out as (delete from lane l using w_rest r where l.key = r.key and not r.more and r.at is null)`;

/** The statement for all steps, with the `StepWrite` parts. Null: there is nothing to write. `$1` is the time. */
export function statementOf(steps: readonly Step[], now: Date, writes: readonly StepWrite[]): Statement | null {
  const parts: Part[] = [];
  const add = (name: string, sql: (n: number) => string, rows: readonly (readonly unknown[])[]): void => {
    // Parts that join tables by key take arrays, because PostgreSQL's planner expects few rows from an array, but a
    // hundred rows from a JSON list.
    const [first = []] = rows;
    if (rows.length > 0) parts.push({ name, sql, values: first.map((_, column) => rows.map((r) => r[column])) });
  };
  const addJson = (name: string, sql: (n: number) => string, rows: readonly unknown[]): void => {
    if (rows.length > 0) parts.push({ name, sql, values: [jsonText(rows)] });
  };
  const log = logValues(steps);
  if (log.length > 0) parts.push({ name: 'log', sql: LOG_SQL, values: log });
  addJson(
    'ledger',
    (n) => insertSql(LEDGER_ENTRY, n),
    steps.flatMap((s) =>
      s.after.entries.map(({ amount: { minor: amount, currency }, ...e }) =>
        toJson(LEDGER_ENTRY, { ...e, amount, currency }),
      ),
    ),
  );
  addJson(
    'notify',
    NOTIFY_SQL,
    steps.flatMap((s) => s.told.map(storedNotification)),
  );
  add(
    'verdicts',
    VERDICTS_SQL,
    steps.flatMap((s) =>
      s.verdicts.map((v) => [v.id.toString(), s.work.lane, v.status, v.reason === null ? null : storable(v.reason)]),
    ),
  );
  const resting = steps.filter((s) => s.row?.at_rest === true);
  for (const w of readRowWrites(resting.map(({ known, after }) => ({ before: known.folded.shown, after })))) {
    parts.push({ ...w, values: [w.value] });
  }
  for (const { name, sql, rows } of writes)
    add(
      name,
      sql,
      steps.flatMap((s) => rows(s.after)),
    );
  const dropped = steps.flatMap(({ known, after }) =>
    droppedBodies(known.folded.state, after).map((id) => ({ lane: after.lane, id })),
  );
  if (dropped.length > 0) {
    parts.push({ name: 'dropped', sql: DROPPED_SQL, values: [dropped.map((d) => d.lane), dropped.map((d) => d.id)] });
  }
  add(
    'due',
    DUE_SQL,
    steps.flatMap(({ work, dueAt }) => (work.fence === null ? [[work.lane, dueAt, work.awaited === true]] : [])),
  );
  add(
    'rest',
    REST_SQL,
    steps.flatMap(({ work, rest, dueAt, known }) =>
      work.fence !== null && rest
        ? [[work.lane, work.fence.toString(), (known.taken?.news ?? -1n).toString(), dueAt]]
        : [],
    ),
  );
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
    return `w_${part.name} as (${sql})${part.name === 'rest' ? AFTER_REST : ''}`;
  });
  const text = `with ${writes.join(',\n')} select $1::timestamptz`;
  texts.set(name, text);
  return text;
}

/** Replaces NUL, as `jsonText` does: PostgreSQL stores no NUL in a text. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
