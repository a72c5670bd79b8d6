// Makes the partitions of the months to come, long before they begin. A month that is missing costs nothing but a slower purge.
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { BodyMonths } from '../store/event-bodies.js';

const EVERY_MS = 6 * 3_600_000;
const MONTHS_AHEAD = 2;

@Injectable()
export class BodyMonthsAhead implements OnApplicationBootstrap {
  private readonly log = new Logger('intake');

  constructor(private readonly months: BodyMonths) {}

  onApplicationBootstrap(): void {
    void this.make();
  }

  @Interval(EVERY_MS)
  async make(): Promise<void> {
    try {
      await this.months.makeAhead(MONTHS_AHEAD);
    } catch (e) {
      this.log.error(
        'the partitions for the bodies of coming months could not be made; they are tried again in six hours',
        e,
      );
    }
  }
}
