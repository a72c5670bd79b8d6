// What the daemon's parts report about themselves, as metrics and log lines.
import { type CallReport } from './core.module.js';
import { type DoorOutcome } from './intake/options.js';
import { type Delivery, type InboxSource } from './domain/ports/inbox.js';
import { type LaneDone } from './flows/work-lane.flow.js';
import { type VerifyReport } from './flows/verify.flow.js';
import { type Wake } from './flows/wake.js';
import { type Logger } from './observe/index.js';
import { type EventOutcome, type EventSource, type Metrics } from './observe/index.js';

/** Counts each call; what a person should know of is logged. */
export function watchCalls(metrics: Metrics, log: Logger): (report: CallReport) => void {
  return (r) => {
    const ended = 'outcome' in r ? r.outcome : r.kind;
    metrics.call(r.peer, r.name, ended === 'ok' ? 'answered' : ended, r.elapsedMs / 1000);
    const integration = ended === 'refused' && (r.code?.startsWith('integration_') ?? false);
    if (r.peer === 'mor' && ended === 'refused') metrics.refusal(r.name, r.code ?? 'none');
    const line = {
      peer: r.peer,
      call: r.name,
      status: r.status,
      ms: Math.round(r.elapsedMs),
      requestId: r.requestId,
      ended,
    };
    if (ended === 'ok') log.debug(line, 'call');
    else if (ended === 'stopped') log.error(line, 'the peer does not accept our credentials or our account');
    else if (integration)
      log.error({ ...line, code: r.code }, 'the MoR’s tax integration does not work: it calculates nothing');
    else log.warn({ ...line, code: r.code }, 'call failed');
  };
}

// The answer a door gave, for the counter by status. A mismatch is answered as the operator chose.
const STATUS: Record<Exclude<DoorOutcome, 'mismatch'>, number> = {
  stored: 200,
  duplicate: 200,
  conflict: 200,
  malformed: 400,
  'too-large': 413,
  method: 405,
  slow: 503,
  aborted: 499,
  stale: 503,
  'not-stored': 503,
  closed: 503,
};

/**
 * Counts each answer of a door and wakes the workers when something new was stored.
 * @param mismatchStatus what a delivery signed with none of our secrets is answered
 */
export function watchDoors(
  metrics: Metrics,
  log: Logger,
  wake: Wake,
  mismatchStatus: number,
): (
  door: InboxSource,
  outcome: DoorOutcome,
  about: { readonly delivery: Delivery | null; readonly error: unknown },
) => void {
  return (door, outcome, { delivery, error }) => {
    metrics.webhookAnswer(door, outcome === 'mismatch' ? mismatchStatus : STATUS[outcome]);
    if (outcome === 'mismatch') metrics.webhookMismatch(door, mismatchStatus);
    const counted = delivery === null ? null : eventOutcome(outcome, delivery);
    if (delivery !== null && counted !== null) metrics.event(door, delivery.type, counted);
    const line = { door, outcome, eventId: delivery?.eventId, type: delivery?.type, reason: delivery?.reason };
    if (outcome === 'stored') {
      wake.lanes();
      if (delivery?.status === 'parked') log.error(line, 'an authentic event cannot be used: it is parked');
      else log.debug(line, 'event stored');
    } else if (outcome === 'not-stored')
      log.error({ ...line, err: error }, 'an event could not be stored: the sender was told to try again');
    else if (outcome === 'stale') log.error(line, 'an authentic event is outside the time tolerance: check the clocks');
    else if (outcome === 'conflict') log.error(line, 'an event id came a second time with another body');
    else if (outcome === 'mismatch') log.warn(line, 'a delivery was signed with none of our secrets');
  };
}

/** What became of an authentic delivery; null: it was not taken. */
function eventOutcome(outcome: DoorOutcome, delivery: Delivery): EventOutcome | null {
  if (outcome === 'duplicate' || outcome === 'conflict') return outcome;
  if (outcome === 'stale') return 'quarantined';
  if (outcome !== 'stored') return null;
  return delivery.status === 'received' ? 'stored' : delivery.status;
}

/** Counts each decision; failures are logged with their lane. */
export function watchLanes(
  metrics: Metrics,
  log: Logger,
): { onDone: (done: LaneDone) => void; onError: (what: string, error: unknown, lane: string | null) => void } {
  return {
    onDone: (done) => {
      for (const v of done.decided) {
        metrics.event(v.source as EventSource, v.type, v.status);
        metrics.decision(v.type, v.status);
        log.debug({ type: v.type, status: v.status, reason: v.reason }, 'event decided');
      }
    },
    onError: (what, error, lane) => log.error({ err: error, lane }, what),
  };
}

/** The outcome of the daily verify: silence when all is well, a line that a person is woken by when nobody was told. */
export function watchVerify(log: Logger): { onVerified: (report: VerifyReport) => void } {
  return {
    onVerified: ({ id, outcome, compared, differences, problem }) => {
      const line = { run: id, compared, untold: differences.filter((d) => d.reviewId === null).length, problem };
      if (outcome === 'clean') log.info(line, 'verified: ledger, Stripe and the MoR agree');
      else if (outcome === 'incomplete') log.warn(line, 'verify could not compare everything; it is tried again');
      else log.error(line, 'verify found differences nobody was told of: run `crossbill verify`');
    },
  };
}
