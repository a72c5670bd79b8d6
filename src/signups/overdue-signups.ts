// Signups whose charge never came: no event and no lane's own timer would bring them up.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SignupsStore } from './signups.store.js';
import { SIGNUP_LOOK_EVERY_MS, SIGNUP_OVERDUE_MS } from '../policy.js';
import { LOG, type Logger } from '../observe/index.js';

@Injectable()
export class OverdueSignups {
  constructor(
    private readonly signups: SignupsStore,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Any replica may do it: an item is open once, whoever makes it. */
  @Interval(SIGNUP_LOOK_EVERY_MS)
  async flag(): Promise<void> {
    try {
      await this.signups.flagOverdue(SIGNUP_OVERDUE_MS);
    } catch (err) {
      this.log.error({ event: 'signups.check_failed', err }, "Couldn't check for overdue signups");
    }
  }
}
