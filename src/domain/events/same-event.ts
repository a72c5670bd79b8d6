// Whether two bodies under one event id say the same.

/** Stripe counts in the body how many endpoints still wait: that changes between deliveries and is no part of the event. */
const COUNTERS = new Set(['pending_webhooks']);

/** True when both bodies parse to the same JSON value, whatever the order of keys and white space. */
export function sameEvent(a: Buffer, b: Buffer): boolean {
  const left = canonical(a);
  return left !== null && left === canonical(b);
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
  return { pairs }; // an object: a list of pairs in a body is something else
}
