// Compares two bodies with the same event id: are they the same event?
import { idOf, isObject, type JsonObject, member } from '@crossbill/mor/read.js';
import { parseBody } from './json-body.js';

/**
 * Stripe writes into the body how many endpoints still wait for the event. This count changes between deliveries, so
 * the comparison ignores it.
 */
const COUNTERS = new Set(['pending_webhooks']);

/** True if both bodies parse to the same JSON value. The order of keys and white space do not matter. */
export function sameEvent(one: Buffer, other: Buffer): boolean {
  const left = canonical(one);
  return left !== null && left === canonical(other);
}

/**
 * True if both bodies are the same event of Stripe. Stripe renders an event in the API version of each endpoint. During
 * an upgrade a merchant has two endpoints with two versions (Stripe docs, "Upgrade webhook versions"), so one event
 * arrives in two bodies.
 */
export function isSameStripeEvent(one: Buffer, other: Buffer): boolean {
  if (sameEvent(one, other)) return true;
  const identity = stripeIdentity(one);
  return identity !== null && identity === stripeIdentity(other);
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
