// The log of a lane. Each row contains the changes of one step as JSON. `fold` turns the rows into the lane's state.
import { emptyLane } from './context.js';
import { INVOICE } from '../shared/domain/invoice-row.js';
import { CALL, type CallRow } from '../shared/domain/call-row.js';
import { type JournalLine, type LaneState } from '../shared/domain/model.js';
import { ATTEMPT, type AttemptRow, PAYMENT } from '../shared/domain/payment-row.js';
import { REFUND } from '../shared/domain/refund-row.js';
import { REVIEW } from '../shared/domain/review-row.js';
import { NewerFormat } from './lane.repository.js';
import { MOR_OBJECT } from '../shared/domain/mor-object.js';
import { type Row } from '../shared/domain/row.js';
import { changedFields, jsonText, toJson, withFields } from '../frames/store/codec.js';
import { snake } from '../frames/store/columns.js';

/** Raise this number with every new field or list. An older release then refuses the new rows, and loses no field. */
const FORMAT = 2;

/** After this many rows, the next row contains the whole state: a snapshot. */
const SNAPSHOT_AFTER = 20;

type Fields = Record<string, unknown>;
type Bodies = Readonly<Record<string, string>>;

/** A row of the log, as read. */
export type LoggedRow = {
  readonly lane: string;
  readonly version: number;
  readonly at: Date;
  readonly at_rest: boolean;
  readonly snapshot: boolean;
  readonly change: Readonly<Record<string, unknown>>;
  readonly bodies: Bodies | null;
};

/** A row of the log, to write. */
export type NewRow = Pick<LoggedRow, 'lane' | 'version' | 'at' | 'at_rest' | 'snapshot'> & {
  readonly change: string;
  readonly bodies: string | null;
};

/**
 * The lists of a lane, by their names in the log. An attempt is a verdict on a charge and never changes, so a state
 * contains only the attempts of its own step.
 */
export const LOGGED = {
  invoice: INVOICE,
  payments: PAYMENT,
  refunds: REFUND,
  objects: MOR_OBJECT,
  reviews: REVIEW,
  calls: CALL,
  attempts: ATTEMPT,
} as const;

/** One list of a lane's state. */
type Part = {
  readonly name: string;
  /** The changes of a step: the whole of each new row, and the key and changed fields of each changed row. */
  readonly changes: (before: LaneState, after: LaneState) => Fields[];
  readonly take: (state: LaneState, rows: readonly Fields[]) => LaneState;
};

function part<T extends object>(
  name: keyof typeof LOGGED,
  codec: Row<T, unknown>,
  rowsOf: (state: LaneState) => readonly T[],
  put: (state: LaneState, rows: readonly T[]) => LaneState,
): Part {
  const [key] = codec.key;
  if (key === undefined) throw new Error(`${name} have no key`);
  const column = snake(key);
  return {
    name,
    changes: (before, after) => {
      const [was, is] = [rowsOf(before), rowsOf(after)];
      if (was === is) return [];
      return is
        .filter((row) => !was.includes(row))
        .map((row) =>
          changedFields(
            codec,
            was.find((x) => x[key] === row[key]),
            row,
          ),
        );
    },
    take: (s, rows) => {
      const next = [...rowsOf(s)];
      for (const fields of rows) {
        const at = next.findIndex((row) => row[key] === fields[column]);
        const made = withFields(codec, next[at], fields);
        if (at < 0) next.push(made);
        else next[at] = made;
      }
      return put(s, next);
    },
  };
}

function listPart<K extends 'payments' | 'refunds' | 'objects' | 'reviews' | 'calls'>(
  name: keyof typeof LOGGED,
  codec: Row<LaneState[K][number], unknown>,
  list: K,
): Part {
  const rowsOf = (state: LaneState): readonly LaneState[K][number][] => state[list];
  return part(name, codec, rowsOf, (s, rows) => ({ ...s, [list]: rows }));
}

const PARTS: readonly Part[] = [
  part(
    'invoice',
    LOGGED.invoice,
    (s) => (s.invoice === null ? [] : [s.invoice]),
    (s, [invoice = null]) => ({ ...s, invoice }),
  ),
  listPart('payments', LOGGED.payments, 'payments'),
  listPart('refunds', LOGGED.refunds, 'refunds'),
  listPart('objects', LOGGED.objects, 'objects'),
  listPart('reviews', LOGGED.reviews, 'reviews'),
  listPart('calls', LOGGED.calls, 'calls'),
];

/** A step to write into the log. */
export type LoggedStep = {
  readonly before: LaneState;
  readonly after: LaneState;
  readonly version: number;
  readonly at: Date;
  readonly isIdle: boolean;
  readonly snapshot: boolean;
};

/** The log row of a step. */
export function logRow({ before, after, version, at, isIdle, snapshot }: LoggedStep): NewRow {
  const change: Record<string, unknown> = { f: FORMAT };
  const from = snapshot ? emptyLane(after.lane) : before;
  for (const p of PARTS) {
    const rows = p.changes(from, after);
    if (rows.length > 0) change[p.name] = rows;
  }
  const bodies = takeBodies(change['calls'] as Fields[] | undefined, snapshot);
  if (after.attempts.length > 0) change['attempts'] = after.attempts.map((a) => toJson(ATTEMPT, a));
  if (after.journal.length > 0) {
    change['journal'] = after.journal.map(({ lane: _, at: then, ...line }) =>
      then.getTime() === at.getTime() ? line : { ...line, at: then },
    );
  }
  return {
    lane: after.lane,
    version,
    at,
    at_rest: isIdle,
    snapshot,
    change: jsonText(change),
    bodies,
  };
}

