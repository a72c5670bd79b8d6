// Erases personal data: of one customer on request, or of all customers by age. Amounts, ids, hashes and the ledger
// stay. Each entity marks its personal columns.
import type pg from 'pg';
import { type LaneState, type OutboxRow } from '../domain/model.js';
import { type AnyRow, jsonText, personalColumns, withoutPersonal } from '../store/codec.js';
import { snake } from '../store/columns.js';
import { type Database, inTransaction } from '../store/database.js';
import { purgeBodies } from '../store/event-bodies.js';
import { fold, LOGGED, type LoggedRow } from './lane-log.js';
import { allRows } from './lane-reader.js';
import { isAbout } from './call.js';

export type Erased = {
  readonly invoices: number;
  readonly signups: number;
  readonly events: number;
  readonly quarantined: number;
  /** The number of calls with erased bytes: calls to the MoR, and relayed Stripe events. */
  readonly calls: number;
  /** The number of erased free texts: reasons of failed charges and refunds, and notes of people. */
  readonly texts: number;
  /**
   * The number of events and calls left with their bytes, because Crossbill or a person still needs the bytes. The
   * operator runs the erasure again later.
   */
  readonly waiting: number;
};

export type Purged = { readonly events: number; readonly quarantined: number; readonly calls: number };

/** What an erasure covers outside the engine: rows, texts and bytes, such as the rows of signups. */
export type ErasedParts = {
  /**
   * Rows about a customer outside the customer's lanes. `count`: the member of `Erased` that counts the values erased
   * in these rows.
   */
  readonly rows: readonly { readonly row: AnyRow; readonly count: 'signups' | 'texts' }[];
  /** SQL statements. Each erases the texts of one more table, for the invoices with the ids `$1`. */
  readonly texts: readonly string[];
  readonly keeps: readonly KeptBytes[];
};

/** A rule for refused calls: a call keeps its bytes while a person may still send it again. */
export type KeptBytes = {
  /** True: this refused call keeps its bytes. False: it loses them. Null: this rule does not cover the call. */
  readonly call: (s: LaneState, m: OutboxRow) => boolean | null;
  /** An SQL condition on a row `l` of a lane's log. True: all calls of this lane keep their bytes. */
  readonly lane: string;
};

const BATCH = 2_000;

/** The entities of a lane's read model. */
const ROWS: readonly AnyRow[] = Object.values(LOGGED).filter((row) => row.table !== '');

/** An SQL condition: the event `e` waits for neither a decision nor a person. */
const OVER = `e.status not in ('received', 'parked')`;

/**
 * An SQL condition: the copy in quarantine is the only copy of its event, because every delivery arrived outside the
 * time window and no person has released the copy. A second body under a known event id does not count: Crossbill never
 * applies such a body.
 */
const ONLY_COPY = `inbox_quarantine.released_at is null and not inbox_quarantine.second_body and not exists (
  select from inbox_event i where i.source = inbox_quarantine.source and i.event_id = inbox_quarantine.event_id)`;

/** An SQL condition: the body contains one of the ids in `$n`. */
const named = (n: number): string =>
  `exists (select 1 from unnest($${n}::text[]) as name where position(convert_to('"' || name || '"', 'UTF8') in body) > 0)`;

export class Erasure {
  constructor(
    private readonly db: Database,
    private readonly parts: ErasedParts,
  ) {}

  /** The entities with a customer id. */
  private get byCustomer(): readonly AnyRow[] {
    return [...ROWS, ...this.parts.rows.map(({ row }) => row)].filter(({ columns }) => 'customerId' in columns);
  }

  /** True if any row names this customer. */
  async knows(customerId: string): Promise<boolean> {
    const named = this.byCustomer.map(({ table }) => `exists (select from ${table} where customer_id = $1)`);
    const found = await this.db.pool.query<{ known: boolean }>(`select ${named.join(' or ')} as known`, [customerId]);
    return found.rows[0]?.known === true;
  }

