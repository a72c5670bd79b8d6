// Invoices of customers outside the enrolment. Verify only counts them.
import { parseStripeEvent } from '../../shared/domain/events/stripe-event.js';
import { type OurInvoice } from '../../shared/domain/difference.js';
import { type InvoiceFacts } from '../../shared/domain/ports/billing-platform.js';
import { type BillingEventFacts } from '../../shared/domain/ports/billing-reader.js';
import { isOutside, SIGNUP_REASON } from '../../shared/domain/status.js';
import { carries, ruleOf } from '../../shared/domain/enrolment.js';
import { type VerifySession } from './verify-session.js';

export class VerifyOutside {
  private readonly counted = new Set<string>();
  /** The customers looked up in this run: true if enrolled. With enrolment by metadata each look-up asks Stripe. */
  private readonly enrolled = new Map<string, boolean>();

  constructor(private readonly session: VerifySession) {}

  /** True if the customer is not enrolled. `own` null: our database does not know the invoice. */
  async has(facts: InvoiceFacts, own: OurInvoice | null): Promise<boolean> {
    const outside = own === null ? await this.isForeign(facts) : isOutside(own);
    if (outside && !this.counted.has(facts.invoiceId)) {
      this.counted.add(facts.invoiceId);
      await this.session.step('not_enrolled', 1);
    }
    return outside;
  }

  /** Leaves out the events about invoices outside the enrolment. */
  async without(events: readonly BillingEventFacts[]): Promise<readonly BillingEventFacts[]> {
    if (events.length === 0 || ruleOf(this.session.parts.context).by === 'all') return events;
    const ours = await this.session.parts.books.records.invoices(events.flatMap((e) => e.about.id ?? []));
    const kept: BillingEventFacts[] = [];
    for (const e of events) {
      const parsed = parseStripeEvent(e.body);
      const outside =
        parsed.usability === 'usable' &&
        (await this.has(parsed.event.invoice, ours.get(parsed.event.invoice.invoiceId) ?? null));
      if (!outside) kept.push(e);
    }
    return kept;
  }

  private async isForeign(facts: InvoiceFacts): Promise<boolean> {
    const { customerId, subscriptionId, createdAt } = facts;
    const { enrolment, context } = this.session.parts;
    const rule = ruleOf(context);
    if (enrolment === null || rule.by === 'all' || facts.billingReason === SIGNUP_REASON) return false;
    if (carries(facts.metadata, rule)) return false;
    const before = this.enrolled.get(customerId);
    if (before !== undefined) return !before;
    const read = () => enrolment.readEnrolment({ customerId, subscriptionId, createdAt });
    const { enrolled } = await this.session.ask(read, 'a customer could not be read');
    if (rule.by === 'metadata') this.enrolled.set(customerId, enrolled);
    return !enrolled;
  }
}
