// Where lanes are kept: claimed by one worker at a time, changed in one transaction, fenced against a worker that slept.
import { StoreUnavailable } from '../domain/errors.js';
import { type ChargeHolder, type RefundHolder } from './change.js';
import { type LaneState, type ReviewRow } from '../domain/model.js';
import { type EventSource } from '../domain/ports/inbox.js';
import { type NamedRequest, type Remembered } from '../domain/request-name.js';

/** An event that waits to be decided, with its bytes as they came. */
export type WaitingEvent = {
  /** Ours: `ie_…` towards the outside. */
  readonly id: bigint;
  readonly source: EventSource;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
  readonly body: Buffer;
  readonly receivedAt: Date;
  /** How often deciding it has failed. */
  readonly attempts: number;
};

export type Claim = {
  readonly lane: string;
  /** New at each claim: a write with an older one is refused. */
  readonly fence: bigint;
  /** The events in wait. */
  readonly events: readonly Pick<WaitingEvent, 'source' | 'eventId' | 'type'>[];
};

export type EventVerdict = {
  readonly id: bigint;
  readonly status: 'done' | 'ignored' | 'parked';
  readonly reason: string | null;
};

/** One lane's part of a transaction. `decide` is pure: it gets what is stored and says what to store. */
export type LaneWork<T> = {
  readonly lane: string;
  /** Null: not a worker (an API call); works beside a lease, never against the row lock. */
  readonly fence: bigint | null;
  /** The API request that asks for it, when it has a name: looked up and remembered in the same transaction. */
  readonly request?: NamedRequest | null;
  /** True: somebody waits for what follows. What is due then is claimed before all that no one waits for, however long that has been due. */
  readonly awaited?: boolean;
  readonly decide: (loaded: {
    readonly state: LaneState;
    readonly events: readonly WaitingEvent[];
    /** What the named request made before; not known without a name. */
    readonly remembered: Remembered;
    /** The database's time: what is due then is due for every replica, however wrong its own clock is. */
    readonly now: Date;
  }) => {
    readonly state: LaneState;
    readonly verdicts: readonly EventVerdict[];
    /** When the lane must be looked at again; null: when something comes. */
    readonly dueAt: Date | null;
    /** True: nothing is left to do, the lease is given back with this write. */
    readonly rest?: boolean;
    readonly value: T;
    /** The id of what the named request made, to be remembered; left out: nothing. */
    readonly made?: string | null;
  };
};

/** Another worker has claimed the lane since: what this one holds is stale and must be dropped. */
export class LaneFenced extends Error {
  readonly code = 'lane.fenced';
}

/** It did not, just when what became of a call was to be written down: nobody will know that the call was made. */
export class AnswerLost extends StoreUnavailable {}

/** What the log of a lane holds is not to be understood: a newer release wrote it, or somebody damaged it. Its events are not to blame. */
export class LaneUnreadable extends Error {
  readonly code = 'lane.unreadable';
  constructor(lane: string, cause: unknown) {
    super(`the log of lane ${lane} cannot be read: ${cause instanceof Error ? cause.message : 'no error says why'}`, {
      cause,
    });
  }
}

/** A row that must be unique for good is there already, for another invoice. */
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
  /** Claims up to `limit` lanes that have something due: those that somebody waits for, then the longest waiting. A lease lasts `leaseMs` unless it is renewed. */
  abstract claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]>;
  /** Makes the leases last `leaseMs` from now on. Gives the lanes that are still held: others were given back, or taken over. */
  abstract renew(held: readonly Pick<Claim, 'lane' | 'fence'>[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * One step of a lane: read, decide, write. `decide` may run again when somebody else wrote the lane meanwhile. Throws LaneFenced,
   * LaneUnreadable, NotUnique, StoreUnavailable, or what else the database threw; then nothing was written.
   */
  abstract transact<T>(work: LaneWork<T>): Promise<T>;
  /** Gives a lane back; what is due is picked up by anyone. With `dueInMs` it is due after so long, unless something comes before. */
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
   * Opens an item about a lane of which nothing can be read or written: apart from its log, once while it is open, and not in words that a
   * person dismissed.
   */
  abstract tell(item: ReviewRow): Promise<void>;
  /** Of these MoR payment ids, those recorded for another invoice: payment id → invoice id. */
  abstract paymentsElsewhere(paymentIds: readonly string[], lane: string): Promise<ReadonlyMap<string, string>>;
  /** Of these charges, those that were collected for a payment of another invoice. */
  abstract chargesElsewhere(charges: readonly string[], lane: string): Promise<ReadonlyMap<string, ChargeHolder>>;
  /** Refunds of other invoices that carry this processor's refund id, oldest first. */
  abstract refundsElsewhere(processorRefundId: string, lane: string): Promise<readonly RefundHolder[]>;
  /**
   * Whether a customer is known to pay by bank debit. Nothing tells of a renewal's debit on its way (Document 3), so the signs are those
   * of the signup: a trial that saved a debit and no card, or a payment that took the MoR more than an hour to settle.
   */
  abstract paysByDebit(customerId: string): Promise<boolean>;
}
