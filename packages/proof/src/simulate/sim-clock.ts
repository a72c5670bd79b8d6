// A replica's clock: the world's time plus this machine's error.
import { Clock } from '#src/domain/ports/clock.js';
import { type Owner, type Scheduler } from './scheduler.js';

/** The length identifies the worker's slow poll: the simulation wakes it for due work instead of each time round. */
export const POLL_SLEEP_MS = 987_654;

export class SimClock extends Clock {
  /** This machine's clock is ahead by so many milliseconds. */
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

  /** The database's clock is right: it is the world's time. */
  given(): Date {
    return new Date(this.scheduler.now);
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.scheduler.sleep(this.owner, ms, signal, ms === POLL_SLEEP_MS);
  }
}
