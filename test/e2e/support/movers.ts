// Customers known to the MoR with a subscription in Stripe's collection, and the charger of an invoice in the end.
import { type Subscriber, type World } from '../../support/world.js';

/** A subscriber of the MoR with a second charger: the default of the subscription is a card on Stripe. */
export async function mover(world: World, email = 'eve@example.com'): Promise<Subscriber & { cardId: string }> {
  const s = await world.subscriber({ email });
  await world.invoice(s.firstInvoiceId, 'paid');
  const card = await world.stripe.paymentMethods.attach('pm_card_visa', { customer: s.customerId });
  await world.stripe.subscriptions.update(s.subscriptionId, { default_payment_method: card.id });
  return { ...s, cardId: card.id };
}

/** Each side's takings for an invoice: charges of Stripe's own, and payments of the MoR. */
export function takenFor(world: World, invoiceId: string): { readonly stripe: number; readonly mor: number } {
  const { sandbox } = world;
  const stripe = [...sandbox.stripe.state.charges.values()].filter((c) => c.invoice === invoiceId).length;
  const attempts = sandbox.cards.book.heard.get(invoiceId)?.attempts ?? [];
  return { stripe, mor: attempts.filter((p) => p.status === 'succeeded').length };
}

/** The subscription's method, and its way of collection. */
export async function collection(world: World, subscriptionId: string): Promise<readonly [string | null, string]> {
  const s = await world.stripe.subscriptions.retrieve(subscriptionId);
  const method = s.default_payment_method;
  return [typeof method === 'string' ? method : (method?.id ?? null), s.collection_method];
}

export const relayTo = (world: World): Record<string, string> => ({
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
});
