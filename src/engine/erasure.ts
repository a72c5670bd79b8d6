// Erases personal data: of one customer on request, or of all customers by age. Amounts, ids, hashes and the ledger
// stay. Each entity marks its personal columns.
import { itemLane } from '../shared/domain/events/channel-lane.js';
import { REVIEW } from '../shared/domain/review-row.js';
import { type AnyRow, jsonText, personalColumns, withoutPersonal } from '../frames/store/codec.js';
import { snake } from '../frames/store/columns.js';
import { type Database } from '../frames/store/database.js';
import { purgeBodies } from '../frames/store/event-bodies.js';
import { CUT_REASON, eraseLog, type ErasedLog, type KeptBytes, purgeLog } from './erased-log.js';
import { OPEN_CALL } from './read-rows.js';
import { CustomerIds, ROWS } from './customer-ids.js';
import { bodiesNaming, type Named, walkIds } from './named-bodies.js';

export type Erased = {
  readonly invoices: number;
  readonly signups: number;
  readonly events: number;
  readonly quarantined: number;
  /** The number of calls with erased bytes: calls to the MoR, and relayed Stripe events. */
  readonly calls: number;
  /** The number of erased texts: words of Stripe, the MoR and banks, and notes of people. */
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
  /** SQL statements. Each erases texts about the customer or anything of theirs, by the ids `$1`. */
  readonly mentions: readonly string[];
  /** SQL queries. Each finds subjects of review items without an invoice, for the customer `$1`. */
  readonly subjects: readonly string[];
  readonly keeps: readonly KeptBytes[];
};

/** An SQL condition: the event `e` waits for neither a decision nor a person. */
const OVER = `e.status not in ('received', 'parked')`;

/**
 * An SQL condition: the copy in quarantine is the only copy of its event, because every delivery arrived outside the
 * time window and no person has released the copy. A second body under a known event id does not count: Crossbill never
 * applies such a body.
 */
const ONLY_COPY = `inbox_quarantine.released_at is null and not inbox_quarantine.second_body and not exists (
  select from inbox_event i where i.source = inbox_quarantine.source and i.event_id = inbox_quarantine.event_id)`;

export class Erasure {
  private readonly ids = new CustomerIds(this.db, this.parts);

  constructor(
    private readonly db: Database,
    private readonly parts: ErasedParts,
  ) {}

  /** True if a row or a stored body names this customer. */
  async knows(customerId: string): Promise<boolean> {
    const named = this.ids.byCustomer.map(({ table }) => `exists (select from ${table} where customer_id = $1)`);
    const found = await this.db.pool.query<{ known: boolean }>(`select ${named.join(' or ')} as known`, [customerId]);
    if (found.rows[0]?.known === true) return true;
    const { events, copies } = await bodiesNaming(this.db, [customerId], []);
    return events.length + copies.length > 0;
  }

  /** Erases a customer's personal data. Safe to run again: a second run counts only its own erasures. */
  async eraseCustomer(customerId: string): Promise<Erased> {
    const lanes = await this.ids.lanesOf(customerId);
    const names = [customerId, ...(await this.ids.idsOf(customerId, 'morCustomerId'))];
    const things = [...lanes, ...(await this.ids.thingsOf(customerId, lanes))];
    const { events, copies } = await bodiesNaming(this.db, names, things);
    const alone = await this.ids.subjectsOf(customerId, [...events, ...copies]);
    const logs = await this.eraseLogs([...lanes, ...alone.map(itemLane)]);
    const about = [lanes, events.map((e) => e.id)];
    const reasons = await this.change(
      `update inbox_event e set reason = ${CUT_REASON}, note = null
        where (lane = any($1) or id = any($2)) and ${OVER} and (note is not null or reason <> ${CUT_REASON})`,
      about,
    );
    const bodies = await this.change(
      `delete from event_body b using inbox_event e
        where (e.lane = any($1) or e.id = any($2)) and ${OVER} and b.event_id = e.id and b.received_at = e.received_at`,
      about,
    );
    const quarantined = await this.change(
      `update inbox_quarantine set body = null
        where (lane = any($1) or id = any($2)) and body is not null and not (${ONLY_COPY})`,
      [lanes, copies.map((q) => q.id)],
    );
    const forgotten = { signups: 0, texts: reasons };
    for (const { row, count } of this.parts.rows)
      forgotten[count] += await this.forget(row, 'customer_id', [customerId]);
    for (const row of ROWS) forgotten.texts += await this.forget(row, 'invoice_id', lanes);
    await this.forget(OPEN_CALL, 'lane', lanes);
    forgotten.texts += await this.forget(REVIEW, 'subject', [...alone, ...lanes.map((lane) => `lane:${lane}`)]);
    for (const sql of this.parts.texts) forgotten.texts += await this.change(sql, [lanes]);
    for (const sql of this.parts.mentions) forgotten.texts += await this.change(sql, [[...names, ...things]]);
    return {
      invoices: lanes.length,
      signups: forgotten.signups,
      calls: logs.calls,
      texts: logs.attempts + forgotten.texts,
      events: bodies,
      quarantined,
      waiting: logs.waiting + (await this.waitingEvents(lanes, events, copies)),
    };
  }

