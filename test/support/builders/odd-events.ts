// Events of every type that the webhook endpoints take, each with one odd value in one place.
import { eventParser } from '../../../src/core/events/event-parser.js';
import { toDelivery } from '../../../src/frames/intake/deliveries.js';
import { MOR_SERVICE_TYPES } from '../../../src/core/mor-objects/event-rows.js';
import { type Delivery, type InboxSource } from '../../../src/shared/domain/ports/inbox.js';
import { wire } from '../../../packages/proof/src/fuzz/inputs/examples.js';

export type AnEvent = { readonly source: InboxSource; readonly type: string; readonly value: unknown };
export type Place = readonly (string | number)[];

/** Values that JSON may have in any place: of another kind, at the edge of a range, or beyond it. */
export const ODD: readonly unknown[] = [
  ...[null, undefined, true, '', '.', '..', 'x', ' ', '\u0000', 'é'.repeat(255), {}, []],
  ...[-1, 0, 1, 1.5, 1_000, 253_402_300_799, Number.MAX_SAFE_INTEGER, '-1', '0', '0.01', '99999999999999.99'],
  ...['0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-11-20'],
  ...['usd', 'JPY', 'paid', 'void', 'draft', 'open', 'uncollectible', 'refunded', 'partially_refunded', 'succeeded'],
];

/** The wire examples, and for each type of Document 2 without one the examples of its family under its name. */
export function everyEvent(): readonly AnEvent[] {
  const stripe = wire('stripe').map(({ value }) => ({ source: 'stripe' as const, type: typeIn(value), value }));
  const mors = wire('mor-events').map(({ value }) => ({ type: typeIn(value), value }));
  const isService = (type: string): boolean => MOR_SERVICE_TYPES.some((known) => known === type);
  const payments = mors.filter(({ type }) => !isService(type));
  const services = MOR_SERVICE_TYPES.flatMap((type) => {
    const own = mors.filter((e) => e.type === type);
    const [family] = type.split('.');
    const kin = mors.filter((e) => isService(e.type) && e.type.split('.')[0] === family);
    return own.length > 0 ? own : kin.map(({ value }) => ({ type, value: withValue(value, ['type'], type) }));
  });
  return [
    ...stripe,
    ...payments.map((e) => ({ ...e, source: 'mor_payments' as const })),
    ...services.map((e) => ({ ...e, source: 'mor_events' as const })),
  ];
}

function typeIn(value: unknown): string {
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
}

/** Every place in a value, the containers included, but not the whole value. */
export function placesIn(value: unknown, at: Place = []): readonly Place[] {
  const own = at.length === 0 ? [] : [at];
  if (typeof value !== 'object' || value === null) return own;
  const inner = Array.isArray(value) ? value.map((x, n) => [n, x] as const) : Object.entries(value);
  return [...own, ...inner.flatMap(([name, x]) => placesIn(x, [...at, name]))];
}

/** A copy with another value at a place. Undefined removes the member. */
export function withValue(value: unknown, [first, ...rest]: Place, odd: unknown): unknown {
  if (first === undefined) return odd;
  if (Array.isArray(value)) return value.map((x: unknown, n) => (n === first ? withValue(x, rest, odd) : x));
  const object = { ...(value as Readonly<Record<string, unknown>>) };
  return { ...object, [first]: withValue(object[first], rest, odd) };
}

/** The delivery, as its endpoint stores it. */
export function delivered({ source }: Pick<AnEvent, 'source'>, value: unknown, now: Date): Delivery {
  const body = Buffer.from(JSON.stringify(value));
  return toDelivery(eventParser.delivered(source, body), body, now);
}