/**
 * Moves the bodies of calls out of the change, so a purge can drop the bodies and keep the change. A snapshot leaves
 * out the bodies of done calls. It keeps the body of a refused or withdrawn call, because a rule may still send this
 * call again under its key.
 */
function takeBodies(calls: Fields[] | undefined, snapshot: boolean): string | null {
  // Written as text at once: an object with ids for its names would cost V8 a new shape for each call.
  const bodies: string[] = [];
  for (const call of calls ?? []) {
    if (call['wire'] === undefined) continue;
    const { body, ...wire } = call['wire'] as CallRow['wire'];
    call['wire'] = wire;
    if (body !== null && !(snapshot && call['status'] === 'done'))
      bodies.push(`${jsonText(call['id'])}:${jsonText(body)}`);
  }
  return bodies.length === 0 ? null : `{${bodies.join(',')}}`;
}

/** The ids of calls without bytes from this step on. `DROPPED_SQL` removes these bytes from earlier log rows too. */
export function droppedBodies(before: LaneState, after: LaneState): readonly string[] {
  if (before.calls === after.calls) return [];
  return after.calls
    .filter((m) => m.wire.body === null && before.calls.some((b) => b.id === m.id && b.wire.body !== null))
    .map((m) => m.id);
}

export type Folded = {
  readonly state: LaneState;
  /** The lane as the read rows show it. Read rows are the rows of the tables behind lists and look-ups. */
  readonly shown: LaneState;
  /** The version of the newest row. 0: the lane has no row yet. */
  readonly version: number;
  readonly rowsSinceSnapshot: number;
};

/**
 * Folds rows of the log into the lane: all rows, or the rows from a snapshot on, oldest first. Leaves out the journal
 * and the attempts.
 */
export function fold(lane: string, rows: readonly LoggedRow[]): Folded {
  let state = emptyLane(lane);
  let shown = state;
  let since = 0;
  for (const row of rows) {
    if (row.snapshot) {
      state = emptyLane(lane);
      since = 0;
    }
    state = taken(state, row);
    if (row.at_rest) shown = state;
    since++;
  }
  return { state, shown, version: rows.at(-1)?.version ?? 0, rowsSinceSnapshot: since };
}

function taken(before: LaneState, { change, bodies, lane, version }: LoggedRow): LaneState {
  const { f: format } = change;
  if (typeof format !== 'number') throw new Error(`row ${version} of lane ${lane} has no format: it is damaged`);
  if (format > FORMAT)
    throw new NewerFormat(
      `Row ${version} of lane ${lane} has format ${format}; this release reads formats up to ${FORMAT}. Start the newer release.`,
    );
  let state = before;
  for (const p of PARTS) {
    const rows = change[p.name] as readonly Fields[] | undefined;
    if (rows === undefined) continue;
    state = p.take(state, p.name === 'calls' ? rows.map((r) => withBody(r, bodies)) : rows);
  }
  return state;
}

function withBody(call: Fields, bodies: Bodies | null): Fields {
  if (call['wire'] === undefined) return call;
  return { ...call, wire: { ...(call['wire'] as object), body: bodies?.[String(call['id'])] ?? null } };
}

/** True if the next row must contain the whole state. */
export function wantsSnapshot({ rowsSinceSnapshot }: Pick<Folded, 'rowsSinceSnapshot'>): boolean {
  return rowsSinceSnapshot >= SNAPSHOT_AFTER;
}

/**
 * The timeline of a lane, oldest line first, and every verdict of the MoR on a charge. `rows`: all rows of the lane.
 */
export function storyOf(rows: readonly LoggedRow[]): {
  readonly journal: readonly JournalLine[];
  readonly attempts: readonly AttemptRow[];
} {
  const journal: JournalLine[] = [];
  const attempts = new Map<string, AttemptRow>();
  for (const { lane, at, change } of rows) {
    for (const line of (change['journal'] ?? []) as readonly (Omit<JournalLine, 'lane' | 'at'> & { at?: string })[]) {
      journal.push({ ...line, lane, at: line.at === undefined ? at : new Date(line.at) });
    }
    for (const fields of (change['attempts'] ?? []) as readonly Fields[]) {
      const attempt = withFields(ATTEMPT, undefined, fields);
      if (!attempts.has(attempt.eventId)) attempts.set(attempt.eventId, attempt);
    }
  }
  return { journal, attempts: [...attempts.values()].toSorted((a, b) => a.at.getTime() - b.at.getTime()) };
}

/** True if the row contains no change, no line of the timeline and no verdict on a charge. */
export function isEmpty(row: NewRow): boolean {
  return row.bodies === null && row.change === EMPTY_CHANGE;
}
/** The change of a row without any. */
export const EMPTY_CHANGE = jsonText({ f: FORMAT });
