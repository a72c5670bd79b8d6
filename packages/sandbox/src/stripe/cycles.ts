// The life of a subscription: its first invoice, its renewals, its end.
import { type Billing } from './billing.js';
import { cannot } from './errors.js';
import { type Interval, type Invoice, type Line, type Subscription } from './model.js';
import { renderSubscription } from './render-subscription.js';
import { type StripeState } from './state.js';

const HOUR = 3600;
/** Stripe docs, "Collection method": an incomplete subscription expires 23 hours after its start. */
const INCOMPLETE_SEC = 23 * HOUR;

export class Cycles {
  constructor(
    private readonly state: StripeState,
    private readonly billing: Billing,
  ) {}

  /** Creates the first invoice of a new subscription and starts the timers of the subscription. */
  start(subscription: Subscription): Invoice {
    const { state } = this;
    const inTrial = subscription.trialEnd !== null;
    const sendsInvoice = subscription.collectionMethod === 'send_invoice';
    const invoice = this.billing.createInvoice({
      customer: state.customer(subscription.customer),
      currency: this.currencyOf(subscription),
      billingReason: 'subscription_create',
      subscription,
      collectionMethod: subscription.collectionMethod,
      daysUntilDue: subscription.daysUntilDue,
      autoAdvance: true,
      lines: this.linesOf(subscription, inTrial),
    });
    if (!sendsInvoice || inTrial) this.billing.finalize(invoice);
    if (subscription.status === 'incomplete') {
      state.at(subscription.customer, state.now + INCOMPLETE_SEC, `expiry of ${subscription.id}`, () =>
        this.expire(subscription, invoice),
      );
    }
    this.planCycle(subscription);
    return invoice;
  }

  private expire(subscription: Subscription, invoice: Invoice): void {
    if (subscription.status !== 'incomplete') return;
    subscription.status = 'incomplete_expired';
    subscription.endedAt = this.state.now;
    if (invoice.status === 'open') this.billing.void(invoice);
    this.state.emit('customer.subscription.updated', renderSubscription(subscription, this.state));
  }

  private planCycle(subscription: Subscription): void {
    subscription.cycle += 1;
    const cycle = subscription.cycle;
    this.state.at(subscription.customer, subscription.periodEnd, `cycle of ${subscription.id}`, () => {
      if (subscription.cycle === cycle) this.turn(subscription);
    });
  }

  private turn(subscription: Subscription): void {
    if (subscription.cancelAtPeriodEnd) {
      this.cancel(subscription);
      return;
    }
    if (!isRunning(subscription)) return;
    this.advancePeriod(subscription, subscription.periodEnd);
    this.renew(subscription, 'subscription_cycle', null);
  }

  /** Renews now, independent of the calendar: the new period starts now. `amount` replaces the sum of the items. */
  renewNow(subscription: Subscription, billingReason: string, amount: number | null): Invoice {
    if (!isRunning(subscription)) cannot('subscription_not_running', `The subscription is ${subscription.status}.`);
    subscription.anchor = this.state.now;
    this.advancePeriod(subscription, this.state.now);
    return this.renew(subscription, billingReason, amount);
  }

  private advancePeriod(subscription: Subscription, from: number): void {
    if (subscription.status === 'trialing') {
      subscription.status = 'active';
      subscription.anchor = from;
    }
    subscription.periodStart = from;
    subscription.periodEnd = this.periodEnd(subscription, from);
  }

  private renew(subscription: Subscription, billingReason: string, amount: number | null): Invoice {
    this.planCycle(subscription);
    const lines = this.linesOf(subscription, false);
    const [first] = lines;
    const invoice = this.billing.createInvoice({
      customer: this.state.customer(subscription.customer),
      currency: this.currencyOf(subscription),
      billingReason,
      subscription,
      collectionMethod: subscription.collectionMethod,
      daysUntilDue: subscription.daysUntilDue,
      autoAdvance: true,
      lines: amount === null || first === undefined ? lines : [{ ...first, amount }],
      periodStart: subscription.created,
      periodEnd: subscription.periodStart,
    });
    this.state.emit('customer.subscription.updated', renderSubscription(subscription, this.state));
    return invoice;
  }

  cancel(
    subscription: Subscription,
    reason: 'cancellation_requested' | 'payment_failed' = 'cancellation_requested',
  ): void {
    if (subscription.status === 'canceled') return;
    subscription.status = 'canceled';
    subscription.canceledAt = this.state.now;
    subscription.cancelReason = reason;
    subscription.endedAt = this.state.now;
    subscription.cycle += 1;
    // Stripe docs, "Cancel subscriptions": Stripe stops collecting the open invoices.
    for (const invoice of this.state.invoices.values()) {
      if (invoice.subscription !== subscription.id || invoice.status !== 'open') continue;
      invoice.autoAdvance = false;
      invoice.nextAttempt = null;
    }
    this.state.emit('customer.subscription.deleted', renderSubscription(subscription, this.state));
  }

  currencyOf(subscription: Subscription): string {
    return this.state.prices.get(subscription.items[0]?.price ?? '')?.currency ?? 'eur';
  }

  private linesOf(subscription: Subscription, free: boolean): Line[] {
    return subscription.items.map((item) => {
      const price = this.state.prices.get(item.price) ?? null;
      const name = this.state.products.get(price?.product ?? '')?.name ?? 'Item';
      return {
        id: this.state.id('il'),
        amount: free ? 0 : (price?.unitAmount ?? 0) * item.quantity,
        quantity: item.quantity,
        description: free ? `Trial period for ${name}` : `${item.quantity} × ${name}`,
        price,
        subscriptionItem: item.id,
        invoiceItem: null,
        periodStart: subscription.periodStart,
        periodEnd: subscription.periodEnd,
      };
    });
  }

  /** The end of the period from `from` on. It is on the day of the month of the subscription's `anchor`. */
  periodEnd(subscription: Subscription, from: number): number {
    const recurring = this.state.prices.get(subscription.items[0]?.price ?? '')?.recurring ?? {
      interval: 'month',
      count: 1,
    };
    return addInterval(from, recurring.interval, recurring.count, subscription.anchor);
  }
}

function isRunning(subscription: Subscription): boolean {
  return subscription.status === 'active' || subscription.status === 'past_due' || subscription.status === 'trialing';
}

/**
 * Adds a billing interval. A month after 31 January is the last day of February. Later months use the anchor's day
 * again.
 */
function addInterval(from: number, interval: Interval, count: number, anchor: number): number {
  if (interval === 'day' || interval === 'week') return from + count * (interval === 'day' ? 1 : 7) * 24 * HOUR;
  const date = new Date(from * 1000);
  const months = date.getUTCMonth() + count * (interval === 'month' ? 1 : 12);
  const year = date.getUTCFullYear() + Math.floor(months / 12);
  const month = months % 12;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(new Date(anchor * 1000).getUTCDate(), lastDay);
  const time = from % (24 * HOUR);
  return Date.UTC(year, month, day) / 1000 + time;
}
