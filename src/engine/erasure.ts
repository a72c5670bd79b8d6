// Takes personal data out of what is kept: of one customer on request, of everybody by age. Amounts, ids, hashes and the ledger stay.
import { type Database } from '../store/database.js';
import { purgeBodies } from '../store/event-bodies.js';
import { eraseLog, type ErasedLog, purgeLog } from './log-erasure.js';

export type Erased = {
  readonly invoices: number;
  readonly signups: number;
  readonly events: number;
  readonly quarantined: number;
  /** Calls whose bytes named the customer: to the MoR, and relayed events. */
  readonly calls: number;
  /** Free texts: why a charge failed, reasons of refunds, notes of people. */
  readonly texts: number;
  /**
   * Events that wait to be decided, or for a person, in quarantine too, and calls that wait to be sent: they need their bytes still. Run it
   * again later.
   */
  readonly waiting: number;
};

export type Purged = { readonly events: number; readonly quarantined: number; readonly calls: number };

const BATCH = 2_000;

/** Nobody has to decide on the event `e` any more. */
const OVER = `e.status not in ('received', 'parked')`;

/**
 * A copy in quarantine is all that there is of its event: it came outside of the time window each time, and no person has taken it in. One
 * that came with another body than its event is never applied.
 */
const ONLY_COPY = `inbox_quarantine.released_at is null and not inbox_quarantine.second_body and not exists (
  select from inbox_event i where i.source = inbox_quarantine.source and i.event_id = inbox_quarantine.event_id)`;

/** A body names one of `$n`. */
const named = (n: number): string =>
  `exists (select 1 from unnest($${n}::text[]) as name where position(convert_to('"' || name || '"', 'UTF8') in body) > 0)`;

export class Erasure {
  constructor(private readonly db: Database) {}

  /** True when anything is known of this customer. */
  async knows(customerId: string): Promise<boolean> {
    const found = await this.db.pool.query<{ known: boolean }>(
      `select exists (select 1 from invoice where customer_id = $1) or exists (select 1 from payment where customer_id = $1)
           or exists (select 1 from signup where customer_id = $1) or exists (select 1 from customer_link where customer_id = $1) as known`,
      [customerId],
    );
    return found.rows[0]?.known === true;
  }

  /** Safe to run again; what was erased is not counted a second time. */
  async eraseCustomer(customerId: string): Promise<Erased> {
    const lanes = await this.lanesOf(customerId);
    const signups = await this.change('update signup set body = null where customer_id = $1 and body is not null', [
      customerId,
    ]);
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
    // Bodies anywhere that name one of these, such as events that we do not use. All bodies are read.
    const elsewhere = await this.emptied('inbox_event', named(3), names);
    const quarantinedElsewhere = await this.emptied('inbox_quarantine', `${named(3)} and not (${ONLY_COPY})`, names);
    const references = await this.change(
      'update customer_link set reference = null where customer_id = $1 and reference is not null',
      [customerId],
    );
    const texts = references + (await this.dropTexts(lanes));
    return {
      invoices: lanes.length,
      signups,
      calls: logs.calls,
      texts: texts + logs.attempts,
      events: inLanes + elsewhere,
      quarantined: quarantined + quarantinedElsewhere,
      waiting: logs.waiting + (await this.waitingEvents(lanes, names)),
    };
  }

  /**
   * Raw bodies of the months that ended before `before`, copies put into quarantine and calls answered before then. What waits to be
   * decided, or for a person, keeps its body.
   */
  async purge(before: Date, onProgress: (dropped: number) => void = () => undefined): Promise<Purged> {
    let dropped = 0;
    const some = (n: number): void => onProgress((dropped += n));
    return {
      events: await purgeBodies(this.db.pool, before, some),
      quarantined: await this.emptied('inbox_quarantine', 'last_at < $3', before, some),
      calls: await purgeLog(this.db.pool, before, some),
    };
  }

  private async eraseLogs(lanes: readonly string[]): Promise<ErasedLog> {
    let all: ErasedLog = { calls: 0, attempts: 0, waiting: 0 };
    for (const lane of lanes) {
      const { calls, attempts, waiting } = await eraseLog(this.db.pool, lane);
      all = { calls: all.calls + calls, attempts: all.attempts + attempts, waiting: all.waiting + waiting };
    }
    return all;
  }

  /**
   * Drops the bodies of the rows that `which` picks by `$3`, from the oldest row on, in short steps by id: each looks at its own rows
   * only, however many were emptied before, and stays far from the time limit of a statement.
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

  /** What peers and people wrote beside the facts: it may name anybody. Codes stay. */
  private async dropTexts(lanes: readonly string[]): Promise<number> {
    const drop = (table: string, column: string): Promise<number> =>
      this.change(`update ${table} set ${column} = null where invoice_id = any($1) and ${column} is not null`, [lanes]);
    const told = await this.change(
      `update refund set failure = jsonb_set(failure, '{message}', '"erased"')
        where invoice_id = any($1) and failure ->> 'code' = 'told_by_person' and failure ->> 'message' <> 'erased'`,
      [lanes],
    );
    // What the MoR said of a proforma invoice's recipient, for example, when it refused it.
    const refusals = await this.change(
      `update mor_object set detail = jsonb_set(detail, '{refusal}', detail -> 'refusal' || '{"message":"erased","errors":[]}')
        where invoice_id = any($1) and detail -> 'refusal' ->> 'message' <> 'erased'`,
      [lanes],
    );
    const failures = await this.change(
      `update mor_object set detail = jsonb_set(detail, '{failure,message}', '"erased"')
        where invoice_id = any($1) and detail -> 'failure' ->> 'message' <> 'erased'`,
      [lanes],
    );
    // Why a card was declined, as a notification of it told the merchant's backend.
    const notified = await this.change(
      `update notification set body = jsonb_set(body::jsonb, '{data,failure_message}', 'null')::text
        where invoice_id = any($1) and type = 'customer.method_needed' and format = 'standard'
          and body::jsonb -> 'data' ->> 'failure_message' is not null`,
      [lanes],
    );
    return (
      refusals +
      failures +
      notified +
      (await drop('payment', 'failure_message')) +
      (await drop('refund', 'reason')) +
      (await drop('review', 'note')) +
      (await drop('difference_ack', 'note')) +
      told
    );
  }

  /** The customer's invoices: their events and calls go by the invoice's id. */
  private async lanesOf(customerId: string): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ id: string }>(
      `select invoice_id as id from invoice where customer_id = $1
       union select invoice_id from payment where customer_id = $1
       union select invoice_id from signup where customer_id = $1 and invoice_id is not null`,
      [customerId],
    );
    return found.rows.map((r) => r.id);
  }

  private async morCustomersOf(customerId: string): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ id: string }>(
      'select mor_customer_id as id from customer_link where customer_id = $1',
      [customerId],
    );
    return found.rows.map((r) => r.id);
  }

  /** Parked ones, and copies in quarantine, also in lanes of their own: what could not be used may name the customer all the same. */
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
