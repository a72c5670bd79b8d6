// Customers whom the MoR knows and whose subscription Stripe still charges, and who charged an invoice in the end.
import { type Subscriber, type World } from '../../support/world.js';

/** A subscriber of the MoR whose subscription Stripe would charge too: its default is a card on Stripe. */
export async function mover(world: World, email = 'eve@example.com'): Promise<Subscriber & { cardId: string }> {
  const s = await world.subscriber({ email });
  await world.invoice(s.firstInvoiceId, 'paid');
  const card = await world.stripe.paymentMethods.attach('pm_card_visa', { customer: s.customerId });
  await world.stripe.subscriptions.update(s.subscriptionId, { default_payment_method: card.id });
  return { ...s, cardId: card.id };
}

/** What each side took for an invoice: charges of Stripe's own, and payments of the MoR. */
export function takenFor(world: World, invoiceId: string): { readonly stripe: number; readonly mor: number } {
  const { sandbox } = world;
  const stripe = [...sandbox.stripe.state.charges.values()].filter((c) => c.invoice === invoiceId).length;
  const attempts = sandbox.cards.book.heard.get(invoiceId)?.attempts ?? [];
  return { stripe, mor: attempts.filter((p) => p.status === 'succeeded').length };
}

/** The method that stands on the subscription, and how it is collected. */
export async function collection(world: World, subscriptionId: string): Promise<readonly [string | null, string]> {
  const s = await world.stripe.subscriptions.retrieve(subscriptionId);
  const method = s.default_payment_method;
  return [typeof method === 'string' ? method : (method?.id ?? null), s.collection_method];
}

export const relayTo = (world: World): Record<string, string> => ({
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
});
