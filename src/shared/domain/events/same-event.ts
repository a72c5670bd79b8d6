// Compares two bodies with the same event id: are they the same event?
import { idOf, isObject, type JsonObject, member } from '@crossbill/mor/read.js';
import { parseBody } from './json-body.js';

/**
 * Stripe writes into the body how many endpoints still wait for the event. This count changes between deliveries, so
 * the comparison ignores it.
 */
const COUNTERS = new Set(['pending_webhooks']);

/** True if both bodies parse to the same JSON value. The order of keys and white space do not matter. */
export function sameEvent(a: Buffer, b: Buffer): boolean {
  const left = canonical(a);
  return left !== null && left === canonical(b);
}

/**
 * True if both bodies are the same event of Stripe. Stripe renders an event in the API version of each endpoint. During
 * an upgrade a merchant has two endpoints with two versions (Stripe docs, "Upgrade webhook versions"), so one event
 * arrives in two bodies.
 */
export function isSameStripeEvent(a: Buffer, b: Buffer): boolean {
  if (sameEvent(a, b)) return true;
  const identity = stripeIdentity(a);
  return identity !== null && identity === stripeIdentity(b);
}

/**
 * Returns the id, type, time, account and object of an event, as one text. Null if the id, type, time or object is
 * missing. A missing account is allowed.
 */
function stripeIdentity(body: Buffer): string | null {
  const parsed = parseBody(body);
  if (!parsed.ok) return null;
  const text = (name: string, of: JsonObject): string | null => {
    const value = member(of, name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const data = member(parsed.value, 'data');
  const object = isObject(data) ? member(data, 'object') : null;
  const [id, type, about] = [text('id', parsed.value), text('type', parsed.value), idOf(object)];
  const created = member(parsed.value, 'created');
  if (id === null || type === null || about === null || typeof created !== 'number') return null;
  return JSON.stringify([id, type, created, idOf(member(parsed.value, 'account')), about]);
}

function canonical(body: Buffer): string | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return JSON.stringify(sorted(value, true, 0));
  } catch {
    return null;
  }
}

function sorted(value: unknown, top: boolean, depth: number): unknown {
  if (depth > 200) throw new Error('too deep to compare');
  if (Array.isArray(value)) return value.map((v) => sorted(v, false, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value)
    .filter(([k]) => !(top && COUNTERS.has(k)))
    .sort(([x], [y]) => (x < y ? -1 : 1))
    .map(([k, v]) => [k, sorted(v, false, depth + 1)]);
  return { pairs }; // `pairs` marks a sorted object, so it never equals an array from the body
}

const COMPARE =
  'Compare both bodies in the event list and ask the sender which body is right. Crossbill keeps the second body and never applies it.';

/**
 * Advice for a person, by event type. The MoR builds event ids from the object and the topic (Document 2). So two
 * events on the same dispute, alert or transfer share one id, and the later event may bring something new.
 */
const MAY_BE_NEWS: ReadonlyMap<string, string> = new Map([
  [
    'dispute.action_needed',
    "The MoR may want evidence again, by another deadline: look at the dispute in the MoR's portal at once.",
  ],
  [
    'dispute.revision_requested',
    "The MoR may want better evidence again, with another note and deadline: look at the dispute in the MoR's portal at once.",
  ],
  [
    'dispute.outcome',
    "The dispute may have a second outcome: look at the dispute in the MoR's portal. The ledger keeps the first outcome. If a loss became a win, reverse the loss outside the ledger. If a win became a loss, book the loss outside the ledger.",
  ],
  [
    'pre_chargeback_alert.received',
    "The MoR may have sent another alert: look in the MoR's portal at once for an alert without an answer.",
  ],
  [
    'proforma_invoice.settled',
    'The MoR may have received another transfer. Crossbill did not book its money: ask the MoR how much money arrived in all.',
  ],
]);

/** Advice for a person: two deliveries of this event type share an event id, and their bodies differ. */
export function aboutSecondBody(type: string): string {
  const news = MAY_BE_NEWS.get(type);
  return news === undefined ? COMPARE : `${COMPARE} ${news}`;
}
