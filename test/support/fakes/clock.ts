// A clock, random numbers and ids that a test controls.
import { Clock, Ids, Rng } from '../../../src/shared/domain/ports/clock.js';

/** Stands still until a test moves it, and then wakes due sleepers. With `selfMoving` each sleep moves the time. */
export class ManualClock extends Clock {
  readonly slept: number[] = [];
  selfMoving = false;
  #now: number;
  #sleepers: { until: number; signal: () => void }[] = [];

  constructor(at = new Date('2026-11-20T12:00:00Z')) {
    super();
    this.#now = at.getTime();
  }

  override now(): Date {
    return new Date(this.#now);
  }

  /** The clock also gives the database's time. */
  given(): Date {
    return this.now();
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.slept.push(ms);
    if (signal?.aborted) return Promise.resolve();
    if (this.selfMoving) {
      this.advance(ms);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#sleepers.push({ until: this.#now + ms, signal: resolve });
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  advance(ms: number): void {
    this.set(new Date(this.#now + ms));
  }

  /** Sets the time, but never backwards. */
  set(at: Date): void {
    this.#now = Math.max(this.#now, at.getTime());
    const due = this.#sleepers.filter((s) => s.until <= this.#now);
    this.#sleepers = this.#sleepers.filter((s) => s.until > this.#now);
    for (const s of due) s.signal();
  }
}

/** Gives the same numbers for the same seed. */
export class SeededRng extends Rng {
  #state: number;

  constructor(seed = 1) {
    super();
    this.#state = (seed * 2_654_435_761) % 4_294_967_296;
  }

  override next(): number {
    this.#state = (1_664_525 * this.#state + 1_013_904_223) % 4_294_967_296;
    return this.#state / 4_294_967_296;
  }
}

/** Gives `rev_000001`, `pmt_000002`, … */
export class CountingIds extends Ids {
  #last = 0;

  override next(prefix: string): string {
    return `${prefix}_${String(++this.#last).padStart(6, '0')}`;
  }
}
