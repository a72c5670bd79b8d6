// A known event id arrives again with other bytes. Stripe may write the same event in another way. If the bytes are
// another event, a person gets an item.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { isChannelLane, itemLane } from '../../shared/domain/events/channel-lane.js';
import { secondBodySubject } from '../../shared/domain/events/own-event.js';
import { isSameStripeEvent, sameEvent } from '../../shared/domain/events/same-event.js';
import { type Delivery } from '../../shared/domain/ports/inbox.js';
import { type DatabaseTime, timeSql } from './database-time.js';
import { tellLanes } from './own-events.js';

/** The parts of a delivery to compare, and to copy into quarantine. */
export type Copy = Pick<Delivery, 'source' | 'eventId' | 'type' | 'lane' | 'body'>;

const KEEP_SQL = `
  insert into inbox_quarantine (source, event_id, type, lane, body, body_sha256, reason, received_at, last_at)
  values ($1, $2, $3, $4, $5, $6, $7, ${timeSql(8)}, ${timeSql(8)})
  on conflict (source, body_sha256) do update set deliveries = inbox_quarantine.deliveries + 1, last_at = excluded.last_at`;

const CONFLICT = 'conflict: this id came before with another body';
/**
 * Marks a copy in quarantine as the second body of its event. Returns a row only the first time, so repeats of the same
 * bytes send no further event to the lane.
 */
const IS_NEWS_SQL = `
  update inbox_quarantine set reason = $3, second_body = true
   where source = $1 and body_sha256 = $2 and not second_body returning 1`;

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Keeps one copy in quarantine and counts its repeats. */
export async function keepCopy(
  db: Pick<pg.Pool, 'query'>,
  copy: Copy,
  reason: string,
  time: DatabaseTime,
): Promise<void> {
  await db.query(KEEP_SQL, [
    copy.source,
    copy.eventId,
    copy.type,
    copy.lane,
    copy.body,
    sha256(copy.body),
    reason,
    time.given(),
  ]);
}

/**
 * True if the delivery is the same event as the stored body `known`. Stripe may write one event in several ways, so
 * Crossbill compares the content of Stripe's events. The MoR repeats an event with the same bytes. If an erasure
 * removed the stored body, `known` is null, and every further body from Stripe counts as the same event.
 */
export function isRepeat(known: Buffer | null, copy: Copy): boolean {
  if (copy.source !== 'stripe') return known !== null && sameEvent(known, copy.body);
  return known === null || isSameStripeEvent(known, copy.body);
}

/**
 * Sends the lane an event about a second body: only one, even if the same bytes arrive many times. The quarantine may
 * already have a copy of these bytes, from a delivery outside the time window. The lane still gets the event.
 */
export async function tellConflict(db: pg.ClientBase, copy: Copy, isUsed: boolean, time: DatabaseTime): Promise<void> {
  const hash = sha256(copy.body);
  const news = await db.query(IS_NEWS_SQL, [copy.source, hash, CONFLICT]);
  if (news.rowCount !== 1) return;
  const { source, eventId } = copy;
  const event = { type: 'event.second_body', source, event: eventId, event_type: copy.type } as const;
  const lane = isUsed && !isChannelLane(copy.lane) ? copy.lane : itemLane(secondBodySubject(event));
  await tellLanes(db, [{ id: `${event.type}:${hash.toString('hex')}`, lane, event }], time);
}
