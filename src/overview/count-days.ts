// Counts the figures of days in the background, so that a page of 90 days reads 90 rows; and looks once a minute how much waits.
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Books } from '../domain/ports/books.js';
import { Clock } from '../domain/ports/clock.js';
import { DayBooks } from '../domain/ports/day-books.js';
import { MINUTE_MS } from '../policy.js';
import { PERIODS } from './periods.js';

/** As far back as the console shows. */
const DAYS_BACK = Math.max(...PERIODS);

@Injectable()
export class CountDays {
  private readonly log = new Logger('overview');

  constructor(
    private readonly days: DayBooks,
    private readonly books: Books,
    private readonly clock: Clock,
  ) {}

  /** Any replica may do it: one at a time does, a day in a transaction. */
  @Interval(MINUTE_MS)
  async count(): Promise<void> {
    try {
      while ((await this.days.countOne(this.clock.now(), DAYS_BACK)) !== null);
    } catch (e) {
      this.log.error('the figures of the days could not be counted; the console shows those that were', e);
    }
  }

  /** Every replica looks: the most that any of them saw is kept. */
  @Interval(MINUTE_MS)
  async lookAtBacklog(): Promise<void> {
    try {
      const { waitingEvents, pendingMessages, oldestSeconds } = await this.books.backlog();
      await this.days.noteBacklog(this.clock.now(), waitingEvents + pendingMessages, oldestSeconds);
    } catch (e) {
      this.log.error('the backlog could not be looked at; the console shows what was seen before', e);
    }
  }
}