  /**
   * Drops the bytes of events from whole months before `before`. Also drops the bytes of copies in quarantine and of
   * calls with a reply, if they are older than `before`. A waiting event keeps its body.
   */
  async purge(before: Date, onProgress: (dropped: number) => void = () => undefined): Promise<Purged> {
    let dropped = 0;
    const some = (count: number): void => onProgress((dropped += count));
    return {
      events: await purgeBodies(this.db.pool, before, some),
      quarantined: await this.emptyQuarantine(before, some),
      calls: await purgeLog(this.db.pool, this.parts.keeps, before, some),
    };
  }

  private async eraseLogs(lanes: readonly string[]): Promise<ErasedLog> {
    let all: ErasedLog = { calls: 0, attempts: 0, waiting: 0 };
    const logged = await this.db.pool.query<{ lane: string }>(
      'select distinct lane from lane_log where lane = any($1) order by lane',
      [lanes],
    );
    for (const { lane } of logged.rows) {
      const { calls, attempts, waiting } = await eraseLog(this.db.pool, this.parts.keeps, lane);
      all = { calls: all.calls + calls, attempts: all.attempts + attempts, waiting: all.waiting + waiting };
    }
    return all;
  }

  /** Drops the bytes of copies in quarantine older than `before`. */
  private async emptyQuarantine(before: Date, onBatch: (dropped: number) => void): Promise<number> {
    let dropped = 0;
    await walkIds(this.db, 'inbox_quarantine', async (from, to) => {
      const step = await this.change(
        `update inbox_quarantine set body = null where id >= $1 and id < $2 and body is not null and last_at < $3`,
        [from, to, before],
      );
      dropped += step;
      onBatch(step);
    });
    return dropped;
  }

  /** Erases the personal data of rows. Returns the number of erased values. */
  private async forget(row: AnyRow, by: string, values: readonly string[]): Promise<number> {
    const [personal, key] = [personalColumns(row), row.key.map(snake)];
    if (personal.length === 0) return 0;
    const found = await this.db.pool.query<Record<string, unknown>>(
      `select * from ${row.table} where ${by} = any($1)`,
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

  /**
   * Counts the undecided events of these lanes. Also counts parked events and copies in quarantine, in other lanes too:
   * an unusable event may still name the customer.
   */
  private async waitingEvents(
    lanes: readonly string[],
    events: readonly Named[],
    copies: readonly Named[],
  ): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>(
      `select (select count(*) from inbox_event where lane = any($1) and status = 'received')
            + (select count(*) from inbox_event e join event_body b on b.event_id = e.id and b.received_at = e.received_at
                where e.aside = 'parked' and (e.lane = any($1) or e.id = any($2)))
            + (select count(*) from inbox_quarantine where body is not null and ${ONLY_COPY} and (lane = any($1) or id = any($3))) as n`,
      [lanes, events.map((e) => e.id), copies.map((q) => q.id)],
    );
    return Number(found.rows[0]?.n ?? 0);
  }

  private async change(sql: string, values: unknown[]): Promise<number> {
    return (await this.db.pool.query(sql, values)).rowCount ?? 0;
  }
}
