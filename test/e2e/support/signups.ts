// A signup as a shop does it: customer and incomplete subscription on Stripe, intent, browser, completion.
import { expect } from '@jest/globals';
import { type Json, monthlyPrice, type Reply, SIGNUP_KEY, type World } from '../../support/rigs/world.js';

const AS_SHOP = { authorization: `Bearer ${SIGNUP_KEY}` };

export type Begun = {
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly invoiceId: string;
  readonly id: string;
  readonly intentId: string;
};

/**
 * A customer with an incomplete subscription of 29.90 EUR, and a signup for its first invoice. `amount` is the
 * intent's.
 */
export async function begun(world: World, amount = 2990): Promise<Begun> {
  const customer = await world.stripe.customers.create({ email: 'ada@example.com' });
  const price = await monthlyPrice(world.stripe, 2990);
  const subscription = await world.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    payment_behavior: 'default_incomplete',
  });
  const body = { kind: 'payment', customer: { id: customer.id }, amount, currency: 'eur' };
  const made = await world.api('POST', '/v1/signups', body, AS_SHOP);
  expect(made.status).toBe(201);
  const invoice = subscription.latest_invoice;
  return {
    customerId: customer.id,
    subscriptionId: subscription.id,
    invoiceId: typeof invoice === 'string' ? invoice : (invoice?.id ?? ''),
    id: String(made.body['id']),
    intentId: String(made.body['payment_intent_id']),
  };
}

/** The browser confirms the intent. `outcome` null: the customer's card decides. */
export async function confirmed(
  world: World,
  begun: Begun,
  outcome: string | null = null,
): Promise<{ chargeId: string; paymentId: string }> {
  const { body } = await world.control(
    'POST',
    `/intents/${begun.intentId}/confirm`,
    outcome === null ? {} : { outcome },
  );
  await world.morActs();
  return { chargeId: String(body['charge_id']), paymentId: String(body['payment_id']) };
}

export function complete(
  world: World,
  begun: Pick<Begun, 'id' | 'invoiceId'>,
  chargeId: string,
  more: Json = {},
): Promise<Reply> {
  const body = { charge_id: chargeId, invoice_id: begun.invoiceId, amount: 2990, currency: 'eur', ...more };
  return world.api('POST', `/v1/signups/${begun.id}/complete`, body, AS_SHOP);
}
