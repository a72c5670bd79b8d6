// How Stripe itself collects an invoice: it charges a card at Stripe or asks the merchant to collect. Then it retries.
import { type Billing } from './billing.js';
import { type Cards, type CardReply } from './cards.js';
import { type Cycles } from './cycles.js';
import { StripeRefusal, cannot, errorReply, missing } from './errors.js';
import { type Invoice, type PaymentMethod, type Subscription, amountRemaining } from './model.js';
import { renderSubscription } from './render-subscription.js';
import { type StripeState } from './state.js';

const DAY = 86_400;
const HOUR = 3600;

/** The account's settings for unpaid invoices. */
export type RetrySettings = {
  /** Days between two attempts. Stripe's dashboard allows up to three retries and proposes these days. */
  days: readonly number[];
  /** The status of the subscription after the last failed attempt: past due, or canceled. */
  then: 'past_due' | 'cancel';
};

export class Collecting {
  readonly settings: RetrySettings = { days: [3, 5, 7], then: 'past_due' };

  constructor(
    private readonly state: StripeState,
    private readonly billing: Billing,
    private readonly cycles: Cycles,
    private readonly cards: Cards,
  ) {
    billing.collect = (invoice) => this.attempt(invoice);
    billing.attemptFailed = (invoice) => this.failed(invoice);
  }

  /**
   * Makes one automatic attempt, and plans the next one. Stripe charges a card. For a custom method Stripe asks the
   * merchant to collect and to report the result. Without a method the attempt fails.
   */
  attempt(invoice: Invoice): void {
    if (invoice.status !== 'open') return;
    const { state } = this;
    if (invoice.attemptCount > 0) this.pastDue(invoice); // the earlier attempt brought no money
    invoice.attemptCount += 1;
    this.plan(invoice);
    const method = this.methodOf(invoice);
    if (method?.type === 'custom') state.emitInvoice('invoice.payment_attempt_required', invoice);
    else if (method === null || this.charge(invoice, method) !== 'succeed') this.failed(invoice);
    if (invoice.status === 'open' && invoice.nextAttempt === null) this.giveUp(invoice);
  }

  /**
   * Plans the next attempt. A one-off invoice has only one attempt: by default Stripe does not retry one-off invoices.
   */
  private plan(invoice: Invoice): void {
    const days = invoice.subscription === null ? undefined : this.settings.days[invoice.attemptCount - 1];
    this.attemptAt(invoice, days === undefined ? null : this.state.now + days * DAY);
  }

  /** Plans an attempt in an hour, for an open invoice with `auto_advance` on again. */
  resume(invoice: Invoice): void {
    if (invoice.status === 'open' && invoice.collectionMethod === 'charge_automatically')
      this.attemptAt(invoice, this.state.now + HOUR);
  }

  private attemptAt(invoice: Invoice, at: number | null): void {
    invoice.nextAttempt = at;
    if (at === null) return;
    this.state.at(invoice.customer, at, `attempt for ${invoice.id}`, () => {
      if (invoice.nextAttempt === at && invoice.autoAdvance) this.attempt(invoice);
    });
  }

  /** Called when an attempt brings no money, or the merchant reports a failure. */
  private failed(invoice: Invoice): void {
    if (invoice.status !== 'open') return;
    this.state.emitInvoice('invoice.payment_failed', invoice);
    this.pastDue(invoice);
  }

  private pastDue(invoice: Invoice): void {
    const subscription = this.state.subscriptions.get(invoice.subscription ?? '');
    if (subscription?.status !== 'active') return; // an incomplete subscription stays incomplete
    subscription.status = 'past_due';
    this.state.emit('customer.subscription.updated', renderSubscription(subscription, this.state));
  }

  private giveUp(invoice: Invoice): void {
    const subscription = this.state.subscriptions.get(invoice.subscription ?? '');
    if (this.settings.then === 'cancel' && subscription?.status === 'past_due')
      this.cycles.cancel(subscription, 'payment_failed');
  }

  private methodOf(invoice: Invoice): PaymentMethod | null {
    return methodFor(this.state, invoice, this.state.subscriptions.get(invoice.subscription ?? '') ?? null);
  }

  private charge(invoice: Invoice, method: PaymentMethod): CardReply {
    const reply = this.cards.reply(method);
    if (reply === 'requires_action') this.state.emitInvoice('invoice.payment_action_required', invoice);
    if (reply !== 'succeed') return reply;
    const amount = amountRemaining(invoice);
    const open = invoice.payments.find((p) => p.record === null && p.status === 'open' && p.amountRequested === amount);
    const payment = open ?? this.billing.addPayment(invoice, null, amount);
    this.cards.took(payment, invoice, method);
    this.billing.settlePayment(invoice, payment, amount);
    this.state.emitInvoice('invoice.payment_succeeded', invoice);
    return reply;
  }

  /** `POST /v1/invoices/:id/pay` by hand. Throws 402 for a declined card, and 400 if nothing can be charged. */
  payNow(invoice: Invoice, paymentMethod: string | null): void {
    const method =
      paymentMethod === null
        ? this.methodOf(invoice)
        : (this.state.paymentMethods.get(paymentMethod) ?? missing('payment_method', paymentMethod, 'payment_method'));
    if (method === null || method.type === 'custom') {
      cannot(
        'resource_missing',
        'Cannot charge a customer that has no active card. Attach a payment method, or report the payment.',
        'customer',
      );
    }
    invoice.attemptCount += 1;
    const reply = this.charge(invoice, method);
    if (reply === 'succeed') return;
    this.failed(invoice);
    const [code, text] =
      reply === 'decline'
        ? ['card_declined', 'Your card was declined.']
        : ['invoice_payment_intent_requires_action', 'This payment requires additional user action.'];
    throw new StripeRefusal(errorReply(402, 'card_error', text, { code }), true);
  }
}

/**
 * The method Stripe would charge; null: none. Stripe's order: the method of the invoice, then of the subscription, then
 * of the customer. At each place the default payment method comes before the default source.
 */
export function methodFor(
  state: StripeState,
  invoice: Invoice | null,
  subscription: Subscription | null,
): PaymentMethod | null {
  const owner = state.customers.get(invoice?.customer ?? subscription?.customer ?? '');
  const inOrder = [
    invoice?.defaultPaymentMethod,
    subscription?.defaultPaymentMethod,
    subscription?.defaultSource,
    owner?.defaultPaymentMethod,
    owner?.defaultSource,
  ];
  const first = inOrder.find((id) => typeof id === 'string');
  return state.paymentMethods.get(first ?? '') ?? null;
}
