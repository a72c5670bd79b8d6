// Turns the replies of the webhook endpoints into metrics and log lines.
import { nameLane } from '../../shared/domain/events/channel-lane.js';
import { type Delivery, type InboxSource } from '../../shared/domain/ports/inbox.js';
import { type Refusal, whatToCheck } from '../../shared/domain/refusal.js';
import { type LaneSignal } from '../../engine/lane-signal.js';
import { eventName, type EventOutcome, type Logger, type Metrics, MinuteLimit } from '../../shared/observe/index.js';
import { statusOf } from './replies.js';
import { type ReplyListener, type EndpointOutcome, isTaken } from './options.js';

/**
 * The most log lines about refused deliveries, per endpoint, reason and minute. Anyone can send deliveries, and without
 * a database all are refused. Neither a flood nor an outage may fill the log or the disk. The metric counts every
 * refusal.
 */
const LINES_A_MINUTE = 20;

/** Crossbill refuses authentic deliveries for these reasons, so their log lines are errors. */
const OURS: ReadonlySet<Refusal> = new Set<Refusal>(['timestamp_out_of_tolerance', 'database']);

/** Counts each reply of an endpoint, and wakes the workers for a new event. */
export function watchEndpoints(metrics: Metrics, log: Logger, signal: LaneSignal): ReplyListener {
  const limits = new Map<string, MinuteLimit>();
  /** The number of skipped lines before this line. Null: skip this line too. */
  const admit = (endpoint: InboxSource, reason: Refusal): number | null => {
    const key = `${endpoint} ${reason}`;
    const limit = limits.get(key) ?? new MinuteLimit(LINES_A_MINUTE);
    limits.set(key, limit);
    return limit.admit(performance.now());
  };
  return (endpoint, outcome, { delivery, error, signed }) => {
    const refused = !isTaken(outcome) && outcome !== 'aborted' ? outcome : null;
    if (refused !== null) metrics.webhookRefusal(endpoint, refused);
    if (endpoint === null) return; // the head of the request was unreadable
    metrics.webhookReply(endpoint, statusOf(endpoint, outcome));
    const counted = delivery === null ? null : eventOutcome(outcome, delivery);
    if (delivery !== null && counted !== null) metrics.event(endpoint, delivery.type, counted);
    const name = delivery === null ? undefined : eventName(delivery);
    const line = {
      endpoint,
      outcome,
      delivery: name,
      ...(delivery === null ? {} : nameLane(delivery.lane)),
      type: delivery?.type,
      reason: delivery?.reason,
    };
    if (outcome === 'stored') {
      signal.lanes();
      if (delivery?.status === 'parked')
        log.error({ event: 'webhooks.parked', ...line }, 'Crossbill cannot use an authentic event and parked it');
      else log.debug(line, 'event stored');
    } else if (outcome === 'conflict')
      log.error({ event: 'webhooks.conflict', ...line }, 'an event with a known id arrived with another body');
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

/** The outcome of an authentic delivery, for the metric. Null: Crossbill did not accept the delivery. */
function eventOutcome(outcome: EndpointOutcome, delivery: Delivery): EventOutcome | null {
  if (outcome === 'duplicate' || outcome === 'conflict') return outcome;
  if (outcome === 'timestamp_out_of_tolerance') return 'quarantined';
  if (outcome !== 'stored') return null;
  return delivery.status === 'received' ? 'stored' : delivery.status;
}
