// A replica's clock: the world's time plus what this machine is wrong by.
import { Clock } from '#src/domain/ports/clock.js';
import { type Owner, type Scheduler } from './scheduler.js';

/** The worker's slow poll is recognised by its length: it is woken when something is due instead of each time round. */
export const POLL_SLEEP_MS = 987_654;

export class SimClock extends Clock {
  /** Milliseconds that this machine's clock is ahead. */
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
