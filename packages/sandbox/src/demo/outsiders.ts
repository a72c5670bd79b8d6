// Customers the merchant never moved to the MoR: Stripe bills and charges them as before, and Crossbill leaves their
// invoices alone.
import { type Story } from './story.js';

const NAMES = ['Grete Example', 'Hugo Example'];

/** Signs up two customers on Stripe without enrolment. The daemon relays no renewal of these two to the MoR. */
export async function addOutsiders(story: Story): Promise<void> {
  const { stripe, notified: notice } = story.world;
  const product = await stripe.products.create({ name: 'Larch Classic' });
  const price = await stripe.prices.create({
    product: product.id,
    unit_amount: 1250,
    currency: 'eur',
    recurring: { interval: 'month' },
  });
  for (const name of NAMES) {
    const customer = await stripe.customers.create({ name });
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: card.id } });
    notice.outsiders.push(customer.id);
    await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
      payment_behavior: 'allow_incomplete',
    });
  }
  await story.rest.settled();
  story.progress.done(`${NAMES.length} customers stay with Stripe's own charges: not enrolled, not relayed to the MoR`);
}
