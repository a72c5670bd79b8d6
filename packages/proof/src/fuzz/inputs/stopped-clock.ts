// A clock that stands still, so the same input gives the same answer.
import { Clock } from '#src/shared/domain/ports/clock.js';

export class StoppedClock extends Clock {
  now(): Date {
    return new Date('2026-11-22T12:00:00Z');
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
}
