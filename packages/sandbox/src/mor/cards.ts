// Joins the parts of Document 3: intents, off-session charges, refunds, payment events, and the two ways Stripe's
// events reach the MoR.
import { type SandboxRequest, morError } from '../kernel/http.js';
import { Fields, isObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { signatureFits } from '../kernel/signature.js';
import { CardsBook } from './cards-book.js';
import { Charges } from './cards-charges.js';
import { type CardParts, addCardControls } from './cards-controls.js';
import { PaymentEvents } from './cards-events.js';
import { addIntents } from './cards-intents.js';
import { Refunds, addRefundRoute } from './cards-refunds.js';
import { type MorState } from './state.js';

/** The MoR's endpoint for Stripe's events, for a merchant who relays them. */
export const RELAY_PATH = '/relay/stripe';

export type Cards = CardParts & {
  /** The MoR's own endpoint on the merchant's Stripe account. A control route can switch this endpoint off. */
  readonly hearStripe: (type: string, object: unknown, eventId: string) => void;
  /** True while this endpoint is switched on. */
  readonly isDirect: () => boolean;
};

/**
 * Adds all of Document 3. `relaySecret` signs the merchant's requests to `POST /relay/stripe`. `direct`: the MoR hears
 * Stripe directly too, until a control route says otherwise.
 */
export function addCards(kernel: Kernel, mor: MorState, relaySecret: string, direct = true): Cards {
  const book = new CardsBook(kernel, mor);
  const events = new PaymentEvents(kernel, mor);
  const charges = new Charges(kernel, mor, book, events);
  const refunds = new Refunds(kernel, mor, book, events);
  const parts: CardParts = { book, charges, refunds, events };
  addIntents(kernel, mor, book, charges);
  addRefundRoute(kernel, mor, refunds);
  addCardControls(kernel, mor, parts);

  let hears = direct;
  kernel.control(
    'POST',
    '/_sandbox/mor/hearing',
    'whether the MoR hears Stripe directly: {direct}; without, only by relay',
    (request) => {
      hears = new Fields(request.body).optionalBoolean('direct') ?? hears;
      return { status: 200, body: { direct: hears } };
    },
  );
  const hear = (type: string, object: unknown, eventId: string): void => {
    const signup = isObject(object) && object['billing_reason'] === 'subscription_create';
    const heeded = mor.openFacts.is('charges_at', 'finalized') && !signup ? 'invoice.finalized' : 'invoice.created';
    if (type === heeded && isObject(object)) charges.hear(eventId, object);
  };
  kernel.mor.add('POST', RELAY_PATH, (request) => {
    if (!authentic(kernel, request, relaySecret)) return morError(400, 'invalid_signature');
    const event = isObject(request.body) ? request.body : {};
    const data = isObject(event['data']) ? event['data'] : {};
    if (typeof event['id'] !== 'string' || typeof event['type'] !== 'string') return morError(400, 'invalid_request');
    hear(event['type'], data['object'], event['id']);
    return { status: 200, body: { received: true } };
  });
  return {
    ...parts,
    hearStripe: (type, object, eventId) => (hears ? hear(type, object, eventId) : undefined),
    isDirect: () => hears,
  };
}

function authentic(kernel: Kernel, request: SandboxRequest, secret: string): boolean {
  const header = request.headers['stripe-signature'] ?? '';
  return signatureFits(request.raw, header, secret, Math.floor(kernel.clock.wallMs() / 1000));
}