  /** Erases a customer's personal data. Safe to run again: a second run counts only its own erasures. */
  async eraseCustomer(customerId: string): Promise<Erased> {
    const lanes = await this.lanesOf(customerId);
    const forgotten = { signups: 0, texts: 0 };
    const logs = await this.eraseLogs(lanes);
    const inLanes = await this.change(
      `delete from event_body b using inbox_event e
        where e.lane = any($1) and ${OVER} and b.event_id = e.id and b.received_at = e.received_at`,
      [lanes],
    );
    const quarantined = await this.change(
      `update inbox_quarantine set body = null where lane = any($1) and body is not null and not (${ONLY_COPY})`,
      [lanes],
    );
    const names = [customerId, ...(await this.morCustomersOf(customerId))];
    // Erases bodies with one of these ids in other lanes, such as bodies of ignored events. This reads all bodies.
    const elsewhere = await this.emptied('inbox_event', named(3), names);
    const quarantinedElsewhere = await this.emptied('inbox_quarantine', `${named(3)} and not (${ONLY_COPY})`, names);
    for (const { row, count } of this.parts.rows)
      forgotten[count] += await this.forget(row, 'customer_id', [customerId]);
    for (const row of ROWS) forgotten.texts += await this.forget(row, 'invoice_id', lanes);
    for (const sql of this.parts.texts) forgotten.texts += await this.change(sql, [lanes]);
    return {
      invoices: lanes.length,
      signups: forgotten.signups,
      calls: logs.calls,
      texts: logs.attempts + forgotten.texts,
      events: inLanes + elsewhere,
      quarantined: quarantined + quarantinedElsewhere,
      waiting: logs.waiting + (await this.waitingEvents(lanes, names)),
    };
  }

  /**
   * Drops the bytes of events from whole months before `before`. Also drops the bytes of copies in quarantine and of
   * calls with a reply, if they are older than `before`. A waiting event keeps its body.
   */
  async purge(before: Date, onProgress: (dropped: number) => void = () => undefined): Promise<Purged> {
    let dropped = 0;
    const some = (n: number): void => onProgress((dropped += n));
    return {
      events: await purgeBodies(this.db.pool, before, some),
      quarantined: await this.emptied('inbox_quarantine', 'last_at < $3', before, some),
      calls: await purgeLog(this.db.pool, this.parts.keeps, before, some),
    };
  }

  private async eraseLogs(lanes: readonly string[]): Promise<ErasedLog> {
    let all: ErasedLog = { calls: 0, attempts: 0, waiting: 0 };
    for (const lane of lanes) {
      const { calls, attempts, waiting } = await eraseLog(this.db.pool, this.parts.keeps, lane);
      all = { calls: all.calls + calls, attempts: all.attempts + attempts, waiting: all.waiting + waiting };
    }
    return all;
  }

  /**
   * Drops the bodies of all rows under the condition `which`, oldest row first. `value` is `$3`. Each step covers a
   * short range of ids and reads only its own rows, so the statement stays far below its time limit.
   */
  private async emptied(
    table: 'inbox_event' | 'inbox_quarantine',
    which: string,
    value: unknown,
    onBatch: (dropped: number) => void = () => undefined,
  ): Promise<number> {
    const bounds = await this.db.pool.query<{ first: string | null; last: string | null }>(
      `select min(id) as first, max(id) as last from ${table}`,
    );
    const last = BigInt(bounds.rows[0]?.last ?? '0');
    let changed = 0;
    for (let from = BigInt(bounds.rows[0]?.first ?? '1'); from <= last; from += BigInt(BATCH)) {
      const step = await this.change(
        table === 'inbox_event'
          ? `delete from event_body b using inbox_event e where b.event_id >= $1 and b.event_id < $2 and e.id = b.event_id
                and ${OVER} and ${which}`
          : `update ${table} set body = null where id >= $1 and id < $2 and body is not null and ${which}`,
        [from.toString(), (from + BigInt(BATCH)).toString(), value],
      );
      changed += step;
      onBatch(step);
    }
    return changed;
  }

  /** Erases the personal data of rows. Returns the number of erased values. */
  private async forget(row: AnyRow, by: string, values: readonly string[]): Promise<number> {
    const [personal, key] = [personalColumns(row), row.key.map(snake)];
    if (personal.length === 0) return 0;
    const found = await this.db.pool.query<Record<string, unknown>>(
      `select ${[...key, ...personal].join(', ')} from ${row.table} where ${by} = any($1)`,
      [values],
    );
    let taken = 0;
    for (const before of found.rows) {
      const after = withoutPersonal(row, before);
      const changed = personal.filter((c) => jsonText(before[c]) !== jsonText(after[c]));
      taken += changed.length;
      if (changed.length === 0) continue;
      const set = changed.map((c, n) => `${c} = $${n + 1}`).join(', ');
      const where = key.map((c, n) => `${c} = $${changed.length + n + 1}`).join(' and ');
      await this.change(`update ${row.table} set ${set} where ${where}`, [
        ...changed.map((c) => after[c]),
        ...key.map((c) => before[c]),
      ]);
    }
    return taken;
  }

