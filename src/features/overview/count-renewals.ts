// Counts each day's renewals in the background, so the overview reads one row per day.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../shared/domain/ports/clock.js';
import { DaysRepository } from './days.repository.js';
import { MINUTE_MS } from '../../shared/policy.js';
import { DAYS_SHOWN } from './figures.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

@Injectable()
export class CountRenewals {
  constructor(
    private readonly days: DaysRepository,
    private readonly clock: Clock,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Any replica may count, but only one replica counts at a time. Each transaction counts one day. */
  @Interval(MINUTE_MS)
  async count(): Promise<void> {
    try {
      while ((await this.days.countOne(this.clock.now(), DAYS_SHOWN)) !== null);
    } catch (err) {
      this.log.error(
        { event: 'overview.count_failed', err },
        "Couldn't count the renewals by day; the console shows the last counts",
      );
    }
  }
}
