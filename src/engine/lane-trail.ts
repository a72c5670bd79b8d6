// The trail of one claim of a lane, from its events to its last call, for logs and metrics. No decision depends on a
// trail.
import { type CallFailure, type CallOutcome, codesOf, withoutCards } from '../shared/domain/ports/call.js';
import { eventName, type Logger, type Metrics } from '../shared/observe/index.js';
import { type DecidedEvent } from './decider.js';
import { type Claim } from './lane-store.js';

/** A lane with the events decided under this claim, or with the waiting events if no event is decided yet. */
export type TrailedLane = Pick<Claim, 'lane' | 'events'>;

export type TrailedCall = {
  /** The name of the call or lookup in our code, such as `report_payment` or `read-invoice`. */
  readonly name: string;
  /** The id of the stored call. Null: this was a lookup. */
  readonly messageId: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  /** The duration in whole milliseconds. */
  readonly ms: number;
  /** Null: the call did not fail. */
  readonly failure: CallFailure | null;
};

/** The injection token of `LaneWatch`. */
export const LANE_WATCH = Symbol('LANE_WATCH');

/** Watches the work on lanes, step by step. A watch must not throw and must not wait. */
export type LaneWatch = {
  /** Runs after each commit. `decided`: the events this commit decided, often none. */
  readonly onDecided: (lane: string, decided: readonly DecidedEvent[]) => void;
  readonly onCalled: (lane: TrailedLane, call: TrailedCall) => void;
};

export class LaneTrail {
  private events: TrailedLane['events'] = [];

  constructor(
    private readonly claim: Claim,
    private readonly watch: LaneWatch | null,
  ) {}

  /** Waits for a transaction, then reports it to the watch. */
  async decision<T extends { readonly decided: readonly DecidedEvent[] }>(committing: Promise<T>): Promise<T> {
    const done = await committing;
    this.events = [...this.events, ...done.decided];
    this.watch?.onDecided(this.claim.lane, done.decided);
    return done;
  }

  /** Waits for a call, masks card numbers in a refusal, then reports the call to the watch. */
  async call<T>(name: string, messageId: string | null, calling: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const answer = masked(await calling);
    const outcome = isOutcome(answer) ? answer : null;
    const { lane, events } = this.claim;
    this.watch?.onCalled(
      { lane, events: this.events.length > 0 ? this.events : events },
      {
        name,
        messageId,
        status: outcome?.status ?? null,
        requestId: outcome?.requestId ?? null,
        // the monotonic clock is for metrics only: no decision may depend on it
        ms: Math.round(performance.now() - startedAt),
        failure: outcome?.ok === false ? outcome : null,
      },
    );
    return answer;
  }
}

function masked<T>(answer: T): T {
  return isOutcome(answer) && !answer.ok ? { ...answer, ...withoutCards(answer) } : answer;
}

function isOutcome(answer: unknown): answer is CallOutcome<unknown> {
  return typeof answer === 'object' && answer !== null && 'ok' in answer && 'requestId' in answer;
}

/** Logs each step of the work on a lane: decided events and calls. */
export function watchSteps(log: Logger): LaneWatch {
  return {
    onDecided: (lane, decided) => {
      for (const e of decided) {
        const line = {
          delivery: eventName(e),
          id: `ie_${e.id}`,
          lane,
          type: e.type,
          status: e.status,
          reason: e.reason,
        };
        log.debug(line, 'event decided');
      }
    },
    onCalled: ({ lane, events }, { name, messageId, status, requestId, failure, ms }) => {
      const line = { events: namesOf(events), lane, call: name, message: messageId, status, ms, requestId };
      if (failure === null) return log.debug(line, 'call');
      const { kind: ended, code, message } = failure;
      log.warn({ event: 'calls.failed', ...line, ended, code, why: codesOf(failure) }, 'call failed');
      // The peer's words may be about a customer, and an erasure cannot reach the log.
      log.debug({ call: name, lane, said: message }, 'the reply of a failed call');
    },
  };
}

/** Counts each decision, and logs each failure with its lane. `watchSteps` logs the decisions themselves. */
export function watchLanes(
  metrics: Metrics,
  log: Logger,
): {
  onDone: (done: { readonly decided: readonly DecidedEvent[] }) => void;
  onError: (what: string, error: unknown, claim: TrailedLane | null) => void;
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
      log.error({ event: 'engine.failed', err, lane: claim?.lane ?? null, events }, what);
    },
  };
}

/** The names of the last three events: a lane can have hundreds of events, and a log line must stay short. */
const namesOf = (events: TrailedLane['events']): readonly string[] => events.slice(-3).map(eventName);
