// The customers' cards on Stripe itself: the outcomes of charges, the money taken, and the refunds.
import { cannot, missing } from './errors.js';
import { type Charge, type Invoice, type InvoicePayment, type PaymentMethod, type StripeRefund } from './model.js';
import { renderCharge, renderRefund } from './render-charge.js';
import { type StripeState } from './state.js';

export const cardReplies = ['succeed', 'decline', 'requires_action'] as const;
export type CardReply = (typeof cardReplies)[number];

/**
 * Stripe's test cards with declined charges, by token and by payment method. Saving such a card succeeds.
 */
const DECLINES = new Set(['tok_chargeCustomerFail', 'pm_card_chargeCustomerFail']);
const ASKS = new Set(['tok_threeDSecure2Required', 'pm_card_authenticationRequired']);

export class Cards {
  private readonly always = new Map<string, CardReply>();
  private readonly coming = new Map<string, CardReply[]>();

  constructor(private readonly state: StripeState) {}

  /**
   * Creates a card or another payment method from the caller's input. `token` names one of Stripe's test cards; any
   * other token gives a card that works.
   */
  make(id: string, type: string, customType: string | null, token: string | null): PaymentMethod {
    const method: PaymentMethod = { id, created: this.state.now, type, customType, customer: null };
    this.state.paymentMethods.set(id, method);
    if (token !== null && DECLINES.has(token)) this.choose(id, 'decline');
    if (token !== null && ASKS.has(token)) this.choose(id, 'requires_action');
    return method;
  }

  /**
   * Sets the outcome of charges on a method. A single outcome lasts until the next choice. From a list, each charge
   * takes the next outcome.
   */
  choose(method: string, reply: CardReply | readonly CardReply[]): void {
    if (typeof reply === 'string') this.always.set(method, reply);
    else this.coming.set(method, [...reply]);
  }

  reply(method: PaymentMethod): CardReply {
    return this.coming.get(method.id)?.shift() ?? this.always.get(method.id) ?? 'succeed';
  }

  /** Records the charge for a payment of an invoice. */
  took(payment: InvoicePayment, invoice: Invoice, method: PaymentMethod): void {
    const { state } = this;
    const charge: Charge = {
      id: state.id('ch'),
      created: state.now,
      intent: payment.intent ?? '',
      invoice: invoice.id,
      customer: invoice.customer,
      method: method.id,
      amount: payment.amountRequested,
      currency: invoice.currency,
      refunded: 0,
    };
    state.charges.set(charge.id, charge);
    state.emit('charge.succeeded', renderCharge(charge));
  }

  /** Finds a charge by its id or by its payment intent. Throws 404 if there is none. */
  find(charge: string | null, intent: string | null): Charge {
    const { charges } = this.state;
    const found =
      charge === null ? [...charges.values()].find((c) => c.intent === intent) : (charges.get(charge) ?? undefined);
    return (
      found ??
      missing(charge === null ? 'payment_intent' : 'charge', charge ?? intent ?? '', charge ?? 'payment_intent')
    );
  }

  /** Refunds to the card. `amount` null: all that is left. */
  refund(charge: Charge, amount: number | null, reason: string | null, metadata: Record<string, string>): StripeRefund {
    const { state } = this;
    const left = charge.amount - charge.refunded;
    const value = amount ?? left;
    if (left === 0) cannot('charge_already_refunded', `Charge ${charge.id} has already been refunded.`);
    if (value > left)
      cannot('amount_too_large', `Refund amount is greater than unrefunded amount (${left}).`, 'amount');
    charge.refunded += value;
    const refund: StripeRefund = {
      id: state.id('re'),
      created: state.now,
      charge: charge.id,
      intent: charge.intent,
      amount: value,
      currency: charge.currency,
      reason,
      credited: 0,
      metadata,
    };
    state.refunds.set(refund.id, refund);
    state.emit('refund.created', renderRefund(refund));
    state.emit('charge.refunded', renderCharge(charge));
    return refund;
  }
}
