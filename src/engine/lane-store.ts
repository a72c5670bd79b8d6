// The store of lanes. One worker at a time claims a lane, and one transaction changes it. After a sleep, its old fence
// stops a worker.
import { StoreUnavailable } from '../domain/errors.js';
import { type LaneState, type ReviewRow } from '../domain/model.js';
import { type EventSource } from '../domain/ports/inbox.js';
import { type NamedRequest, type Remembered } from '../domain/request-name.js';

/** An event in wait of a decision, with its raw bytes. */
export type WaitingEvent = {
  /** Ours: `ie_…` towards the outside. */
  readonly id: bigint;
  readonly source: EventSource;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
  readonly body: Buffer;
  readonly receivedAt: Date;
  /** Failed decisions so far. */
  readonly attempts: number;
};

export type Claim = {
  readonly lane: string;
  /** New at each claim. The store refuses a write with an older fence. */
  readonly fence: bigint;
  /** The events in wait. */
  readonly events: readonly Pick<WaitingEvent, 'source' | 'eventId' | 'type'>[];
};

export type EventVerdict = {
  readonly id: bigint;
  readonly status: 'done' | 'ignored' | 'parked';
  readonly reason: string | null;
};

/** One lane's part of a transaction. `decide` is pure: it turns the stored lane into the lane to store. */
export type LaneWork<T> = {
  readonly lane: string;
  /**
   * Null: no worker, but an API request for example. It waits for no lease: of two writers, one gets the log's next
   * version and the other decides again.
   */
  readonly fence: bigint | null;
  /** The named API request behind the change. The same transaction looks the name up and remembers it. */
  readonly request?: NamedRequest | null;
  /**
   * True: a caller waits for the next step. Workers claim this lane before all others, however long the others wait.
   */
  readonly awaited?: boolean;
  readonly decide: (loaded: {
    readonly state: LaneState;
    readonly events: readonly WaitingEvent[];
    /** The object of an earlier request with the same name. */
    readonly remembered: Remembered;
    /** The database's time, the same for every replica. */
    readonly now: Date;
  }) => {
    readonly state: LaneState;
    readonly verdicts: readonly EventVerdict[];
    /** The next look at the lane; null: the next event. */
    readonly dueAt: Date | null;
    /** True: the lane has nothing left to do, so this write gives the lease back. */
    readonly rest?: boolean;
    readonly value: T;
    /** The id of the named request's object, to remember; left out: nothing. */
    readonly made?: string | null;
  };
};

/** Another worker has claimed the lane since. This worker knows an old state, so it drops the lane. */
export class LaneFenced extends Error {
  readonly code = 'lane.fenced';
}

/** The database did not answer at the write after a call. No row will show the call. */
export class AnswerLost extends StoreUnavailable {}

/** The log of a lane is unreadable: a newer release wrote it, or it has damage. No event is to blame. */
export class LaneUnreadable extends Error {
  readonly code = 'lane.unreadable';
  constructor(lane: string, cause: unknown) {
    super(`the log of lane ${lane} cannot be read: ${cause instanceof Error ? cause.message : 'no error says why'}`, {
      cause,
    });
  }
}

/** Another invoice already has a row with this value, unique for good. */
export class NotUnique extends Error {
  readonly code = 'store.not_unique';
  constructor(
    readonly constraint: string,
    cause: unknown,
  ) {
    super(`not unique: ${constraint}`, { cause });
  }
}

export abstract class LaneStore {
  /** The database's time. Every time in a lane is by this clock. */
  abstract time(): Promise<Date>;
  /**
   * Claims up to `limit` due lanes: first the lanes with a waiting caller, then the longest due. A lease lasts
   * `leaseMs`; `renew` extends it.
   */
  abstract claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]>;
  /** The leases last `leaseMs` from now on. Returns the lanes still held; other workers have the others. */
  abstract renew(held: readonly Pick<Claim, 'lane' | 'fence'>[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * One step of a lane: read, decide, write. After another writer's write, `decide` runs again. Throws LaneFenced,
   * LaneUnreadable, NotUnique, StoreUnavailable or another error of the database; then it wrote nothing.
   */
  abstract transact<T>(work: LaneWork<T>): Promise<T>;
  /** Gives a lane back, for any worker. With `dueInMs` it is due after this time, or at its next event. */
  abstract release(lane: string, fence: bigint, dueInMs?: number): Promise<void>;
  /**
   * After a failed decision, the oldest waiting event waits for `retryInMs`. After `parkAfter` failures the event parks
   * with the reason. False: no event waits, so none is to blame. Then the lane itself is due after `retryInMs`.
   */
  abstract postpone(
    lane: string,
    fence: bigint,
    reason: string,
    retryInMs: number,
    parkAfter: number,
  ): Promise<boolean>;
  /**
   * Opens an item about an unreadable or unwritable lane, apart from the lane's log. An open item stays, and so does a
   * dismissal of the same fact.
   */
  abstract tell(item: ReviewRow): Promise<void>;
}
