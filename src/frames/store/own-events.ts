// Stores Crossbill's own events in the caller's transaction, and makes their lanes due. Skips an event with a known id.
import type pg from 'pg';
import { type OwnDelivery } from '../../shared/domain/events/own-event.js';
import { type DatabaseTime, timeSql } from './database-time.js';
import { makeDue } from './queue.js';

const STORE_SQL = `
  with came as materialized (
    select event_id, type, lane, convert_to(body, 'UTF8') as body
      from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as d(event_id, type, lane, body)),
  stored as (
  insert into inbox_event (source, event_id, type, lane, body_sha256, status, received_at, next_try_at)
  select 'crossbill', event_id, type, lane, sha256(body), 'received', ${timeSql(5)}, ${timeSql(5)} from came order by event_id
  on conflict (source, event_id) do nothing
  returning id, event_id, lane, received_at, next_try_at),
  kept as (
  insert into event_body (event_id, received_at, body)
  select s.id, s.received_at, c.body from stored s join came c on c.event_id = s.event_id),
  queued as (${makeDue('select lane, min(next_try_at), count(*) from stored group by lane')})
  select event_id from stored`;

/** Stores the events and makes their lanes due. Returns the number of new events. */
export async function tellLanes(
  db: Pick<pg.ClientBase, 'query'>,
  deliveries: readonly OwnDelivery[],
  time: DatabaseTime,
): Promise<number> {
  const column = (of: (ownDelivery: OwnDelivery) => string): string[] => deliveries.map(of);
  const stored = await db.query(STORE_SQL, [
    column((d) => d.id),
    column((d) => d.event.type),
    column((d) => d.lane),
    column((d) => JSON.stringify(d.event)),
    time.given(),
  ]);
  return stored.rowCount ?? 0;
}
