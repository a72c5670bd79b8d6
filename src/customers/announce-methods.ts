// Payment methods that a charge has just confirmed, or whose report was cut off by a crash: their customers' refused renewals get to know.
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { METHODS_A_LOOK, METHODS_LOOK_EVERY_MS } from '../policy.js';
import { PaymentMethodsFlow } from './payment-methods.flow.js';

@Injectable()
export class AnnounceMethods {
  private readonly log = new Logger('customers');
  private busy = false;

  constructor(private readonly flow: PaymentMethodsFlow) {}

  /** Any replica may do it: an invoice takes each method in once. */
  @Interval(METHODS_LOOK_EVERY_MS)
  async look(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await this.flow.announce(METHODS_A_LOOK);
    } catch (e) {
      this.log.error('could not tell invoices of confirmed payment methods', e);
    } finally {
      this.busy = false;
    }
  }
}
