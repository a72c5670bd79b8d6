// The store of lanes. One worker at a time has the claim on a lane. Each claim has a number, the fence. If a worker
// slept and another worker claimed its lane, the first worker's fence is old, and the store refuses its writes.
import { StoreUnavailable } from '../shared/domain/errors.js';
import { type LaneState } from '../shared/domain/model.js';
import { type ReviewRow } from '../shared/domain/review-row.js';
import { type StoredEvent } from '../shared/domain/events/stored-event.js';
import { type EventSource } from '../shared/domain/ports/inbox.js';
import { type NamedRequest, type Remembered } from '../shared/domain/request-name.js';

/** An event waiting for a decision: parsed, and its raw bytes. */
export type WaitingEvent = {
  /** Our id of the event. The API shows it as `ie_…`. */
  readonly id: bigint;
  readonly source: EventSource;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
  readonly body: Buffer;
  readonly event: StoredEvent;
  readonly receivedAt: Date;
  /** How many decisions on this event have failed so far. */
  readonly attempts: number;
};

export type Claim = {
  readonly lane: string;
  /** A number, larger at each claim. The store refuses a write with an older fence. */
  readonly fence: bigint;
  /** The events waiting for a decision. */
  readonly events: readonly Pick<WaitingEvent, 'source' | 'eventId' | 'type'>[];
};

export type RecordedOutcome = {
  readonly id: bigint;
  readonly status: 'done' | 'ignored' | 'parked';
  readonly reason: string | null;
};

/** One step of a lane. `decide` is pure: it turns the stored lane into the lane to store. */
export type LaneWork<T> = {
  readonly lane: string;
  /**
   * The fence of the worker's claim. Null: the writer has no claim, for example an API request. Such a writer does not
   * wait for the end of a lease. If another writer wrote first, `decide` runs again on the new state.
   */
  readonly fence: bigint | null;
  /** The API request behind the change. The transaction looks up its Idempotency-Key, and stores a new key. */
  readonly request?: NamedRequest | null;
  /**
   * True: a caller waits for the next step. Workers claim this lane before all others, however long the others have
   * waited.
   */
  readonly awaited?: boolean;
  readonly decide: (loaded: {
    readonly state: LaneState;
    readonly events: readonly WaitingEvent[];
    /** The object of an earlier request with the same Idempotency-Key, if there was one. */
    readonly remembered: Remembered;
    /** The database's time, the same for every replica. */
    readonly now: Date;
  }) => {
    readonly state: LaneState;
    readonly outcomes: readonly RecordedOutcome[];
    /** When to decide on the lane again. Null: at the next event. */
    readonly dueAt: Date | null;
    /** True: the lane has nothing left to do, so this write also ends the lease. */
    readonly isIdle?: boolean;
    readonly value: T;
    /** The id of the request's new object, to store with its Idempotency-Key. Absent or null: no new object. */
    readonly made?: string | null;
  };
};

/** Another worker has claimed the lane. This worker's state is old, so it drops the lane. */
export class LaneFenced extends Error {
  readonly code = 'lane.fenced';
}

/** The database did not confirm the record of a call Crossbill has sent. So the log may lack this call's outcome. */
export class ReplyLost extends StoreUnavailable {}

/**
 * A step failed because of this event. The worker postpones the event alone: the lane's other events, and replies to
 * calls, are not to blame.
 */
export class EventFailed extends Error {
  readonly code = 'lane.event_failed';
  constructor(
    readonly event: bigint,
    override readonly cause: unknown,
  ) {
    super(`event ie_${event.toString()} cannot be decided: ${reasonOf(cause)}`, { cause });
  }
}

/** The reason of a failed decision, as it stands next to the event or in an item. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'the decision failed';
}

/** A newer release wrote a row of the log. */
export class NewerFormat extends Error {}

/** The log of a lane is unreadable: a newer release wrote it, or it is damaged. No event is to blame. */
export class LaneUnreadable extends Error {
  readonly code = 'lane.unreadable';
  constructor(
    readonly lane: string,
    override readonly cause: unknown,
  ) {
    super(`the log of lane ${lane} cannot be read: ${cause instanceof Error ? cause.message : 'no error says why'}`, {
      cause,
    });
  }
}

/** The database refused a write, because a row of another invoice already has the same unique value. */
export class NotUnique extends Error {
  readonly code = 'store.not_unique';
  constructor(
    readonly constraint: string,
    cause: unknown,
  ) {
    super(`not unique: ${constraint}`, { cause });
  }
}

export abstract class LaneRepository {
  /** The database's time. All times in a lane come from this clock. */
  abstract time(): Promise<Date>;
  /**
   * Claims up to `limit` due lanes: first the lanes with a waiting caller, then the lanes due for the longest time. A
   * lease lasts `leaseMs`; `renew` extends it.
   */
  abstract claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]>;
  /**
   * Extends the leases to `leaseMs` from now. Returns the lanes with an extended lease. Other workers have claimed the
   * missing lanes.
   */
  abstract renew(held: readonly Pick<Claim, 'lane' | 'fence'>[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * One step of a lane: read, decide, write. If another writer wrote first, `decide` runs again. Throws `LaneFenced`,
   * `LaneUnreadable`, `NotUnique`, `StoreUnavailable` or another database error. The lane is then unchanged.
   */
  abstract transact<T>(work: LaneWork<T>): Promise<T>;
  /**
   * Gives a lane back, so any worker may claim it. With `dueInMs` the lane is due after this time. Without `dueInMs`
   * the lane keeps its due time.
   */
  abstract release(lane: string, fence: bigint, dueInMs?: number): Promise<void>;
  /**
   * After a failed decision, the event behind the failure waits for `retryInMs`. After `parkAfter` failures Crossbill
   * parks the event with the reason. Returns false if the event no longer waits: then the lane itself is due after
   * `retryInMs`.
   */
  abstract postpone(
    claim: Pick<Claim, 'lane' | 'fence'>,
    failed: { readonly event: bigint; readonly reason: string },
    retryInMs: number,
    parkAfter: number,
  ): Promise<boolean>;
  /**
   * Opens an item about a lane with an unreadable or unwritable log, outside this log. Does nothing if the item is open
   * already, or if a person dismissed an item with the same fact.
   */
  abstract tell(item: ReviewRow): Promise<void>;
}
