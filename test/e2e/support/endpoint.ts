// A sender of webhooks that a test controls byte by byte: any path, any headers, any signature.
import { Agent, type IncomingMessage, request } from 'node:http';
import { sign } from '../../support/builders/signing.js';
import { type World } from '../../support/rigs/world.js';

export const ENDPOINTS = {
  stripe: { path: '/webhooks/stripe', header: 'stripe-signature' },
  mor_payments: { path: '/webhooks/mor/payments', header: 'mor-signature' },
  mor_events: { path: '/webhooks/mor/events', header: 'service-signature' },
} as const;
export type EndpointName = keyof typeof ENDPOINTS;

export type Sent = { readonly status: number; readonly body: string };

/** Sends one POST over its own connection. A list of header values becomes one header for each value. */
export function post(url: string, body: Buffer | string, headers: Record<string, string | string[]>): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const sent = Buffer.from(body);
    const req = request(
      url,
      { method: 'POST', agent, headers: { 'content-length': sent.length, ...headers } },
      (res: IncomingMessage) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => resolve({ status: res.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }));
        res.on('error', reject);
      },
    );
    req.on('error', reject);
    req.end(sent);
  });
}

export function secretOf(world: World, endpoint: EndpointName): string {
  const { secrets } = world.sandbox;
  if (endpoint === 'stripe') return secrets.stripeWebhookSecret;
  return endpoint === 'mor_payments' ? secrets.paymentWebhookSecret : secrets.eventWebhookSecret;
}

/** Sends a delivery as its sender does, with the changes in `over`. */
export function deliver(
  world: World,
  endpoint: EndpointName,
  body: Buffer | string,
  over: { readonly t?: number; readonly path?: string; readonly base?: string; readonly secret?: string } = {},
): Promise<Sent> {
  const { path, header } = ENDPOINTS[endpoint];
  const signature = sign(body, over.secret ?? secretOf(world, endpoint), over.t === undefined ? {} : { t: over.t });
  const url = `${over.base ?? world.daemons[0]?.url ?? ''}${over.path ?? path}`;
  return post(url, body, { 'content-type': 'application/json', [header]: signature });
}

/**
 * Returns the statuses of the events with this id at `GET /v1/events`, newest first. Empty if there is no such event.
 */
export async function eventStatuses(world: World, source: EndpointName, eventId: string): Promise<readonly string[]> {
  const query = `source=${source}&event_id=${encodeURIComponent(eventId)}`;
  const found = await world.api<{ data: { status: string }[] }>('GET', `/v1/events?${query}`);
  return found.body.data.map((e) => e.status);
}

/** Waits until the newest event with this id is decided, and returns its status. */
export async function eventStatus(world: World, source: EndpointName, eventId: string): Promise<string> {
  const seen = await world.until(
    `event ${eventId} is decided`,
    () => eventStatuses(world, source, eventId),
    ([status]) => status !== undefined && status !== 'received',
  );
  return seen[0] ?? '';
}
