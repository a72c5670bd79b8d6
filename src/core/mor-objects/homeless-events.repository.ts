// Finds the invoices of events without an invoice id, and moves each event to the lane of its invoice. One query finds
// all invoices, and one transaction makes all moves.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { REVIEW, type ReviewRow } from '../../shared/domain/review-row.js';
import { EventFailed, LaneFenced, type WaitingEvent } from '../../engine/lane.repository.js';
import { StoreUnavailable } from '../../shared/domain/errors.js';
import { insertSql, jsonText, toJson } from '../../frames/store/codec.js';
import { DatabaseTime, laterSql, readTime, timeSql } from '../../frames/store/database-time.js';
import { Database, inTransaction, isUnavailable } from '../../frames/store/database.js';
import { bodyOf, hasBody } from '../../frames/store/event-bodies.js';
import { makeDue, releaseFor } from '../../frames/store/queue.js';
import { EVENTS_AT_ONCE, waitingEvent } from '../../engine/lane-reader.js';
import { ParsedEvents } from '../../engine/parsed-events.js';
import { type Home, type Routing } from './rules/route-event.js';

type Row = Record<string, unknown>;

/**
 * An event without an invoice. `reviewId`: the open item that asks a person about the event; null: Crossbill has not
 * decided about the event yet. `waitedMs`: the event's age by the database's clock.
 */
export type HomelessEvent = WaitingEvent & { readonly reviewId: string | null; readonly waitedMs: number };

/** One event with its route. `review`: the new item that asks a person about the event. */
export type Routed = {
  readonly stored: HomelessEvent;
  readonly routing: Routing;
  readonly review: ReviewRow | null;
};

// Finds the invoices for a list of ids. If two invoices have payments with the same charge, the oldest record comes
// first. Without the order by `seq`, the database could return the records in any order.
const HOMES_SQL = `
  select mor_id as id, 'object' as what, invoice_id, seq from mor_object where mor_id = any($1)
  union all
  select asked.key, 'message', o.invoice_id, o.seq from unnest($1::text[]) as asked(key)
    join mor_object o on o.id = substring(asked.key from '^crossbill:create_(?:proforma|payment_link):(.*):[0-9]+$')
  union all
  select asked.id, 'payment', o.invoice_id, o.seq from unnest($1::text[]) as asked(id)
    join mor_object o on o.detail->'observed' @> jsonb_build_array(jsonb_build_object('charge', asked.id))
                      or o.detail->'observed' @> jsonb_build_array(jsonb_build_object('paymentId', asked.id))
  union all
  select payment_id, 'payment', invoice_id, seq from payment where payment_id = any($1)
  union all
  select id, 'payment', invoice_id, seq from payment where id = any($1)
  union all
  select processor_charge_id, 'payment', invoice_id, seq from payment where processor_charge_id = any($1)
  union all
  select processor_payment_intent_id, 'payment', invoice_id, seq from payment where processor_payment_intent_id = any($1)
  union all
  select mor_refund_id, 'refund', invoice_id, seq from refund where mor_refund_id = any($1)
  union all
  select processor_refund_id, 'refund', invoice_id, seq from refund where processor_refund_id = any($1)
  union all
  select invoice_id, 'invoice', invoice_id, seq from invoice where invoice_id = any($1)
  union all
  select tax_calculation_id, 'signup', invoice_id, seq from signup where tax_calculation_id = any($1)
  union all
  select intent_id, 'signup', invoice_id, seq from signup where intent_id = any($1)
   order by seq`;

/** An SQL condition on an item's kind: the item may be about an event without an invoice. */
const OF_EVENT = (kind: string): string => `${kind} in ('conflicting_event', 'dispute')`;

