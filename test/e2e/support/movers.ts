// Customers known to the MoR whose subscription Stripe collects, and which side took the money of an invoice.
import { type Subscriber, type World } from '../../support/rigs/world.js';

/**
 * A subscriber of the MoR whom Stripe can charge too: the subscription's default payment method is a card at Stripe.
 */
export async function mover(world: World, email = 'eve@example.com'): Promise<Subscriber & { cardId: string }> {
  const s = await world.subscriber({ email });
  await world.invoice(s.firstInvoiceId, 'paid');
  const card = await world.stripe.paymentMethods.attach('pm_card_visa', { customer: s.customerId });
  await world.stripe.subscriptions.update(s.subscriptionId, { default_payment_method: card.id });
  return { ...s, cardId: card.id };
}

/** How many times each side took money for an invoice: charges of Stripe itself, and payments at the MoR. */
export function takenFor(world: World, invoiceId: string): { readonly stripe: number; readonly mor: number } {
  const { sandbox } = world;
  const stripe = [...sandbox.stripe.state.charges.values()].filter((c) => c.invoice === invoiceId).length;
  const attempts = sandbox.cards.book.heard.get(invoiceId)?.attempts ?? [];
  return { stripe, mor: attempts.filter((p) => p.status === 'succeeded').length };
}

/** Returns the subscription's default payment method and its collection method. */
export async function collection(world: World, subscriptionId: string): Promise<readonly [string | null, string]> {
  const s = await world.stripe.subscriptions.retrieve(subscriptionId);
  const method = s.default_payment_method;
  return [typeof method === 'string' ? method : (method?.id ?? null), s.collection_method];
}

export const relayTo = (world: World): Record<string, string> => ({
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
});
