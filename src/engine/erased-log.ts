// Erases personal data in the logs of lanes, and drops the bytes of old calls.
import type pg from 'pg';
import { type CallRow } from '../shared/domain/call-row.js';
import { type LaneState } from '../shared/domain/model.js';
import { jsonText, withoutPersonal } from '../frames/store/codec.js';
import { inTransaction } from '../frames/store/database.js';
import { isAbout } from './call.js';
import { EMPTY_CHANGE, fold, LOGGED, type LoggedRow } from './lane-log.js';
import { allRows } from './lane-reader.js';

/** A rule for refused calls: a call keeps its bytes while a person may still send it again. */
export type KeptBytes = {
  /** True: this refused call keeps its bytes. False: it loses them. Null: this rule does not cover the call. */
  readonly call: (state: LaneState, call: CallRow) => boolean | null;
  /** An SQL condition on a row `l` of a lane's log. True: all calls of this lane keep their bytes. */
  readonly lane: string;
};

/** One step of a purge covers at most this many rows. */
const BATCH = 2_000;

type Fields = Record<string, unknown>;

export type ErasedLog = {
  /** The number of calls with bytes erased in this run. */
  readonly calls: number;
  /** The number of erased reasons of failed charges. */
  readonly attempts: number;
  /** The number of calls left with their bytes, because Crossbill still needs the bytes. */
  readonly waiting: number;
};

/**
 * True for calls to the MoR or the relay: their bytes may name a person. Calls to Stripe contain only ids and amounts.
 */
const mayName = (call: CallRow): boolean => call.peer !== 'stripe';

/**
 * True if nobody needs the bytes of this call: it has a reply, Crossbill took it back, or nobody can send it again
 * after its refusal.
 */
function isOver(call: CallRow, state: LaneState, keeps: readonly KeptBytes[]): boolean {
  if (call.status === 'done' || call.status === 'cancelled') return true;
  if (call.status !== 'refused') return false;
  const isKept = keeps.map((kept) => kept.call(state, call)).find((kept) => kept !== null);
  return isKept === undefined ? !state.reviews.some((r) => r.status === 'open' && isAbout(r, call)) : !isKept;
}

/**
 * Erases the personal data in one lane's log. Safe to run again, and next to daemons: it also adds an empty row, so a
 * writer with the lane's old state in memory finds its version taken and reads the lane again. Otherwise this writer's
 * next snapshot would bring the words back.
 */
export async function eraseLog(pool: pg.Pool, keeps: readonly KeptBytes[], lane: string): Promise<ErasedLog> {
  for (;;) {
    const rows = await allRows(pool, lane);
    const { state } = fold(lane, rows);
    const over = new Set(state.calls.filter((m) => mayName(m) && isOver(m, state, keeps)).map((m) => m.id));
    const erased = rows.map((row) => ({ row, ...withoutWords(row, over) }));
    const changed = erased.filter(
      ({ row, change, bodies }) => change !== jsonText(row.change) || bodies !== (row.bodies && jsonText(row.bodies)),
    );
    if (changed.length > 0 && !(await writeErased(pool, rows.at(-1), changed))) continue; // a daemon wrote meanwhile
    const waiting = state.calls.filter((m) => mayName(m) && !over.has(m.id) && m.wire.body !== null).length;
    const dropped = new Set(rows.flatMap((row) => Object.keys(row.bodies ?? {}).filter((id) => over.has(id))));
    return { calls: dropped.size, attempts: rows.reduce((sum, row) => sum + textsOf(row.change), 0), waiting };
  }
}

type ErasedRow = { readonly row: LoggedRow; readonly change: string; readonly bodies: string | null };

