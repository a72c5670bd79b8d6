// The inbox in PostgreSQL: one insert stores a batch of deliveries, and the endpoint replies after the commit.
import { Injectable } from '@nestjs/common';
import { type Delivery, Inbox, type InboxSource, type StoreOutcome } from '../../shared/domain/ports/inbox.js';
import { byteaArray, textArray } from './binary-arrays.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { countersBehind, setForward } from './counters.js';
import { Database, inTransaction, violatedConstraint } from './database.js';
import { bodyOf } from './event-bodies.js';
import { makeDue } from './queue.js';
import { isRepeat, keepCopy, sha256, tellConflict } from './second-body.js';

const NOW = timeSql(7);
const INSERT_SQL = `
  with came as materialized (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $8::bytea[])
               as d(source, event_id, type, lane, status, reason, body)),
  stored as (
  insert into inbox_event (source, event_id, type, lane, body_sha256, status, reason, received_at, decided_at, next_try_at)
  select d.source, d.event_id, d.type, d.lane, sha256(d.body), d.status, d.reason, ${NOW},
         case when d.status = 'received' then null else ${NOW} end, ${NOW}
    from came d
  on conflict (source, event_id) do nothing
  returning id, source, event_id, lane, status, received_at, next_try_at),
  kept as (
  insert into event_body (event_id, received_at, body)
  select s.id, s.received_at, d.body from stored s join came d on d.source = s.source and d.event_id = s.event_id),
  queued as (${makeDue(`select lane, min(next_try_at), count(*) from stored where status = 'received' group by lane`)})
  select source, event_id as "eventId" from stored`;

/**
 * Gives a parked event of Stripe a new body and returns it to its lane. Crossbill could not read the first body. Now
 * Stripe has sent the same event in a readable form.
 */
const READABLE_SQL = `
  with taken as (
    update inbox_event
       set lane = $2, body_sha256 = sha256($3::bytea), status = 'received', reason = null, attempts = 0, decided_at = null, next_try_at = ${timeSql(4)}
     where source = 'stripe' and event_id = $1 and status = 'parked'
    returning id, received_at, lane),
  kept as (
    update event_body b set body = $3 from taken t where b.event_id = t.id and b.received_at = t.received_at)
  ${makeDue(`select lane, ${timeSql(4)}, 1 from taken`)}`;

const readable = (delivery: Delivery, time: DatabaseTime): unknown[] => [
  delivery.eventId,
  delivery.lane,
  delivery.body,
  time.given(),
];

@Injectable()
export class PgInbox extends Inbox {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]> {
    const stored = await this.insert(batch).catch(async (e: unknown) => {
      // A copied database took the place of the old one under this process. The sender's next try succeeds.
      if (violatedConstraint(e) === 'inbox_event_pkey')
        await setForward(this.db.intake, await countersBehind(this.db.intake));
      throw e;
    });
    const first = new Set<Delivery>();
    for (const d of batch) if (stored.delete(nameOf(d))) first.add(d);
    // A batch may contain an event twice. The first of the two deliveries is stored. The second is then compared with
    // the stored event, like any later delivery.
    const again = batch.filter((d) => !first.has(d));
    const hashes = await this.hashes(again);
    const outcomes: StoreOutcome[] = [];
    for (const d of batch) {
      if (first.has(d)) outcomes.push('stored');
      else if (hashes.get(nameOf(d))?.equals(sha256(d.body)) === true) outcomes.push('duplicate');
      else outcomes.push(await this.compare(d));
    }
    return outcomes;
  }

  /**
   * The stored hashes of the known events among these deliveries. One query reads them all: if Crossbill did
   * not reply for a time, a sender repeats many deliveries at once.
   */
  private async hashes(again: readonly Delivery[]): Promise<ReadonlyMap<string, Buffer>> {
    if (again.length === 0) return new Map();
    const known = await this.db.intake.query<{ source: InboxSource; eventId: string; body_sha256: Buffer }>({
      name: 'known_events',
      // A lateral join finds each row by its key. The server never reads the whole table, even with wrong statistics.
      text: `select d.source, d.event_id as "eventId", e.body_sha256 from unnest($1::text[], $2::text[]) as d(source, event_id)
               cross join lateral (select body_sha256 from inbox_event
                                    where source = d.source and event_id = d.event_id limit 1) e`,
      values: [textArray(again.map((d) => d.source)), textArray(again.map((d) => d.eventId))],
    });
    return new Map(known.rows.map((r) => [nameOf(r), r.body_sha256]));
  }

  private async insert(all: readonly Delivery[]): Promise<Set<string>> {
    const batch = [...new Map(all.toReversed().map((d) => [nameOf(d), d])).values()].toReversed();
    const inserted = await this.db.intake.query<{ source: InboxSource; eventId: string }>({
      name: 'store_events', // parsed and planned once per connection
      text: INSERT_SQL,
      values: [
        textArray(batch.map((d) => d.source)),
        textArray(batch.map((d) => d.eventId)),
        textArray(batch.map((d) => d.type)),
        textArray(batch.map((d) => d.lane)),
        textArray(batch.map((d) => d.status)),
        textArray(batch.map((d) => d.reason)),
        this.time.given(),
        // Last on purpose: a value after the bodies would make pg copy its whole buffer into a larger buffer.
        byteaArray(batch.map((d) => d.body)),
      ],
    });
    return new Set(inserted.rows.map(nameOf));
  }

  /**
   * Compares a delivery with a stored event of the same id but other bytes. The bytes may show the same event again, or
   * another event under this id.
   */
  private async compare(delivery: Delivery): Promise<StoreOutcome> {
    const known = await this.db.intake.query<{ body: Buffer | null; body_sha256: Buffer; status: string }>(
      `select ${bodyOf('e')} as body, e.body_sha256, e.status from inbox_event e where e.source = $1 and e.event_id = $2`,
      [delivery.source, delivery.eventId],
    );
    const row = known.rows[0];
    if (row === undefined) throw new Error('an event vanished between two statements');
    if (sha256(delivery.body).equals(row.body_sha256)) return 'duplicate';
    if (isRepeat(row.body, delivery)) {
      if (row.status === 'parked' && delivery.status === 'received')
        await this.db.intake.query(READABLE_SQL, readable(delivery, this.time));
      return 'duplicate';
    }
    await inTransaction(this.db.intake, async (db) => {
      await keepCopy(db, delivery, '', this.time); // `tellConflict` adds the reason
      await tellConflict(db, delivery, delivery.status === 'received', this.time);
    });
    return 'conflict';
  }

  async quarantine(delivery: Delivery, reason: string): Promise<void> {
    await keepCopy(this.db.intake, delivery, reason, this.time);
  }
}

const nameOf = (delivery: Pick<Delivery, 'source' | 'eventId'>): string => `${delivery.source}\n${delivery.eventId}`;
