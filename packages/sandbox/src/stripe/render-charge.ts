// Stripe's own payment intents, charges and refunds in the API's format, with only the members a person looks at.
import { type JsonObject } from '../kernel/json.js';
import { type Charge, type StripeRefund } from './model.js';

export function renderPaymentIntent(charge: Charge): JsonObject {
  return {
    id: charge.intent,
    object: 'payment_intent',
    amount: charge.amount,
    amount_capturable: 0,
    amount_received: charge.amount,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    latest_charge: charge.id,
    livemode: false,
    metadata: {},
    payment_method: charge.method,
    status: 'succeeded',
  };
}

export function renderCharge(charge: Charge): JsonObject {
  return {
    id: charge.id,
    object: 'charge',
    amount: charge.amount,
    amount_captured: charge.amount,
    amount_refunded: charge.refunded,
    captured: true,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    livemode: false,
    metadata: {},
    paid: true,
    payment_intent: charge.intent,
    payment_method: charge.method,
    refunded: charge.refunded === charge.amount,
    status: 'succeeded',
  };
}

export function renderRefund(refund: StripeRefund): JsonObject {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    balance_transaction: null,
    charge: refund.charge,
    created: refund.created,
    currency: refund.currency,
    metadata: refund.metadata,
    payment_intent: refund.intent,
    reason: refund.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  };
}
