// Stripe's own payment intents, charges and refunds in the API's format, with only the members a person looks at.
import { type JsonObject } from '../kernel/json.js';
import { type Charge, type StripeRefund } from './model.js';

export function renderPaymentIntent(c: Charge): JsonObject {
  return {
    id: c.intent,
    object: 'payment_intent',
    amount: c.amount,
    amount_capturable: 0,
    amount_received: c.amount,
    created: c.created,
    currency: c.currency,
    customer: c.customer,
    latest_charge: c.id,
    livemode: false,
    metadata: {},
    payment_method: c.method,
    status: 'succeeded',
  };
}

export function renderCharge(c: Charge): JsonObject {
  return {
    id: c.id,
    object: 'charge',
    amount: c.amount,
    amount_captured: c.amount,
    amount_refunded: c.refunded,
    captured: true,
    created: c.created,
    currency: c.currency,
    customer: c.customer,
    livemode: false,
    metadata: {},
    paid: true,
    payment_intent: c.intent,
    payment_method: c.method,
    refunded: c.refunded === c.amount,
    status: 'succeeded',
  };
}

export function renderRefund(r: StripeRefund): JsonObject {
  return {
    id: r.id,
    object: 'refund',
    amount: r.amount,
    balance_transaction: null,
    charge: r.charge,
    created: r.created,
    currency: r.currency,
    metadata: r.metadata,
    payment_intent: r.intent,
    reason: r.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  };
}
