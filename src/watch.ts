// What the daemon's parts report about themselves, as metrics and log lines.
import { type CallReport } from './core.module.js';
import { type DoorOutcome } from './intake/options.js';
import { type Delivery, type InboxSource } from './domain/ports/inbox.js';
import { type Claim } from './domain/ports/lane-store.js';
import { type DecidedEvent, type LaneWatch, type LaneWork } from './lane/lane-trail.js';
import { showLossWindow } from './verify/rules/loss-window.js';
import { untoldOf } from './domain/ports/verify-books.js';
import { type LaneDone } from './lane/work-lane.flow.js';
import { type VerifyReport } from './verify/verify.flow.js';
import { type Wake } from './lane/wake.js';
import {
  type EventOutcome,
  type Logger,
  type Metrics,
  MinuteLimit,
  type TracedEvent,
  type TracedWork,
  type Tracer,
} from './observe/index.js';

/**
 * Counts each call. What becomes of a lane's calls is logged with their event by `watchSteps`, and what became of an API call is
 * told to its caller: here only what a person must act on.
 */
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
    if (ended === 'stopped') log.error(line, 'the peer does not accept our credentials or our account');
    else if (integration)
      log.error({ ...line, code: r.code }, "the MoR's tax integration does not work: it calculates nothing");
    else log.debug(line, 'request');
  };
}

/** The one name of an event in every log line and trace, from the door to the last call: its sender and its id there. */
function eventName(e: { readonly source: string; readonly eventId: string }): string {
  return `${e.source}:${e.eventId}`;
}

/** Logs and traces each step of the work on a lane: which events were decided, which calls they led to. */
export function watchSteps(log: Logger, tracer: Tracer | null): LaneWatch {
  const traced = ({ lane, fence, events }: LaneWork): TracedWork => ({
    lane,
    fence,
    events: tracedEvents(lane, events),
  });
  return {
    onDecided: (work, decided, time) => {
      tracer?.decision(traced(work), tracedEvents(work.lane, decided), time);
      for (const e of decided) {
        const line = { event: eventName(e), id: `ie_${e.id}`, lane: work.lane, type: e.type, status: e.status };
        log.debug({ ...line, reason: e.reason }, 'event decided');
      }
    },
    onCalled: (work, { name, messageId, status, requestId, failure }, time) => {
      tracer?.call(traced(work), { name, status, requestId, failure: failure?.kind ?? null }, time);
      const line = {
        // A retry decides no event: it is named by those that its lane had before.
        events: (work.events.length > 0 ? work.events : work.named).map(eventName),
        lane: work.lane,
        call: name,
        message: messageId,
        status,
        ms: Math.round(time.endedAt - time.startedAt),
        requestId,
      };
      if (failure === null) log.debug(line, 'call');
      else log.warn({ ...line, ended: failure.kind, code: failure.code, why: failure.message }, 'call failed');
    },
    onWorked: (work, time) => tracer?.work(traced(work), time),
  };
}

function tracedEvents(lane: string, events: readonly DecidedEvent[]): TracedEvent[] {
  return events.map(({ source, eventId, type }) => ({ source, eventId, type, lane }));
}

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
): (
  door: InboxSource,
  outcome: DoorOutcome,
  about: { readonly delivery: Delivery | null; readonly error: unknown },
) => void {
  const strangers = limitedPerDoor();
  const stale = limitedPerDoor();
  const notStored = limitedPerDoor();
  return (door, outcome, { delivery, error }) => {
    metrics.webhookAnswer(door, outcome === 'mismatch' ? mismatchStatus : STATUS[outcome]);
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

/** Counts each decision (`watchSteps` logs it); failures are logged with their lane. */
export function watchLanes(
  metrics: Metrics,
  log: Logger,
): {
  onDone: (done: LaneDone) => void;
  onError: (what: string, error: unknown, lane: string | null, events?: Claim['events']) => void;
} {
  return {
    onDone: (done) => {
      for (const v of done.decided) {
        metrics.event(v.source, v.type, v.status);
        metrics.decision(v.type, v.status);
      }
    },
    onError: (what, error, lane, events) => log.error({ err: error, lane, events: events?.map(eventName) }, what),
  };
}

/** The outcome of the daily verify: silence when all is well, a line that a person is woken by when nobody was told. */
export function watchVerify(log: Logger): { onVerified: (report: VerifyReport) => void } {
  return {
    onVerified: ({ id, resumedFrom, outcome, compared, differences, more, problem, lossWindows }) => {
      for (const w of lossWindows) log.warn({ run: id }, showLossWindow(w));
      const untold = untoldOf({ differences, more });
      const beyond = Object.keys(more).length === 0 ? {} : { more };
      const line = { run: id, ...(resumedFrom === null ? {} : { resumedFrom }), compared, untold, ...beyond, problem };
      if (outcome === 'clean') log.info(line, 'verified: ledger, Stripe and the MoR agree');
      else if (outcome === 'incomplete') log.warn(line, 'verify could not compare everything; the next run resumes it');
      else log.error(line, 'verify found differences without an open review item: run `crossbill verify`');
    },
  };
}
