// Reads a customer's name and e-mail address from Stripe for a page. Crossbill stores neither.
import { Inject, Injectable } from '@nestjs/common';
import { BillingReader, type CustomerFacts } from '../../shared/domain/ports/billing-reader.js';
import { type CallOutcome, codesOf } from '../../shared/domain/ports/call.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

/** The longest time a page waits for Stripe. */
const TIMEOUT_MS = 3_000;
const UNREAD = "Couldn't read a customer from Stripe";

export type CustomerAtStripe = Pick<CustomerFacts, 'customerId' | 'name' | 'email'>;

@Injectable()
export class CustomersAtStripe {
  constructor(
    private readonly reader: BillingReader,
    private readonly clock: Clock,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Reads one customer. `unknown`: Stripe has no such customer. Null: Stripe did not reply in time. */
  async one(customerId: string): Promise<CustomerAtStripe | 'unknown' | null> {
    const reply = await this.inTime(this.reader.readCustomer(customerId));
    return reply === null ? null : (reply.value ?? 'unknown');
  }

  private async inTime<T>(asked: Promise<CallOutcome<T>>): Promise<{ readonly value: T } | null> {
    const timeout = new AbortController();
    const late = this.clock.sleep(TIMEOUT_MS, timeout.signal).then(() => null);
    try {
      const reply = await Promise.race([asked, late]);
      if (reply === null || !reply.ok) {
        this.log.warn(
          { event: 'customers.unread', why: reply === null ? 'no answer in time' : codesOf(reply) },
          UNREAD,
        );
        return null;
      }
      return reply;
    } catch (err) {
      this.log.warn({ event: 'customers.unread', err }, UNREAD);
      return null;
    } finally {
      timeout.abort();
    }
  }
}
