// The store of lanes: one worker at a time claims a lane, one transaction changes it, and a fence stops a worker after a sleep.
import { StoreUnavailable } from '../domain/errors.js';
import { type LaneState, type ReviewRow } from '../domain/model.js';
import { type EventSource } from '../domain/ports/inbox.js';
import { type NamedRequest, type Remembered } from '../domain/request-name.js';

/** An event in wait of its decision, with its raw bytes. */
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

/** One lane's part of a transaction. `decide` is pure: from the stored lane to the lane to store. */
export type LaneWork<T> = {
  readonly lane: string;
  /** Null: no worker, such as an API call. It waits for no lease, and two writers meet at the log's next version. */
  readonly fence: bigint | null;
  /** The named API request behind it: looked up and remembered in the same transaction. */
  readonly request?: NamedRequest | null;
  /** True: a caller waits for the next step. Workers claim the lane before all others, however long those have been due. */
  readonly awaited?: boolean;
  readonly decide: (loaded: {
    readonly state: LaneState;
    readonly events: readonly WaitingEvent[];
    /** The object of the named request, if it was made before. */
    readonly remembered: Remembered;
    /** The database's time, the same for every replica. */
    readonly now: Date;
  }) => {
    readonly state: LaneState;
    readonly verdicts: readonly EventVerdict[];
    /** The next look at the lane; null: the next event. */
    readonly dueAt: Date | null;
    /** True: nothing is left to do, and this write gives the lease back. */
    readonly rest?: boolean;
    readonly value: T;
    /** The id of the named request's object, to remember; left out: nothing. */
    readonly made?: string | null;
  };
};

/** Another worker has claimed the lane since. This worker's view is stale: it drops the lane. */
export class LaneFenced extends Error {
  readonly code = 'lane.fenced';
}

/** The database did not answer at the write after a call: no row will know of the call. */
export class AnswerLost extends StoreUnavailable {}

/** The log of a lane is unreadable: a newer release wrote it, or it is damaged. No event is to blame. */
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
  /** The database's time, by which every time of a lane is written. */
  abstract time(): Promise<Date>;
  /** Claims up to `limit` due lanes: lanes a caller waits for, then the oldest. A lease lasts `leaseMs`, and longer by `renew`. */
  abstract claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]>;
  /** The leases last `leaseMs` from now on. Returns the lanes still held; other workers have the others. */
  abstract renew(held: readonly Pick<Claim, 'lane' | 'fence'>[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * One step of a lane: read, decide, write. `decide` runs again after somebody else's write. Throws LaneFenced, LaneUnreadable, NotUnique,
   * StoreUnavailable or another error of the database; then nothing was written.
   */
  abstract transact<T>(work: LaneWork<T>): Promise<T>;
  /** Gives a lane back, for any worker. With `dueInMs` it is due after this time, or at its next event. */
  abstract release(lane: string, fence: bigint, dueInMs?: number): Promise<void>;
  /**
   * Deciding failed: the oldest waiting event waits for `retryInMs`, or is parked with the reason after `parkAfter` failures.
   * False: no event waits that could be blamed; the lane itself is due again after `retryInMs`.
   */
  abstract postpone(
    lane: string,
    fence: bigint,
    reason: string,
    retryInMs: number,
    parkAfter: number,
  ): Promise<boolean>;
  /**
   * Opens an item about an unreadable or unwritable lane, apart from its log: once while it is open, and not again with a fact that a person
   * dismissed.
   */
  abstract tell(item: ReviewRow): Promise<void>;
}
