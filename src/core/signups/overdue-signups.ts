// Finds signups that have been without a charge for too long. Neither an event nor a lane's timer reports them.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LaneSignal } from '../../engine/lane-signal.js';
import { SignupsRepository } from './signups.repository.js';
import { SIGNUP_POLL_EVERY_MS, SIGNUP_OVERDUE_MS } from '../../shared/policy.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

@Injectable()
export class OverdueSignups {
  constructor(
    private readonly signups: SignupsRepository,
    private readonly signal: LaneSignal,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Any replica may run this: the database stores only one `signup.overdue` event for each signup. */
  @Interval(SIGNUP_POLL_EVERY_MS)
  async flag(): Promise<void> {
    try {
      if ((await this.signups.tellOverdue(SIGNUP_OVERDUE_MS)) > 0) this.signal.lanes();
    } catch (err) {
      this.log.error({ event: 'signups.check_failed', err }, "Couldn't check for overdue signups");
    }
  }
}
