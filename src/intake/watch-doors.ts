// What the doors report about their answers, as metrics, log lines and traces.
import { type Delivery, type InboxSource } from '../domain/ports/inbox.js';
import { type Wake } from '../lane/wake.js';
import { eventName, type EventOutcome, type Logger, type Metrics, MinuteLimit, type Tracer } from '../observe/index.js';
import { type AnswerListener, type DoorOutcome } from './options.js';

// The answer a door gave, for the counter by status. A mismatch is answered as the operator chose.
const STATUS: Record<Exclude<DoorOutcome, 'mismatch'>, number> = {
  stored: 200,
  duplicate: 200,
  conflict: 200,
  malformed: 400,
  'too-large': 413,
  method: 405,
  unexpected: 503,
  slow: 503,
  aborted: 499,
  stale: 503,
  'not-stored': 503,
  closed: 503,
};

/** @param mismatchStatus what a delivery signed with none of our secrets is answered */
export function statusOf(outcome: DoorOutcome, mismatchStatus: number): number {
  return outcome === 'mismatch' ? mismatchStatus : STATUS[outcome];
}

/**
 * Lines per door and minute about deliveries that anyone can send or send again, and about those that the database would not take: neither
 * a flood nor an outage must fill the log, or the disk that is full already. The metric counts every one.
 */
const LINES_A_MINUTE = 20;

/** The next line that goes through says how many did not. */
function limitedPerDoor(): (door: InboxSource, say: (more: { readonly more_not_logged?: number }) => void) => void {
  const limits = new Map<InboxSource, MinuteLimit>();
  return (door, say) => {
    const limit = limits.get(door) ?? new MinuteLimit(LINES_A_MINUTE);
    limits.set(door, limit);
    const unsaid = limit.admit(performance.now());
    if (unsaid !== null) say(unsaid === 0 ? {} : { more_not_logged: unsaid });
  };
}

/**
 * Counts each answer of a door and wakes the workers when something new was stored.
 * @param mismatchStatus what a delivery signed with none of our secrets is answered
 */
export function watchDoors(
  metrics: Metrics,
  log: Logger,
  wake: Wake,
  mismatchStatus: number,
  tracer: Tracer | null,
): AnswerListener {
  const strangers = limitedPerDoor();
  const stale = limitedPerDoor();
  const notStored = limitedPerDoor();
  return (door, outcome, { delivery, error }) => {
    metrics.webhookAnswer(door, statusOf(outcome, mismatchStatus));
    if (outcome === 'mismatch') metrics.webhookMismatch(door, mismatchStatus);
    const counted = delivery === null ? null : eventOutcome(outcome, delivery);
    if (delivery !== null && counted !== null) metrics.event(door, delivery.type, counted);
    const event = delivery === null ? undefined : eventName(delivery);
    const line = { door, outcome, event, lane: delivery?.lane, type: delivery?.type, reason: delivery?.reason };
    if (delivery !== null) {
      tracer?.webhook(delivery, outcome, { startedAt: delivery.receivedAt.getTime(), endedAt: Date.now() });
    }
    if (outcome === 'stored') {
      wake.lanes();
      if (delivery?.status === 'parked') log.error(line, 'an authentic event cannot be used and was parked');
      else log.debug(line, 'event stored');
    } else if (outcome === 'not-stored')
      notStored(door, (more) =>
        log.error({ ...line, ...more, err: error }, 'an event could not be stored; the sender will try again'),
      );
    else if (outcome === 'stale')
      stale(door, (more) =>
        log.error({ ...line, ...more }, 'an authentic event is outside the time tolerance: check the clocks'),
      );
    else if (outcome === 'conflict') log.error(line, 'an event id came again with another body');
    else if (outcome === 'mismatch')
      strangers(door, (more) => log.warn({ ...line, ...more }, "a delivery's signature matches no secret"));
  };
}

/** What became of an authentic delivery; null: it was not taken. */
function eventOutcome(outcome: DoorOutcome, delivery: Delivery): EventOutcome | null {
  if (outcome === 'duplicate' || outcome === 'conflict') return outcome;
  if (outcome === 'stale') return 'quarantined';
  if (outcome !== 'stored') return null;
  return delivery.status === 'received' ? 'stored' : delivery.status;
}
