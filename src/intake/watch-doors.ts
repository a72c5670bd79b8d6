// The webhook endpoints' reports on their answers, as metrics and log lines.
import { type Delivery, type InboxSource } from '../domain/ports/inbox.js';
import { type Refusal, whatToCheck } from '../domain/refusal.js';
import { type Wake } from '../engine/wake.js';
import { eventName, type EventOutcome, type Logger, type Metrics, MinuteLimit } from '../observe/index.js';
import { statusOf } from './answers.js';
import { type AnswerListener, type DoorOutcome, isTaken } from './options.js';

/**
 * Lines per endpoint, reason and minute about refused deliveries: anyone can send them, and a lost database refuses
 * all. Neither a flood nor an outage must fill the log, or an already full disk. The metric counts every one.
 */
const LINES_A_MINUTE = 20;

/** Authentic, and refused by our own state. */
const OURS: ReadonlySet<Refusal> = new Set<Refusal>(['timestamp_out_of_tolerance', 'database']);

/** Counts each answer of an endpoint and wakes the workers for a new event. */
export function watchDoors(metrics: Metrics, log: Logger, wake: Wake): AnswerListener {
  const limits = new Map<string, MinuteLimit>();
  /** Number of lines left out before this one; null: leave it out too. */
  const admit = (endpoint: InboxSource, reason: Refusal): number | null => {
    const key = `${endpoint} ${reason}`;
    const limit = limits.get(key) ?? new MinuteLimit(LINES_A_MINUTE);
    limits.set(key, limit);
    return limit.admit(performance.now());
  };
  return (endpoint, outcome, { delivery, error, signed }) => {
    const refused = !isTaken(outcome) && outcome !== 'aborted' ? outcome : null;
    if (refused !== null) metrics.webhookRefusal(endpoint, refused);
    if (endpoint === null) return; // the request's head was unreadable
    metrics.webhookAnswer(endpoint, statusOf(endpoint, outcome));
    const counted = delivery === null ? null : eventOutcome(outcome, delivery);
    if (delivery !== null && counted !== null) metrics.event(endpoint, delivery.type, counted);
    const name = delivery === null ? undefined : eventName(delivery);
    const line = {
      endpoint,
      outcome,
      delivery: name,
      lane: delivery?.lane,
      type: delivery?.type,
      reason: delivery?.reason,
    };
    if (outcome === 'stored') {
      wake.lanes();
      if (delivery?.status === 'parked')
        log.error({ event: 'webhooks.parked', ...line }, 'Crossbill cannot use an authentic event and parked it');
      else log.debug(line, 'event stored');
    } else if (outcome === 'conflict')
      log.error({ event: 'webhooks.conflict', ...line }, 'an event id came again with another body');
    else if (refused !== null && signed) {
      const leftOut = admit(endpoint, refused);
      if (leftOut === null) return;
      const more = leftOut === 0 ? {} : { more_not_logged: leftOut };
      const said = {
        event: 'webhooks.refused',
        ...line,
        ...more,
        status: statusOf(endpoint, refused),
        reason: refused,
        err: error ?? undefined,
      } as const;
      log[OURS.has(refused) ? 'error' : 'warn'](said, `refused a delivery: ${whatToCheck(endpoint, refused)}`);
    }
  };
}

/** An authentic delivery's outcome; null: not accepted. */
function eventOutcome(outcome: DoorOutcome, delivery: Delivery): EventOutcome | null {
  if (outcome === 'duplicate' || outcome === 'conflict') return outcome;
  if (outcome === 'timestamp_out_of_tolerance') return 'quarantined';
  if (outcome !== 'stored') return null;
  return delivery.status === 'received' ? 'stored' : delivery.status;
}