@Injectable()
export class HomelessEvents {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
    private readonly parsed: ParsedEvents,
  ) {}

  /** Loads the lane's waiting events, and its events with an open item. */
  async load(lane: string): Promise<readonly HomelessEvent[]> {
    const found = await this.guarded(() =>
      this.db.pool.query<Row>(
        `select e.*, ${bodyOf('e')} as body, extract(epoch from ${timeSql(2)} - e.received_at) * 1000 as waited_ms, case when e.status = 'received' then null else r.id end as review_id from inbox_event e
           left join review r on r.subject = e.event_id and r.invoice_id is null and r.status = 'open'
            and ${OF_EVENT('r.kind')}
          where e.lane = $1 and ${hasBody('e')}
            and ((e.status = 'received' and e.next_try_at <= ${timeSql(2)}) or (e.status = 'done' and r.id is not null))
          order by e.id limit ${EVENTS_AT_ONCE}`,
        [lane, this.time.given()],
      ),
    );
    return found.rows.map((r) => ({
      ...waitingEvent(r, this.parsed),
      reviewId: r['review_id'] as string | null,
      waitedMs: Math.max(0, Number(r['waited_ms'])),
    }));
  }

  /** Finds every record with one of these ids, in one query. */
  async homes(ids: readonly string[]): Promise<readonly Home[]> {
    if (ids.length === 0) return [];
    const found = await this.guarded(() =>
      this.db.pool.query<{ id: string; what: Home['what']; invoice_id: string | null }>(HOMES_SQL, [ids]),
    );
    return found.rows.map((r) => ({ id: r.id, what: r.what, invoiceId: r.invoice_id }));
  }

  /**
   * Stores the routes in one transaction. An event with a known invoice moves to the lane of this invoice, and its item
   * closes. An event without a known invoice waits or gets an item. Throws LaneFenced after another worker's claim, and
   * EventFailed for an event whose route the database refuses.
   * @param pollAgainInMs the pause before the lane's next search; null: the lane's next event starts the search
   */
  async route(lane: string, fence: bigint, routed: readonly Routed[], pollAgainInMs: number | null): Promise<void> {
    await this.guarded(() =>
      inTransaction(this.db.pool, async (db) => {
        const held = await db.query('select key from lane where key = $1 and fence = $2 for update', [lane, fence]);
        if (held.rowCount !== 1) throw new LaneFenced(`lane ${lane} was claimed by another worker`);
        const now = await readTime(db, this.time);
        for (const one of routed) {
          await write(db, one, now).catch((e: unknown) => {
            throw isUnavailable(e) ? e : new EventFailed(one.stored.id, e);
          });
        }
        await releaseFor(db, lane, now, pollAgainInMs);
      }),
    );
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (e) {
      if (isUnavailable(e)) throw new StoreUnavailable('the database did not answer', { cause: e });
      throw e;
    }
  }
}

async function write(db: pg.PoolClient, { stored: { id }, routing: r, review }: Routed, now: Date): Promise<void> {
  if ('moveTo' in r) {
    await db.query(
      `update inbox_event set lane = $2, status = 'received', reason = null, attempts = 0, decided_at = null, next_try_at = $3
        where id = $1`,
      [id, r.moveTo, now],
    );
    await db.query(makeDue('values ($1::text, $2::timestamptz, 1)'), [r.moveTo, now]);
    return clear(db, id, r.moveTo, now);
  }
  if ('waitMs' in r) {
    await db.query(`update inbox_event set next_try_at = ${laterSql(2, 3)} where id = $1`, [id, now, r.waitMs]);
    return;
  }
  const decided = [id, r.status, r.reason, now];
  await db.query('update inbox_event set status = $2, reason = $3, decided_at = $4 where id = $1', decided);
  if (review !== null) await open(db, { ...review, createdAt: now });
}

/** Opens the item about an event, unless the event already had an item of this kind. */
async function open(db: pg.PoolClient, review: ReviewRow): Promise<void> {
  const before = await db.query('select 1 from review where kind = $1 and subject = $2', [review.kind, review.subject]);
  if (before.rowCount !== 0) return;
  await db.query(`${insertSql(REVIEW)} on conflict do nothing`, [jsonText([toJson(REVIEW, review)])]);
}

/** Closes the open item about event `id`, because the event's invoice is known now. */
async function clear(db: pg.PoolClient, id: bigint, invoiceId: string, now: Date): Promise<void> {
  const note = `it belongs to invoice ${invoiceId}`;
  await db.query(
    `update review set status = 'resolved', resolved_at = $2, resolved_by = 'crossbill', resolution = 'cleared', note = $3
      where subject = (select event_id from inbox_event where id = $1) and invoice_id is null and status = 'open' and ${OF_EVENT('kind')}`,
    [id, now, note],
  );
}