/** Writes the erased rows, and the empty row behind `last`. Returns false if the lane has a newer row. */
async function writeErased(
  pool: pg.Pool,
  last: LoggedRow | undefined,
  changed: readonly ErasedRow[],
): Promise<boolean> {
  if (last === undefined) return true;
  return inTransaction(pool, async (db) => {
    await db.query(`select set_config('crossbill.erasing', 'on', true)`);
    const added = await db.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
         values ($1, $2, $3, false, false, $4) on conflict do nothing`,
      [last.lane, last.version + 1, last.at, EMPTY_CHANGE],
    );
    if (added.rowCount !== 1) return false;
    for (const { row, change, bodies } of changed)
      await db.query('update lane_log set change = $3, bodies = $4 where lane = $1 and version = $2', [
        row.lane,
        row.version,
        change,
        bodies,
      ]);
    return true;
  });
}

const textsOf = (change: LoggedRow['change']): number =>
  ((change['attempts'] ?? []) as readonly Fields[]).filter((a) => typeof a['failure_message'] === 'string').length;

/** A row of the log without personal data, and without the bytes of the calls in `over`. */
function withoutWords(row: LoggedRow, over: ReadonlySet<string>): Pick<ErasedRow, 'change' | 'bodies'> {
  const change: Fields = { ...row.change };
  for (const [name, codec] of Object.entries(LOGGED)) {
    const rows = change[name] as readonly Fields[] | undefined;
    if (rows !== undefined) change[name] = rows.map((fields) => withoutPersonal(codec, fields));
  }
  const journal = change['journal'] as readonly Fields[] | undefined;
  if (journal !== undefined) change['journal'] = journal.map(withoutReply);
  const bodies = Object.entries(row.bodies ?? {}).filter(([id]) => !over.has(id));
  return {
    change: jsonText(change),
    bodies: bodies.length === 0 ? null : jsonText(Object.fromEntries(bodies)),
  };
}

/**
 * A line of the timeline up to the first colon or bracket. Behind it, lines of earlier releases have the words of
 * Stripe, the MoR or a bank.
 */
function withoutReply(line: Fields): Fields {
  if (line['kind'] !== 'call' && line['kind'] !== 'event') return line;
  const detail = line['detail'] as Fields | null;
  const reason = detail?.['reason'];
  return {
    ...line,
    text: cutReason(String(line['text'])),
    detail: typeof reason === 'string' ? { ...detail, reason: cutReason(reason) } : detail,
  };
}

const cutReason = (text: string): string => text.replace(/[:(].*$/s, '').trimEnd();

/** The same as SQL, for the column `reason` of an event. */
export const CUT_REASON = `rtrim(regexp_replace(reason, '[:(].*$', ''))`;

/**
 * Deletes the stored bodies of calls from log rows older than `before`, in lanes without open work. Returns the number
 * of changed rows. `onBatch` gets this number for each batch.
 */
export async function purgeLog(
  pool: pg.Pool,
  keeps: readonly KeptBytes[],
  before: Date,
  onBatch: (dropped: number) => void,
): Promise<number> {
  let changed = 0;
  for (let after = ''; ;) {
    const step = await pool.query<{ last: string | null; n: number }>(purgeSql(keeps), [after, before]);
    const { last = null, n = 0 } = step.rows[0] ?? {};
    if (last === null) return changed;
    after = last;
    changed += n;
    onBatch(n);
  }
}

// Each step covers a short range of the primary key and may end within a lane. The next step begins after this lane.
const purgeSql = (keeps: readonly KeptBytes[]): string => `
  with step as materialized (select lane from lane_log where lane > $1 order by lane limit ${BATCH}),
       lanes as materialized (select distinct lane from step),
       dropped as (
         update lane_log l set bodies = null from lanes
          where l.lane = lanes.lane and l.bodies is not null and l.at < $2
            and not exists (select 1 from lane q where q.key = l.lane and q.lease_until is not null)
            and not exists (select 1 from open_call c where c.lane = l.lane)
            and not exists (select 1 from review r where r.invoice_id = l.lane and r.status = 'open')${keeps.map((kept) => ` and not (${kept.lane})`).join('')}
       returning 1)
  select (select max(lane) from step) as last, (select count(*)::int from dropped) as n`;
