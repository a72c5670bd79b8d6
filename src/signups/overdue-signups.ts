// Signups whose charge never came: no event and no lane's own timer would bring them up.
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SignupsStore } from './signups.store.js';
import { SIGNUP_LOOK_EVERY_MS, SIGNUP_OVERDUE_MS } from '../policy.js';

@Injectable()
export class OverdueSignups {
  private readonly log = new Logger('signups');

  constructor(private readonly signups: SignupsStore) {}

  /** Any replica may do it: an item is open once, whoever makes it. */
  @Interval(SIGNUP_LOOK_EVERY_MS)
  async flag(): Promise<void> {
    try {
      await this.signups.flagOverdue(SIGNUP_OVERDUE_MS);
    } catch (e) {
      this.log.error('could not look for overdue signups', e);
    }
  }
}
