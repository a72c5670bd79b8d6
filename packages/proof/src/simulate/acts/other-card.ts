// A customer gives another card: the shop requests a setup, the browser confirms it, and the shop reports the
// confirmation.
import { createHash } from 'node:crypto';
import { type People, type Subscriber } from './people.js';
import { type World } from '../machine/world.js';

/** The shop reports the setup `reports` times at once. The story decides whether charges on the card succeed. */
export async function giveAnotherCard(
  world: World,
  people: People,
  subscriber: Subscriber,
  reports = 2,
): Promise<void> {
  const path = `/v1/customers/${subscriber.customerId}/payment-method`;
  const number = (world.cardsGiven.get(subscriber.customerId) ?? 0) + 1;
  const body = '{}';
  const bodySha256 = createHash('sha256').update(body).digest();
  const name = {
    ...{ apiKey: 'shop', method: 'POST', path, bodySha256 },
    idempotencyKey: `card-${number}-${subscriber.customerId}`,
  };
  const request = { customerId: subscriber.customerId, paymentMethodTypes: null, taxCalculationId: null, by: 'shop' };
  let intentId: string | null = null;
  for (let tries = 0; tries < 5 && intentId === null; tries++) {
    intentId = await world.ask('another card', async (r) => {
      const made = await r.methods.create(request, name, body);
      return made.outcome === 'made' ? made.intent.intentId : null;
    });
    if (intentId === null) await world.sleep(30_000);
  }
  if (intentId === null) return;
  await people.confirm(intentId, subscriber.customerId, 'succeed');
  const report = () => world.ask('card confirmed', (r) => r.methods.confirm(subscriber.customerId, null, 'shop'));
  const notified = await Promise.all(Array.from({ length: reports }, report));
  if (notified.some((t) => t?.ok === true)) world.cardsGiven.set(subscriber.customerId, number);
}
