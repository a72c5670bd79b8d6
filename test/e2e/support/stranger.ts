// A customer from whom Stripe itself collects: without a signup at Crossbill and unknown to the MoR.
import { monthlyPrice, type World } from '../../support/rigs/world.js';

export type Stranger = { readonly customerId: string; readonly subscriptionId: string };

/** A card at Stripe pays the customer's first invoice. With `card` it stays the default, so Stripe charges it again. */
export async function stranger(
  world: World,
  options: {
    readonly customer?: Record<string, string>;
    readonly subscription?: Record<string, string>;
    readonly card?: boolean;
  } = {},
): Promise<Stranger> {
  const { stripe } = world;
  const customer = await stripe.customers.create({ email: 'bob@example.com', metadata: options.customer ?? {} });
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
  await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: card.id } });
  const price = await monthlyPrice(stripe, 1_250);
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    payment_behavior: 'allow_incomplete',
    metadata: options.subscription ?? {},
  });
  if (options.card !== true)
    await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: '' } });
  return { customerId: customer.id, subscriptionId: subscription.id };
}

/** A renewal of a customer unknown to the MoR, still a draft. */
export async function renewalOf(world: World, stranger: Stranger): Promise<string> {
  const renewed = await world.control('POST', '/stripe/renew', { subscription: stranger.subscriptionId });
  if (typeof renewed.body['id'] !== 'string') throw new Error(`renew: ${JSON.stringify(renewed.body)}`);
  return renewed.body['id'];
}
