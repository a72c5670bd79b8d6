// Asks Stripe for the names of the customers on a page. Names stay only in memory, and Crossbill asks for an old name
// again.
import { Injectable } from '@nestjs/common';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { NAMES_AT_ONCE, NAMES_KEPT_AT_MOST, NAMES_KEPT_MS, NAMES_TIMEOUT_MS } from '../../shared/policy.js';
import { type Names } from './fields.js';

type Kept = { readonly name: string | null; readonly at: number };

@Injectable()
export class CustomerNames {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly reader: BillingReader,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns each customer's name, or else the e-mail address. Leaves out a customer if Stripe gives neither in time.
   */
  async of(customerIds: readonly string[]): Promise<Names> {
    const oldest = this.clock.now().getTime() - NAMES_KEPT_MS;
    const unknown = customerIds.filter((id) => (this.kept.get(id)?.at ?? 0) < oldest);
    if (unknown.length > 0) await this.read(unknown);
    return new Map(
      customerIds.flatMap((id) => {
        const name = this.kept.get(id)?.name ?? null;
        return name === null ? [] : [[id, name] as const];
      }),
    );
  }

  private async read(customerIds: readonly string[]): Promise<void> {
    const timeout = new AbortController();
    const waiting = [...customerIds];
    let isLate = false;
    const reader = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined && !isLate; id = waiting.shift()) {
        const reply = await this.reader.readCustomer(id).catch(() => null);
        if (reply?.ok !== true) return; // Stripe is down or busy: do not wait for further names
        this.keep(id, reply.value?.name || reply.value?.email || null);
      }
    };
    const late = this.clock.sleep(NAMES_TIMEOUT_MS, timeout.signal).catch(() => undefined);
    const readers = Promise.all(Array.from({ length: Math.min(NAMES_AT_ONCE, waiting.length) }, reader));
    await Promise.race([readers, late]);
    isLate = true;
    timeout.abort();
  }

  private keep(customerId: string, name: string | null): void {
    this.kept.delete(customerId);
    this.kept.set(customerId, { name, at: this.clock.now().getTime() });
    const [first] = this.kept.keys();
    if (this.kept.size > NAMES_KEPT_AT_MOST && first !== undefined) this.kept.delete(first);
  }
}
