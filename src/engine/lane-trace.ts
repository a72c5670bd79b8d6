// The trace of one claim of a lane, from its events to its last call, for logs and metrics. No decision depends on a
// trace.
import { type CallFailure, type CallOutcome, codesOf, withoutCards } from '../shared/domain/ports/call.js';
import { nameLane } from '../shared/domain/events/channel-lane.js';
import { type LaneState } from '../shared/domain/model.js';
import { eventName, type Logger, type Metrics } from '../shared/observe/index.js';
import { type DecidedEvent, type Subjects } from './decider.js';
import { type Claim } from './lane.repository.js';
import { READ_INVOICE } from './lookup.js';

/** A lane with the events decided under this claim, or with the waiting events if no event is decided yet. */
export type TracedLane = Pick<Claim, 'lane' | 'events'>;

export type TracedCall = {
  /** The name of the call or lookup in our code, such as `report_payment` or `read-invoice`. */
  readonly name: string;
  /** The id of the stored call. Null: this was a lookup. */
  readonly callId: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  /** The duration in whole milliseconds. */
  readonly ms: number;
  /** Null: the call did not fail. */
  readonly failure: CallFailure | null;
};

/** When a failed call is tried again. `at` null: never. The whole value null: the failure could not be recorded. */
export type NextTry = { readonly at: Date | null } | null;

/** A commit's change of a lane. `dueAt`: when the lane is due again; null: at its next event. */
export type LaneChange = { readonly before: LaneState; readonly after: LaneState; readonly dueAt: Date | null };

/** The injection token of `LaneWatch`. */
export const LANE_WATCH = Symbol('LANE_WATCH');

/** Watches the work on lanes, step by step. A watch must not throw and must not wait. */
export type LaneWatch = {
  /**
   * Runs after each commit. `decided`: the events this commit decided, often none. `change` null: a lane of events
   * without an invoice.
   */
  readonly onDecided: (lane: string, decided: readonly DecidedEvent[], change: LaneChange | null) => void;
  /** Runs after each call; after a failed call, as soon as the failure is recorded. */
  readonly onCalled: (lane: TracedLane, call: TracedCall, next: NextTry) => void;
};

export class LaneTrace {
  private events: TracedLane['events'] = [];
  /** The last call, if it failed and the failure is not recorded yet. */
  private failed: TracedCall | null = null;

  constructor(
    private readonly claim: Claim,
    private readonly watch: LaneWatch | null,
  ) {}

  /** Waits for a transaction, then reports it to the watch. */
  async decision<T extends { readonly decided: readonly DecidedEvent[]; readonly change: LaneChange | null }>(
    committing: Promise<T>,
  ): Promise<T> {
    const [failed, trailed] = [this.failed, this.trailed()];
    this.failed = null;
    let change: LaneChange | null = null;
    try {
      const done = await committing;
      change = done.change;
      this.events = [...this.events, ...done.decided];
      this.watch?.onDecided(this.claim.lane, done.decided, change);
      return done;
    } finally {
      if (failed !== null) this.watch?.onCalled(trailed, failed, change && nextTry(failed, change));
    }
  }

  /** Waits for a call, masks card numbers in a refusal, then reports the call to the watch. */
  async call<T>(name: string, callId: string | null, calling: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const reply = masked(await calling);
    const outcome = isOutcome(reply) ? reply : null;
    const call = {
      name,
      callId,
      status: outcome?.status ?? null,
      requestId: outcome?.requestId ?? null,
      // the monotonic clock is for metrics only: no decision may depend on it
      ms: Math.round(performance.now() - startedAt),
      failure: outcome?.ok === false ? outcome : null,
    };
    if (call.failure !== null) this.failed = call;
    else this.watch?.onCalled(this.trailed(), call, null);
    return reply;
  }

  private trailed(): TracedLane {
    const { lane, events } = this.claim;
    return { lane, events: this.events.length > 0 ? this.events : events };
  }
}

/** When the call is tried again, by the lane after its failure was recorded. */
function nextTry({ name, callId }: TracedCall, { after, dueAt }: LaneChange): NextTry {
  if (callId === null) return { at: name === READ_INVOICE ? (after.invoice?.readDueAt ?? dueAt) : dueAt };
  const call = after.calls.find(({ id }) => id === callId);
  return { at: call?.status === 'pending' ? call.nextTryAt : null };
}

function masked<T>(reply: T): T {
  return isOutcome(reply) && !reply.ok ? { ...reply, ...withoutCards(reply) } : reply;
}

function isOutcome(reply: unknown): reply is CallOutcome<unknown> {
  return typeof reply === 'object' && reply !== null && 'ok' in reply && 'requestId' in reply;
}

/** Logs each step of the work on a lane: decided events, calls, and the lines of the subjects. */
export function watchSteps(log: Logger, { logLines }: Pick<Subjects, 'logLines'>): LaneWatch {
  return {
    onDecided: (lane, decided, change) => {
      for (const e of decided) {
        const { type, status, reason } = e;
        const line = { delivery: eventName(e), id: `ie_${e.id}`, ...nameLane(lane), type, status, reason };
        log.debug(line, 'event decided');
      }
      for (const { event, fields, message } of change === null ? [] : logLines(change.before, change.after))
        log.info({ event, ...fields }, message);
    },
    onCalled: ({ lane, events }, { name, callId, status, requestId, failure, ms }, next) => {
      const line = {
        events: namesOf(events),
        ...nameLane(lane),
        call: name,
        call_id: callId,
        status,
        ms,
        requestId,
      };
      if (failure === null) return log.debug(line, 'call');
      const { kind: outcome, code, message } = failure;
      const again = next === null ? {} : { tried_again: next.at !== null, next_try_at: next.at?.toISOString() ?? null };
      const what = `call failed: ${next === null ? 'the next try is not known' : sayNext(next.at)}`;
      log.warn({ event: 'calls.failed', ...line, outcome, code, why: codesOf(failure), ...again }, what);
      // The peer's words may be about a customer, and an erasure cannot reach the log.
      log.debug({ call: name, ...nameLane(lane), said: message }, 'the reply of a failed call');
    },
  };
}

const sayNext = (at: Date | null): string =>
  at === null ? 'Crossbill does not try it again' : `Crossbill tries it again at ${at.toISOString()}`;

/** Counts each decision, and logs each failure with its lane. `watchSteps` logs the decisions themselves. */
export function watchLanes(
  metrics: Metrics,
  log: Logger,
): {
  onDone: (done: { readonly decided: readonly DecidedEvent[] }) => void;
  onError: (what: string, error: unknown, claim: TracedLane | null) => void;
} {
  return {
    onDone: ({ decided }) => {
      for (const v of decided) {
        metrics.event(v.source, v.type, v.status);
        metrics.decision(v.type, v.status);
      }
    },
    onError: (what, err, claim) => {
      const events = claim === null ? undefined : namesOf(claim.events);
      log.error({ event: 'engine.failed', err, ...(claim === null ? {} : nameLane(claim.lane)), events }, what);
    },
  };
}

/** The names of the last three events: a lane can have hundreds of events, and a log line must stay short. */
const namesOf = (events: TracedLane['events']): readonly string[] => events.slice(-3).map(eventName);
