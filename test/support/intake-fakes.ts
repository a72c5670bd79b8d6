// An inbox that keeps its rows, and a clock that stands still until it is moved: what the doors' tests need around them.
import { Clock } from '../../src/domain/ports/clock.js';
import { Inbox, type Delivery, type StoreOutcome } from '../../src/domain/ports/inbox.js';

/** Commits at once unless told to hold or to fail. */
export class FakeInbox extends Inbox {
  readonly rows = new Map<string, Delivery>();
  readonly quarantined: { delivery: Delivery; reason: string }[] = [];
  readonly batches: (readonly Delivery[])[] = [];
  failure: Error | null = null;
  #held: { go: () => void; fail: (error: Error) => void }[] | null = null;

  /** From now on commits wait for `commitNext` or `failNext`. */
  hold(): void {
    this.#held = [];
  }

  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  commitNext(): void {
    this.#held?.shift()?.go();
  }

  failNext(error = new Error('the connection was cut')): void {
    this.#held?.shift()?.fail(error);
  }

  override async store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]> {
    this.batches.push(batch);
    const held = this.#held;
    if (held !== null) await new Promise<void>((go, fail) => held.push({ go, fail }));
    if (this.failure !== null) throw this.failure;
    return batch.map((delivery) => this.#keep(delivery));
  }

  override async quarantine(delivery: Delivery, reason: string): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.quarantined.push({ delivery, reason });
  }

  #keep(delivery: Delivery): StoreOutcome {
    const key = `${delivery.source} ${delivery.eventId}`;
    const before = this.rows.get(key);
    if (before === undefined) this.rows.set(key, delivery);
    return before === undefined ? 'stored' : before.body.equals(delivery.body) ? 'duplicate' : 'conflict';
  }
}

/** Stands at one moment; `pass` moves it and wakes whoever slept long enough. */
export class StillClock extends Clock {
  #now: number;
  #sleepers: { until: number; wake: () => void }[] = [];

  constructor(at = new Date('2026-11-20T12:00:00Z')) {
    super();
    this.#now = at.getTime();
  }

  override now(): Date {
    return new Date(this.#now);
  }

  get seconds(): number {
    return Math.floor(this.#now / 1_000);
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#sleepers.push({ until: this.#now + ms, wake: resolve });
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** In small steps, so that those who sleep again and again are woken each time. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#now += Math.min(stepMs, left);
      const due = this.#sleepers.filter((sleeper) => sleeper.until <= this.#now);
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#now);
      for (const sleeper of due) sleeper.wake();
      await turn();
    }
  }
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
