// The trail of one claim of a lane, from its events to its last call, for logs. It decides nothing.
import { type DecidedEvent } from './decider.js';
import { type CallFailure, type CallOutcome } from '../domain/ports/call.js';
import { type Claim } from './lane-store.js';

/** Which claim of which lane, and the events that were decided in it so far. `named`: as the claim names them, for logs. */
export type LaneWork = Pick<Claim, 'lane'> & {
  readonly events: readonly DecidedEvent[];
  readonly named: NonNullable<Claim['events']>;
};

export type TrailedCall = {
  /** A name from our code, such as `report_payment` or `read-invoice`. */
  readonly name: string;
  /** The outbox row that was sent; null: a read. */
  readonly messageId: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  /** How long it took, in whole milliseconds. */
  readonly ms: number;
  /** Null: it was answered. */
  readonly failure: CallFailure | null;
};

/** The injection token of `LaneWatch`. */
export const LANE_WATCH = Symbol('LANE_WATCH');

/** Who is told. What it does must not throw and must not wait. */
export type LaneWatch = {
  /** One transaction was committed. `decided`: the events that it decided, often none. */
  readonly onDecided: (work: LaneWork, decided: readonly DecidedEvent[]) => void;
  readonly onCalled: (work: LaneWork, call: TrailedCall) => void;
};

export class LaneTrail {
  private readonly events: DecidedEvent[] = [];
  /** What was read ahead of the first decision: told after it, when the events are known. */
  private ahead: (() => void)[] | null = [];

  constructor(
    private readonly claim: Claim,
    private readonly watch: LaneWatch | null,
  ) {}

  /** Waits for a transaction and tells of it. */
  async decision<T extends { readonly decided: readonly DecidedEvent[] }>(committing: Promise<T>): Promise<T> {
    const done = await committing;
    this.events.push(...done.decided);
    this.watch?.onDecided(this.work, done.decided);
    this.tellAhead();
    return done;
  }

  /** Waits for a call and tells of it. */
  async call<T>(name: string, messageId: string | null, calling: Promise<T>): Promise<T> {
    const { watch } = this;
    if (watch === null) return calling;
    const startedAt = performance.now();
    const answer = await calling;
    const outcome = isOutcome(answer) ? answer : null;
    const call = {
      name,
      messageId,
      status: outcome?.status ?? null,
      requestId: outcome?.requestId ?? null,
      ms: Math.round(performance.now() - startedAt), // not the clock port: no decision may know how long something took
      failure: outcome?.ok === false ? outcome : null,
    };
    const tell = (): void => watch.onCalled(this.work, call);
    if (this.ahead === null) tell();
    else this.ahead.push(tell);
    return answer;
  }

  end(): void {
    this.tellAhead();
  }

  private get work(): LaneWork {
    const { lane, events: named = [] } = this.claim;
    return { lane, events: this.events, named };
  }

  private tellAhead(): void {
    const waiting = this.ahead ?? [];
    this.ahead = null;
    for (const tell of waiting) tell();
  }
}

function isOutcome(answer: unknown): answer is CallOutcome<unknown> {
  return typeof answer === 'object' && answer !== null && 'ok' in answer && 'requestId' in answer;
}
