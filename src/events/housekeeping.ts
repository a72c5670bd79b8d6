// Work by the clock: what no event and no lane's own timer would bring up.
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Signups } from '../domain/ports/signups.js';
import { SIGNUP_OVERDUE_MS } from '../domain/status.js';

const EVERY_MS = 5 * 60_000;

@Injectable()
export class Housekeeping {
  constructor(
    private readonly signups: Signups,
    private readonly onError: (what: string, error: unknown) => void,
  ) {}

  /** Any replica may do it: an item is open once, whoever makes it. */
  @Interval(EVERY_MS)
  async flagOverdueSignups(): Promise<void> {
    try {
      await this.signups.flagOverdue(SIGNUP_OVERDUE_MS);
    } catch (e) {
      this.onError('overdue signups could not be looked for', e);
    }
  }
}
