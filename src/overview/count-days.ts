// Counts the figures of days in the background, so that a page of 90 days reads 90 rows.
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../domain/ports/clock.js';
import { DayBooks } from '../domain/ports/day-books.js';
import { MINUTE_MS } from '../policy.js';
import { PERIODS } from './trends.js';

/** As far back as the console shows. */
const DAYS_BACK = Math.max(...PERIODS);

@Injectable()
export class CountDays {
  private readonly log = new Logger('overview');

  constructor(
    private readonly days: DayBooks,
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
}
