// The life of a subscription: its first invoice, its renewals, its end.
import { type Billing } from './billing.js';
import { cannot } from './errors.js';
import {
  type Interval,
  type Invoice,
  type Line,
  type Price,
  type Recurring,
  type Subscription,
  type SubscriptionItem,
} from './model.js';
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
      lines: this.linesOf(subscription, inTrial ? 'free' : 'first'),
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
    const lines = this.linesOf(subscription, 'renewal');
    for (const item of subscription.items) item.usage = 0; // the invoice bills it now
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

  /**
   * Reports usage of the subscription's metered price. While the renewal is a draft, the usage still counts for the
   * ended period and raises the draft, without an event (Stripe docs, "Configure grace period"). Otherwise the next
   * renewal bills it. Null: the subscription has no metered price.
   */
  reportUsage(subscription: Subscription, quantity: number): SubscriptionItem | null {
    const item = subscription.items.find((i) => this.state.prices.get(i.price)?.recurring?.usage === 'metered');
    if (item === undefined) return null;
    const latest = this.state.invoices.get(subscription.latestInvoice ?? '');
    const line = latest?.status === 'draft' ? latest.lines.findIndex((l) => l.subscriptionItem === item.id) : -1;
    const old = latest?.lines[line];
    if (latest === undefined || old === undefined) item.usage += quantity;
    else latest.lines[line] = { ...old, ...this.billed(old.price, old.quantity + quantity) };
    return item;
  }

  private billed(price: Price | null, quantity: number): Pick<Line, 'amount' | 'quantity' | 'description'> {
    const name = this.state.products.get(price?.product ?? '')?.name ?? 'Item';
    return { amount: (price?.unitAmount ?? 0) * quantity, quantity, description: `${quantity} × ${name}` };
  }

  private linesOf(subscription: Subscription, of: 'free' | 'first' | 'renewal'): Line[] {
    return subscription.items.map((item) => {
      const price = this.state.prices.get(item.price) ?? null;
      const name = this.state.products.get(price?.product ?? '')?.name ?? 'Item';
      const isMetered = price?.recurring?.usage === 'metered';
      // Stripe bills a metered price in arrears, so its first invoice is 0.
      const quantity = isMetered ? (of === 'renewal' ? item.usage : 0) : item.quantity;
      const billed = this.billed(price, quantity);
      return {
        id: this.state.id('il'),
        ...(of === 'free' ? { ...billed, amount: 0, description: `Trial period for ${name}` } : billed),
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
    const recurring: Pick<Recurring, 'interval' | 'count'> = this.state.prices.get(subscription.items[0]?.price ?? '')
      ?.recurring ?? { interval: 'month', count: 1 };
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
