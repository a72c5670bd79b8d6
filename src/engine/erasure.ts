// Erases personal data: of one customer on request, or of all customers by age. Amounts, ids, hashes and the ledger
// stay. Each entity marks its personal columns.
import { itemLane } from '../shared/domain/events/channel-lane.js';
import { secondBodySubject } from '../shared/domain/events/own-event.js';
import { REVIEW } from '../shared/domain/model.js';
import { type InboxSource } from '../shared/domain/ports/inbox.js';
import { type AnyRow, jsonText, personalColumns, withoutPersonal } from '../frames/store/codec.js';
import { snake } from '../frames/store/columns.js';
import { type Database } from '../frames/store/database.js';
import { purgeBodies } from '../frames/store/event-bodies.js';
import { CUT_REASON, eraseLog, type ErasedLog, type KeptBytes, purgeLog } from './erased-log.js';
import { LOGGED } from './lane-log.js';
import { OPEN_CALL } from './read-rows.js';

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
const named = (count: number): string =>
  `exists (select 1 from unnest($${count}::text[]) as name where position(convert_to('"' || name || '"', 'UTF8') in body) > 0)`;

/**
 * The body names the customer, or it lies in no invoice's lane and names something of the customer: for example a
 * dispute that Crossbill could not read.
 */
const NAMES_ONE = `(${named(3)} or (lane ~ '^(event|mor|item):' and ${named(4)}))`;

const SEARCHES = {
  inbox_event: `select e.id, e.source, e.event_id from inbox_event e join event_body b on b.event_id = e.id
    where b.event_id >= $1 and b.event_id < $2 and ${NAMES_ONE}`,
  inbox_quarantine: `select id, source, event_id from inbox_quarantine
    where id >= $1 and id < $2 and body is not null and ${NAMES_ONE}`,
} as const;
type Inbox = keyof typeof SEARCHES;

/** An event, or a copy in quarantine, with one of the customer's ids in its body. */
type Named = { readonly id: string; readonly source: InboxSource; readonly event_id: string };

export class Erasure {
  constructor(
    private readonly db: Database,
    private readonly parts: ErasedParts,
  ) {}

  /** The entities with a customer id. */
  private get byCustomer(): readonly AnyRow[] {
    return [...ROWS, ...this.parts.rows.map(({ row }) => row)].filter(({ columns }) => 'customerId' in columns);
  }

  /** True if a row or a stored body names this customer. */
  async knows(customerId: string): Promise<boolean> {
    const named = this.byCustomer.map(({ table }) => `exists (select from ${table} where customer_id = $1)`);
    const found = await this.db.pool.query<{ known: boolean }>(`select ${named.join(' or ')} as known`, [customerId]);
    if (found.rows[0]?.known === true) return true;
    const { events, copies } = await this.naming([customerId], []);
    return events.length + copies.length > 0;
  }

  /** Erases a customer's personal data. Safe to run again: a second run counts only its own erasures. */
  async eraseCustomer(customerId: string): Promise<Erased> {
    const lanes = await this.lanesOf(customerId);
    const names = [customerId, ...(await this.idsOf(customerId, 'morCustomerId'))];
    const things = [...lanes, ...(await this.thingsOf(customerId, lanes))];
    const { events, copies } = await this.naming(names, things);
    const alone = await this.subjectsOf(customerId, [...events, ...copies]);
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

  /**
   * The events, and the copies in quarantine, with one of these names in their bodies. `things`: ids that count only
   * outside the lanes of invoices. Reads all bodies.
   */
  private async naming(
    names: readonly string[],
    things: readonly string[],
  ): Promise<{ readonly events: readonly Named[]; readonly copies: readonly Named[] }> {
    const search = async (inbox: Inbox): Promise<readonly Named[]> => {
      const found: Named[] = [];
      await this.walk(inbox, async (from, to) => {
        found.push(...(await this.db.pool.query<Named>(SEARCHES[inbox], [from, to, names, things])).rows);
      });
      return found;
    };
    return { events: await search('inbox_event'), copies: await search('inbox_quarantine') };
  }

  /**
   * Goes through a table in short ranges of ids, oldest row first. Each step reads only its own rows, so its statement
   * stays far below its time limit.
   */
  private async walk(inbox: Inbox, step: (from: string, to: string) => Promise<void>): Promise<void> {
    const bounds = await this.db.pool.query<{ first: string | null; last: string | null }>(
      `select min(id) as first, max(id) as last from ${inbox}`,
    );
    const last = BigInt(bounds.rows[0]?.last ?? '0');
    for (let from = BigInt(bounds.rows[0]?.first ?? '1'); from <= last; from += BigInt(BATCH))
      await step(from.toString(), (from + BigInt(BATCH)).toString());
  }

  /** Drops the bytes of copies in quarantine older than `before`. */
  private async emptyQuarantine(before: Date, onBatch: (dropped: number) => void): Promise<number> {
    let dropped = 0;
    await this.walk('inbox_quarantine', async (from, to) => {
      const step = await this.change(
        `update inbox_quarantine set body = null where id >= $1 and id < $2 and body is not null and last_at < $3`,
        [from, to, before],
      );
      dropped += step;
      onBatch(step);
    });
    return dropped;
  }

  /** The subjects of review items without an invoice about the customer or about these events. */
  private async subjectsOf(customerId: string, events: readonly Named[]): Promise<readonly string[]> {
    const found = new Set(
      events.flatMap(({ source, event_id: event }) => [event, secondBodySubject({ source, event })]),
    );
    for (const sql of this.parts.subjects)
      for (const { subject } of (await this.db.pool.query<{ subject: string }>(sql, [customerId])).rows)
        found.add(subject);
    return [...found];
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

  /** The customer's invoices. Their ids are the names of their lanes. */
  private lanesOf(customerId: string): Promise<readonly string[]> {
    return this.idsOf(customerId, 'invoiceId');
  }

  /**
   * Every id of the customer's things, at Stripe, the MoR and the processor: payments, charges, refunds, objects,
   * signups. An event may name any one of them and no customer.
   */
  private async thingsOf(customerId: string, lanes: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const { table, columns } of [...ROWS, ...this.parts.rows.map(({ row }) => row)]) {
      const ids = Object.keys(columns).filter((name) => /(^i|I)d$/.test(name) && name !== 'customerId');
      const owners = Object.entries({ customerId: [customerId], invoiceId: lanes }).filter(([name]) => name in columns);
      if (owners.length === 0) continue;
      const mine = owners.map(([name], n) => `${snake(name)} = any($${n + 1})`).join(' or ');
      const rows = await this.db.pool.query<Record<string, string | null>>(
        `select ${ids.map(snake).join(', ')} from ${table} where ${mine}`,
        owners.map(([, values]) => values),
      );
      for (const row of rows.rows) for (const id of Object.values(row)) if (id !== null) found.add(id);
    }
    const announced = await this.db.pool.query<{ id: string }>(
      `select jsonb_path_query(detail, '$.observed[*].*') #>> '{}' as id from mor_object where invoice_id = any($1)`,
      [lanes],
    );
    for (const { id } of announced.rows) if (/^[a-z]+_\w+$/i.test(id)) found.add(id);
    return [...found];
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
