// Finds out if the customer of an invoice is enrolled: from our database if possible, and from Stripe if not.
import { Inject, Injectable } from '@nestjs/common';
import { carries, type Enrolled, ruleOf } from '../../shared/domain/enrolment.js';
import {
  BillingReader,
  type ChargedFor,
  type ChargedMethod,
  isChargeable,
  isEnded,
  type SubscriptionFacts,
} from '../../shared/domain/ports/billing-reader.js';
import { EnrolmentPort, type Invoiced } from '../../shared/domain/ports/enrolment.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { chargeKey, ChargeLookupsRepository } from './charge-lookups.repository.js';
import { EnrolmentRepository } from './enrolment.repository.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { DECISION_SETTINGS } from '../../engine/decision-context.js';
import { CHARGE_POLL_GOOD_MS } from './rules/limits.js';
import { fromBooks, fromPlatform } from './rules/enrolment.js';

type Shown = Pick<SubscriptionFacts, 'customerId' | 'metadata' | 'customerMetadata'>;

@Injectable()
export class EnrolmentService extends EnrolmentPort {
  constructor(
    private readonly repository: EnrolmentRepository,
    private readonly reader: BillingReader,
    private readonly lookups: ChargeLookupsRepository,
    @Inject(DECISION_SETTINGS) readonly settings: DecisionSettings,
  ) {
    super();
  }

  /** Decides without a request: from our database and the metadata of a listed subscription or customer. */
  async isEnrolled({ customerId, metadata, customerMetadata }: Shown): Promise<boolean> {
    const rule = ruleOf(this);
    if (rule.by === 'all' || carries(metadata, rule) || carries(customerMetadata, rule)) return true;
    const found = fromBooks({ customerId, createdAt: null }, await this.repository.known(customerId, null), rule);
    return found?.enrolled === true;
  }

  /**
   * True if Crossbill expects the MoR to charge the subscription's next renewal. Decides as `look` decides about that
   * invoice, without a request: a subscription that `crossbill move` left or gave back to Stripe is Stripe's alone.
   */
  async expectsMor(subscription: SubscriptionFacts): Promise<boolean> {
    if (isEnded(subscription.status)) return false;
    const rule = ruleOf(this);
    if (rule.by === 'all' || carries(subscription.metadata, rule)) return true;
    const { atStripe } = await this.repository.known(subscription.customerId, subscription.subscriptionId);
    if (atStripe && subscription.collectionMethod !== 'send_invoice' && isChargeable(subscription.charged))
      return false;
    return this.isEnrolled(subscription);
  }

  /**
   * Returns the payment method Stripe would charge. If a read of the last 24 hours found no method, Crossbill does not
   * ask Stripe again. With `fresh`, Crossbill always asks Stripe.
   */
  async readCharging(of: ChargedFor, fresh: boolean): Promise<CallOutcome<ChargedMethod | null>> {
    const key = chargeKey(of);
    const before = fresh || key === null ? null : await this.lookups.recent(key, CHARGE_POLL_GOOD_MS);
    if (before !== null && !isChargeable(before.charged)) return known(before.charged);
    const read = await this.reader.readCharged(of);
    if (read.ok && key !== null) await this.lookups.keep([{ key, charged: read.value }]);
    return read;
  }

  /**
   * Finds out if the invoice's customer is enrolled. `ENROLMENT=metadata` needs at most one request to Stripe. If
   * Stripe may charge the subscription (`atStripe`), Crossbill first reads the payment method Stripe would charge.
   */
  async readEnrolment(invoice: Invoiced): Promise<CallOutcome<Enrolled>> {
    const rule = ruleOf(this);
    if (rule.by === 'all' || carries(invoice.metadata, rule)) return known<Enrolled>({ enrolled: true });
    const books = await this.repository.known(invoice.customerId, invoice.subscriptionId ?? null);
    if (books.atStripe && invoice.collectionMethod !== 'send_invoice') {
      const { customerId, subscriptionId = null } = invoice;
      const charged = await this.reader.readCharged({ customerId, subscriptionId, ownMethodId: null });
      if (!charged.ok) return charged;
      if (isChargeable(charged.value))
        return { ...charged, value: { enrolled: false, why: 'Stripe charges the subscription (see crossbill move)' } };
    }
    const found = fromBooks(invoice, books, rule);
    if (found !== null) return known(found);
    const read = await this.reader.readCustomer(invoice.customerId);
    if (!read.ok) return read;
    return { ...read, value: fromPlatform(invoice.customerId, read.value?.metadata ?? null, rule) };
  }
}

function known<T>(value: T): CallOutcome<T> {
  return { ok: true, value, status: 200, requestId: null };
}