  /** The customer's invoices. Their ids are the names of their lanes. */
  private lanesOf(customerId: string): Promise<readonly string[]> {
    return this.idsOf(customerId, 'invoiceId');
  }

  private morCustomersOf(customerId: string): Promise<readonly string[]> {
    return this.idsOf(customerId, 'morCustomerId');
  }

  /** The values of this column in all rows of the customer. */
  private async idsOf(customerId: string, member: 'invoiceId' | 'morCustomerId'): Promise<readonly string[]> {
    const column = snake(member);
    const named = this.byCustomer
      .filter(({ columns }) => member in columns)
      .map(({ table }) => `select ${column} as id from ${table} where customer_id = $1 and ${column} is not null`);
    if (named.length === 0) return [];
    const found = await this.db.pool.query<{ id: string }>(named.join(' union '), [customerId]);
    return found.rows.map((r) => r.id);
  }

  /**
   * Counts the undecided events of these lanes. Also counts parked events and copies in quarantine, in other lanes too:
   * an unusable event may still name the customer.
   */
  private async waitingEvents(lanes: readonly string[], names: readonly string[]): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>(
      `select (select count(*) from inbox_event where lane = any($1) and status = 'received')
            + (select count(*) from inbox_event e join event_body b on b.event_id = e.id and b.received_at = e.received_at
                where e.aside = 'parked' and (e.lane = any($1) or ${named(2)}))
            + (select count(*) from inbox_quarantine where body is not null and ${ONLY_COPY} and (lane = any($1) or ${named(2)})) as n`,
      [lanes, names],
    );
    return Number(found.rows[0]?.n ?? 0);
  }

  private async change(sql: string, values: unknown[]): Promise<number> {
    return (await this.db.pool.query(sql, values)).rowCount ?? 0;
  }
}

type Fields = Record<string, unknown>;

type ErasedLog = {
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
const mayName = (m: OutboxRow): boolean => m.peer !== 'stripe';

/**
 * True if nobody needs the bytes of this call: it has a reply, Crossbill took it back, or nobody can send it again
 * after its refusal.
 */
function isOver(m: OutboxRow, s: LaneState, keeps: readonly KeptBytes[]): boolean {
  if (m.status === 'done' || m.status === 'cancelled') return true;
  if (m.status !== 'refused') return false;
  const isKept = keeps.map((kept) => kept.call(s, m)).find((kept) => kept !== null);
  return isKept === undefined ? !s.reviews.some((r) => r.status === 'open' && isAbout(r, m)) : !isKept;
}

/** Erases the personal data in one lane's log. Safe to run again. */
async function eraseLog(pool: pg.Pool, keeps: readonly KeptBytes[], lane: string): Promise<ErasedLog> {
  const rows = await allRows(pool, lane);
  const { state } = fold(lane, rows);
  const over = new Set(state.messages.filter((m) => mayName(m) && isOver(m, state, keeps)).map((m) => m.id));
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
  ((attempts ?? []) as readonly Fields[]).filter((a) => typeof a['failure_message'] === 'string').length;

/** The change in a log row, without personal data. A call in `over` also loses its last error message. */
function withoutTexts(change: LoggedRow['change'], over: ReadonlySet<string>): Fields {
  const out: Fields = { ...change };
  for (const [name, row] of Object.entries(LOGGED)) {
    const rows = change[name] as readonly Fields[] | undefined;
    if (rows !== undefined) out[name] = rows.map((fields) => withoutPersonal(row, fields));
  }
  const calls = change['calls'] as readonly Fields[] | undefined;
  if (calls !== undefined)
    out['calls'] = calls.map((c) =>
      over.has(String(c['id'])) && c['last_message'] ? { ...c, last_message: null } : c,
    );
  return out;
}

/**
 * Deletes the stored bodies of calls from log rows older than `before`, in lanes without open work. Returns the number
 * of changed rows. `onBatch` gets this number for each batch.
 */
async function purgeLog(
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
