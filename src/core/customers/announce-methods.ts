// The timer behind payment methods. A customer's confirmation of a new method starts a retry of each refused renewal at
// once. If the daemon crashed before the last retry, this timer starts the missing retries.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { METHODS_A_POLL, METHODS_POLL_EVERY_MS } from '../../shared/policy.js';
import { PaymentMethodsService } from './payment-methods.service.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

@Injectable()
export class AnnounceMethods {
  private busy = false;

  constructor(
    private readonly service: PaymentMethodsService,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Every replica may run this at the same time: an invoice's lane acts on each payment method one time only. */
  @Interval(METHODS_POLL_EVERY_MS)
  async poll(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await this.service.announce(METHODS_A_POLL);
    } catch (err) {
      this.log.error(
        { event: 'customers.announce_failed', err },
        "Couldn't retry renewals with a newly confirmed method",
      );
    } finally {
      this.busy = false;
    }
  }
}
