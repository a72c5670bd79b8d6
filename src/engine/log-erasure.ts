// Takes out of lanes' logs what may name a person: the bytes of calls that are over, and free texts. Ids, amounts and the story stay.
import type pg from 'pg';
import { type LaneState, type OutboxRow } from '../domain/model.js';
import { jsonText } from '../store/codec.js';
import { inTransaction } from '../store/database.js';
import { fold, type LoggedRow } from './lane-log.js';
import { allRows } from './lane-reader.js';

type Fields = Record<string, unknown>;

export type ErasedLog = {
  /** Calls whose bytes were dropped. */
  readonly calls: number;
  /** Reasons of failed tries to charge that were dropped. */
  readonly attempts: number;
  /** Calls that are not over: their bytes are needed still. */
  readonly waiting: number;
};

/** Calls to the MoR or the relay, whose bytes may name a person. Those to Stripe hold ids and amounts alone. */
const mayName = (m: OutboxRow): boolean => m.peer !== 'stripe';

/**
 * Nobody needs its bytes any more: answered, or refused and nobody can have it sent again. A refund that was refused can be, as long
 * as it is not settled; another call while the item that says so is open.
 */
function isOver(m: OutboxRow, s: LaneState): boolean {
  if (m.status === 'done' || m.status === 'cancelled') return true;
  if (m.status !== 'refused') return false;
  if (m.kind === 'create_refund') {
    return s.refunds.some((r) => r.id === m.subject && ['succeeded', 'failed', 'joined'].includes(r.status));
  }
  return !s.reviews.some((r) => r.status === 'open' && r.subject === `${m.kind}:${m.subject}`);
}

/** Rewrites one lane's log. Safe to run again. */
export async function eraseLog(pool: pg.Pool, lane: string): Promise<ErasedLog> {
  const rows = await allRows(pool, lane);
  const { state } = fold(lane, rows);
  const over = new Set(state.messages.filter((m) => mayName(m) && isOver(m, state)).map((m) => m.id));
  const dropped = new Set<string>();
  let attempts = 0;
  for (const row of rows) {
    const bodies = Object.entries(row.bodies ?? {}).filter(([id]) => !over.has(id));
    for (const id of Object.keys(row.bodies ?? {})) if (over.has(id)) dropped.add(id);
    const change = withoutTexts(row.change, over);
    attempts += textsOf(row.change['attempts']);
    const after = {
      change: jsonText(change),
      bodies: bodies.length === 0 ? null : jsonText(Object.fromEntries(bodies)),
    };
    if (after.change === jsonText(row.change) && bodies.length === Object.keys(row.bodies ?? {}).length) continue;
    await inTransaction(pool, async (db) => {
      await db.query(`select set_config('crossbill.erasing', 'on', true)`);
      await db.query('update lane_log set change = $3, bodies = $4 where lane = $1 and version = $2', [
        lane,
        row.version,
        after.change,
        after.bodies,
      ]);
    });
  }
  const waiting = state.messages.filter((m) => mayName(m) && !over.has(m.id) && m.wire.body !== null).length;
  return { calls: dropped.size, attempts, waiting };
}

const textsOf = (attempts: unknown): number =>
  ((attempts ?? []) as readonly Fields[]).filter((a) => a['failure_message'] !== undefined).length;

function withoutTexts(change: LoggedRow['change'], over: ReadonlySet<string>): Fields {
  const out: Fields = { ...change };
  const each = (name: string, clean: (row: Fields) => Fields): void => {
    const rows = out[name] as readonly Fields[] | undefined;
    if (rows !== undefined) out[name] = rows.map(clean);
  };
  each('payments', (p) => without(p, 'failure_message'));
  each('attempts', (a) => without(a, 'failure_message'));
  each('reviews', (r) => without(r, 'note'));
  each('refunds', (r) => {
    const failure = r['failure'] as Fields | null | undefined;
    const told = failure?.['code'] === 'told_by_person';
    return { ...without(r, 'reason'), ...(told ? { failure: { ...failure, message: ERASED } } : {}) };
  });
  each('calls', (c) => (over.has(String(c['id'])) ? without(c, 'last_message') : c));
  each('objects', (o) => {
    const detail = o['detail'] as Fields | null | undefined;
    if (detail === null || detail === undefined) return o;
    const { refusal, failure } = detail as { refusal?: Fields; failure?: Fields };
    return {
      ...o,
      detail: {
        ...detail,
        // What the MoR said of a proforma invoice's recipient, for example, when it refused it.
        ...(refusal === undefined ? {} : { refusal: { ...refusal, message: ERASED, errors: [] } }),
        ...(failure === undefined ? {} : { failure: { ...failure, message: ERASED } }),
      },
    };
  });
  return out;
}

const ERASED = 'erased';

/** A change of a row to null stays one: what is not named would be read as unchanged. */
function without(row: Fields, field: string): Fields {
  return row[field] === undefined || row[field] === null ? row : { ...row, [field]: null };
}

/** Drops the bytes of calls that were decided before `before`, in lanes where nothing is open any more. Gives how many rows had some. */
export async function purgeLog(pool: pg.Pool, before: Date, onBatch: (dropped: number) => void): Promise<number> {
  let changed = 0;
  for (let after = ''; ;) {
    const step = await pool.query<{ last: string | null; n: number }>(PURGE_SQL, [after, before]);
    const { last = null, n = 0 } = step.rows[0] ?? {};
    if (last === null) return changed;
    after = last;
    changed += n;
    onBatch(n);
  }
}

const ROWS_AT_ONCE = 2_000;

// In short steps by the primary key. A step ends within a lane at worst: the next one begins behind that lane's name.
const PURGE_SQL = `
  with step as materialized (select lane from lane_log where lane > $1 order by lane limit ${ROWS_AT_ONCE}),
       lanes as materialized (select distinct lane from step),
       dropped as (
         update lane_log l set bodies = null from lanes
          where l.lane = lanes.lane and l.bodies is not null and l.at < $2
            and not exists (select 1 from lane q where q.key = l.lane and q.lease_until is not null)
            and not exists (select 1 from open_call c where c.lane = l.lane)
            and not exists (select 1 from review r where r.invoice_id = l.lane and r.status = 'open')
            and not exists (select 1 from refund r where r.invoice_id = l.lane and r.status not in ('succeeded', 'failed'))
       returning 1)
  select (select max(lane) from step) as last, (select count(*)::int from dropped) as n`;
