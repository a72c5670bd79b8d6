// Lists events for people, and stores an operator's action: decide again, or dismiss.
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { isBareEventLane } from '../../shared/domain/events/channel-lane.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database, inTransaction } from '../../frames/store/database.js';
import { invoiceNumbers } from '../../engine/read-model.js';
import { bodyOf, hasBody } from '../../frames/store/event-bodies.js';
import { makeDue } from '../../frames/store/queue.js';
import { type Copy, isRepeat, tellConflict } from '../../frames/store/second-body.js';
import {
  common,
  eventById,
  type EventFilter,
  eventPage,
  type EventRow,
  newestEvent,
  NOT_TAKEN_IN,
  type Row,
} from './event-list.repository.js';
import { eventParser } from './event-parser.js';

const SENDERS = ['stripe', 'mor_payments', 'mor_events'] as const satisfies readonly InboxSource[];

@Injectable()
export class EventsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Events, newest first, by the time of arrival. Throws BadCursor. */
  list(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
    return eventPage(this.db, filter, page);
  }

  /** Lists events, each with the number of its invoice. */
  async numbered(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
    const { data, nextCursor } = await this.list(filter, page);
    const numbers = await invoiceNumbers(
      this.db.orm,
      data.map((e) => ({ invoiceId: e.lane })),
    );
    return { data: data.map((e) => ({ ...e, invoiceNumber: numbers.get(e.lane) ?? null })), nextCursor };
  }

  find(id: string): Promise<(EventRow & { readonly body: Buffer | null }) | null> {
    return eventById(this.db.pool, id);
  }

  /** The newest event of each source. Leaves out a source without events. */
  async newest(): Promise<readonly EventRow[]> {
    const found = await Promise.all(SENDERS.map((source) => newestEvent(this.db.pool, source)));
    return found.filter((e) => e !== null);
  }

  /** The arrival of each source's newest event. Null: none has arrived. */
  async lastEvents(): Promise<readonly { readonly source: InboxSource; readonly at: Date | null }[]> {
    const newest = await this.newest();
    return SENDERS.map((source) => ({ source, at: newest.find((e) => e.source === source)?.receivedAt ?? null }));
  }

  /** The number of quarantined copies not in the inbox. */
  async quarantined(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>(
      `select count(*) as n from inbox_quarantine q where ${NOT_TAKEN_IN}`,
    );
    return Number(found.rows[0]?.n ?? 0);
  }

  /** The numbers of parked events with a body, above the number `after` (0: from the start), oldest first. */
  async parked(after: bigint, limit: number): Promise<readonly bigint[]> {
    const found = await this.db.pool.query<{ id: string }>(
      `select id from inbox_event e where aside = any (array['parked']) and ${hasBody('e')} and id > $1
        order by aside desc, id limit $2`,
      [after, limit],
    );
    return found.rows.map((r) => BigInt(r.id));
  }

  /**
   * Makes an event due for another decision: an event of the inbox (`ie_…`), or an authentic copy from quarantine
   * (`iq_…`). A copy first moves into the inbox. Returns the inbox id. Null: Crossbill cannot decide the event again.
   */
  async retry(id: string): Promise<string | null> {
    const match = /^(ie|iq)_(\d{1,18})$/.exec(id);
    if (match === null) return null;
    const number = match[2] ?? '';
    return inTransaction(this.db.pool, async (db) => {
      if (match[1] === 'iq') return this.release(db, number);
      return (await this.again(db, number)) ? id : null;
    });
  }

  /** Makes an event due for another decision. This is safe: unique rows in the database prevent a second effect. */
  private async again(db: pg.ClientBase, id: string): Promise<boolean> {
    const found = await db.query<{ source: InboxSource; lane: string; body: Buffer }>(
      `select e.source, e.lane, ${bodyOf('e')} as body from inbox_event e where id = $1 and ${hasBody('e')} for update of e`,
      [id],
    );
    const [event] = found.rows;
    if (event === undefined) return false;
    const lane = eventParser.laneAgain(event.source, event.lane, event.body);
    const now = this.time.given();
    await db.query(
      `with again as (
         update inbox_event set lane = $3, status = 'received', reason = null, note = null, attempts = 0, decided_at = null, next_try_at = ${timeSql(2)}
          where id = $1 returning lane)
       ${makeDue(`select lane, ${timeSql(2)}, 1 from again`)}`,
      [id, now, lane],
    );
    return true;
  }

  /**
   * Closes a parked event with the reason and a person's note. The event is ignored, but a person may decide it again.
   * Returns false if the event is not parked.
   */
  async dismiss(id: string, why: string, note: string): Promise<boolean> {
    const number = /^ie_(\d{1,18})$/.exec(id)?.[1];
    if (number === undefined) return false;
    const closed = await this.db.pool.query(
      `update inbox_event set status = 'ignored', reason = $2, decided_at = ${timeSql(3)}, note = $4 where id = $1 and status = 'parked'`,
      [number, why, this.time.given(), note],
    );
    return closed.rowCount === 1;
  }

  /**
   * Moves a quarantined copy into the inbox. If the inbox has the same event, Crossbill decides that event again and
   * drops the copy. If the inbox has another event under the same id, a person gets an item.
   */
  private async release(db: pg.ClientBase, id: string): Promise<string | null> {
    const copy = await db.query<Row>('select * from inbox_quarantine where id = $1 for update', [id]);
    const q = copy.rows[0];
    if (q === undefined || q['body'] === null || q['second_body'] === true) return null;
    const [source, lane, body] = [q['source'] as InboxSource, q['lane'] as string, q['body'] as Buffer];
    const taken = await db.query<{ id: string; lane: string }>(
      `with taken as (
         insert into inbox_event as e (source, event_id, type, lane, body_sha256, status, received_at, next_try_at)
         select source, event_id, type, $3, body_sha256, 'received', received_at, ${timeSql(2)} from inbox_quarantine where id = $1
         on conflict (source, event_id) do update
           set lane = case when e.lane = $4 then $3 else e.lane end, status = 'received', reason = null, note = null, attempts = 0, decided_at = null, next_try_at = excluded.next_try_at
           where e.body_sha256 = excluded.body_sha256
         returning id, lane, received_at),
       kept as (
         insert into event_body (event_id, received_at, body)
         select t.id, t.received_at, q.body from taken t, inbox_quarantine q where q.id = $1 on conflict do nothing)
       select id, lane from taken`,
      [id, this.time.given(), eventParser.laneAgain(source, lane, body), lane],
    );
    const [event] = taken.rows;
    if (event === undefined) return this.compare(db, id, { ...common(q), source, lane, body });
    await db.query(makeDue(`values ($1::text, ${timeSql(2)}, 1)`), [event.lane, this.time.given()]);
    await this.released(db, id);
    return `ie_${event.id}`;
  }

  /**
   * Compares the quarantined copy with the inbox event of the same id. If both are the same event, Crossbill decides
   * the inbox event again. If not, a person gets an item.
   */
  private async compare(db: pg.ClientBase, id: string, copy: Copy): Promise<string | null> {
    const found = await db.query<{ id: string; body: Buffer | null }>(
      `select e.id, ${bodyOf('e')} as body from inbox_event e where e.source = $1 and e.event_id = $2`,
      [copy.source, copy.eventId],
    );
    const [known] = found.rows;
    if (known === undefined) return null;
    if (!isRepeat(known.body, copy)) {
      await tellConflict(db, copy, !isBareEventLane(copy.lane), this.time);
      return null;
    }
    await this.again(db, known.id);
    await this.released(db, id);
    return `ie_${known.id}`;
  }

  private async released(db: pg.ClientBase, id: string): Promise<void> {
    await db.query(`update inbox_quarantine set released_at = ${timeSql(2)} where id = $1`, [id, this.time.given()]);
  }
}
