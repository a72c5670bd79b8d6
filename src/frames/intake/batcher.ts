// Group commit: one batch stores the deliveries of many requests, and each request waits for the commit of its batch.
import { type Clock } from '../../shared/domain/ports/clock.js';
import { type Delivery, type Inbox, type StoreOutcome } from '../../shared/domain/ports/inbox.js';

export type BatchLimits = {
  /**
   * The most batches at the same time. While one batch commits, new deliveries gather for the next batch. This makes
   * fewer and larger commits.
   */
  readonly inFlight: number;
  readonly batchCount: number;
  readonly batchBytes: number;
  /**
   * The most unfinished deliveries, and the most bytes of them. Beyond either limit the batcher refuses a new delivery
   * at once.
   */
  readonly waitingCount: number;
  readonly waitingBytes: number;
  /**
   * The batcher gives up a delivery after this time. A timer checks eight times in this period, so the batcher may be
   * late by an eighth.
   */
  readonly deadlineMs: number;
};

export const defaultBatchLimits: BatchLimits = {
  inFlight: 1,
  batchCount: 500,
  batchBytes: 4 * 1024 * 1024,
  waitingCount: 5_000,
  waitingBytes: 64 * 1024 * 1024,
  deadlineMs: 7_000, // senders wait at most 10 s for a reply, and this machine may be busy
};

/** The delivery is not stored, or its state is unknown: the sender must send it again. */
export class NotStored extends Error {
  readonly code = 'intake.not_stored';
  constructor(
    readonly why: 'overloaded' | 'closing' | 'too-late' | 'store-failed',
    cause?: unknown,
  ) {
    super(`a delivery was not stored: ${why}`, cause === undefined ? undefined : { cause });
  }
}

type Waiting = {
  readonly delivery: Delivery;
  readonly resolve: (outcome: StoreOutcome) => void;
  readonly reject: (error: NotStored) => void;
  /** Ticks of the timer until the batcher gives up this delivery. 0: the batcher has given up the delivery. */
  ticksLeft: number;
  settled: boolean;
};

const TICKS = 8;

export class IntakeBatcher {
  /** Accepted deliveries not yet in a batch, oldest first. */
  #queue: Waiting[] = [];
  /** The batches under way. */
  readonly #batches: (readonly Waiting[])[] = [];
  /** The number of accepted deliveries without a reply, in a batch or not. */
  #open = 0;
  #openBytes = 0;
  #flushPlanned = false;
  #watching = false;
  #closing = false;
  #whenDrained: (() => void)[] = [];

  constructor(
    private readonly inbox: Inbox,
    private readonly clock: Clock,
    private readonly limits: BatchLimits,
  ) {}

  /** Resolves after the delivery's commit. Rejects with `NotStored` if the sender must repeat the delivery. */
  submit(delivery: Delivery): Promise<StoreOutcome> {
    if (this.#closing) return Promise.reject(new NotStored('closing'));
    const { waitingCount, waitingBytes } = this.limits;
    if (this.#open >= waitingCount || this.#openBytes + delivery.body.length > waitingBytes) {
      return Promise.reject(new NotStored('overloaded'));
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { delivery, resolve, reject, ticksLeft: TICKS + 1, settled: false };
      this.#open++;
      this.#openBytes += delivery.body.length;
      this.#queue.push(waiting);
      this.#planFlush();
      if (!this.#watching) void this.#watch();
    });
  }

  /** Accepts nothing more. Resolves as soon as every accepted delivery has its reply. */
  close(): Promise<void> {
    this.#closing = true;
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenDrained.push(resolve));
  }

  /** The number of deliveries waiting for their commit. */
  get waiting(): number {
    return this.#open;
  }

  /**
   * Starts a batch after this turn of the event loop. All requests read in the turn share the batch, without a timer.
   */
  #planFlush(): void {
    if (this.#flushPlanned || this.#batches.length >= this.limits.inFlight) return;
    this.#flushPlanned = true;
    setImmediate(() => {
      this.#flushPlanned = false;
      while (this.#batches.length < this.limits.inFlight && this.#queue.length > 0) void this.#store(this.#takeBatch());
    });
  }

  #takeBatch(): Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const { delivery } of this.#queue) {
      bytes += delivery.body.length;
      if (count > 0 && (count === this.limits.batchCount || bytes > this.limits.batchBytes)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    this.#batches.push(batch);
    try {
      const outcomes = await this.inbox.store(batch.map(({ delivery }) => delivery));
      if (outcomes.length !== batch.length) throw new Error('the inbox did not answer for each delivery');
      batch.forEach((waiting, at) => {
        const outcome = outcomes[at];
        if (outcome === undefined) this.#settle(waiting, new NotStored('store-failed'));
        else this.#settle(waiting, outcome);
      });
    } catch (error) {
      for (const waiting of batch) this.#settle(waiting, new NotStored('store-failed', error));
    } finally {
      this.#batches.splice(this.#batches.indexOf(batch), 1);
      if (this.#queue.length > 0) this.#planFlush();
    }
  }

  #settle(waiting: Waiting, result: StoreOutcome | NotStored): void {
    if (waiting.settled) return; // the batcher gave it up earlier
    waiting.settled = true;
    this.#open--;
    this.#openBytes -= waiting.delivery.body.length;
    if (result instanceof NotStored) waiting.reject(result);
    else waiting.resolve(result);
    if (this.#open > 0) return;
    for (const drained of this.#whenDrained.splice(0)) drained();
  }

  /**
   * One timer for all waiting deliveries. The timer runs only while deliveries wait. It counts ticks and reads no
   * clock, so a jump of the clock gives up no delivery early. It also gives up deliveries of a running batch: their
   * rows may still get stored, and the sender's next try then counts as a duplicate.
   */
  async #watch(): Promise<void> {
    this.#watching = true;
    while (this.#open > 0) {
      await this.clock.sleep(this.limits.deadlineMs / TICKS);
      const late = [...this.#batches, this.#queue].flat().filter((w) => !w.settled && --w.ticksLeft <= 0);
      if (late.length === 0) continue;
      const gone = new Set(late);
      this.#queue = this.#queue.filter((waiting) => !gone.has(waiting));
      for (const waiting of late) this.#settle(waiting, new NotStored('too-late'));
    }
    this.#watching = false;
  }
}
