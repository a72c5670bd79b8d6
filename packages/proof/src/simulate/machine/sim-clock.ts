// A replica's clock: the world's time plus this machine's error.
import { Clock } from '#src/shared/domain/ports/clock.js';
import { type Owner, type Scheduler } from './scheduler.js';

/** The worker's sleep between two polls: an unusual number, so the simulation recognizes it and wakes the worker. */
export const POLL_SLEEP_MS = 987_654;

export class SimClock extends Clock {
  /** How many milliseconds this machine's clock is ahead. */
  offsetMs = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly owner: Owner,
  ) {
    super();
  }

  override now(): Date {
    return new Date(this.scheduler.now + this.offsetMs);
  }

  /** The time of the database's clock, always equal to the world's time. */
  given(): Date {
    return new Date(this.scheduler.now);
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.scheduler.sleep(this.owner, ms, signal, ms === POLL_SLEEP_MS);
  }
}
