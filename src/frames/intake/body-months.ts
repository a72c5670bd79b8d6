// Creates the database partitions for the event bodies of the coming months, long before the months begin. If a
// partition is missing, only the purge of old bodies gets slower.
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { BodyMonths } from '../store/event-bodies.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const EVERY_MS = 6 * 3_600_000;
const MONTHS_AHEAD = 2;

@Injectable()
export class BodyMonthsAhead implements OnApplicationBootstrap {
  constructor(
    private readonly months: BodyMonths,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    void this.make();
  }

  @Interval(EVERY_MS)
  async make(): Promise<void> {
    try {
      await this.months.makeAhead(MONTHS_AHEAD);
    } catch (err) {
      this.log.error(
        { event: 'intake.partitions_failed', err },
        "Couldn't make the database partitions for event bodies of the next months; Crossbill tries again in six hours",
      );
    }
  }
}
