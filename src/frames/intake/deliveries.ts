// The three webhook endpoints, and the inbox row for each authentic body.
import { type DeliveredEvent } from '../../shared/domain/events/stored-event.js';
import { type Delivery, type InboxSource } from '../../shared/domain/ports/inbox.js';

export type Endpoint = {
  readonly source: InboxSource;
  /** The path in lower case, without a slash at the end. */
  readonly path: string;
  /** The name of the signature header, in lower case. */
  readonly header: string;
};

export const endpoints: readonly Endpoint[] = [
  { source: 'stripe', path: '/webhooks/stripe', header: 'stripe-signature' },
  { source: 'mor_payments', path: '/webhooks/mor/payments', header: 'mor-signature' },
  { source: 'mor_events', path: '/webhooks/mor/events', header: 'service-signature' },
];

const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));

/**
 * Finds the webhook endpoint for the target of a request. Null: no endpoint. Ignores upper case, slashes at the end, a
 * query, and the host in a whole address from a proxy (`http://host/path`, RFC 9112, 3.2.2). A stricter look-up would
 * lose deliveries: after a 404 the MoR never repeats a delivery.
 */
export function endpointAt(target: string): Endpoint | null {
  const exact = byPath.get(target);
  if (exact !== undefined) return exact;
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]+/i, '');
  const query = local.search(/[?#]/);
  const path = query === -1 ? local : local.slice(0, query);
  if (path.slice(0, 9).toLowerCase() !== '/webhooks') return null;
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return byPath.get(path.slice(0, end).toLowerCase()) ?? null;
}

/** Turns the event of an authentic body into the form of the inbox: an unusable event is `parked` with the reason. */
export function toDelivery({ source, parsed }: DeliveredEvent, body: Buffer, receivedAt: Date): Delivery {
  const { eventId, type, lane } = parsed;
  const status = STATUS[parsed.usability];
  const reason = parsed.usability === 'usable' ? null : parsed.reason;
  // This code names the members one by one: spreading an object into another costs a thousand bytes until the next full
  // garbage collection.
  return { source, eventId, type, lane, body, status, reason, receivedAt };
}

const STATUS = { usable: 'received', ignored: 'ignored', unusable: 'parked' } as const;
