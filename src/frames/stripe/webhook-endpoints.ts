// Webhook endpoints at Stripe. `crossbill setup` creates one, with our events and a fixed API version.
import { Stripe } from 'stripe';
import { Secret } from '../../shared/config/secret.js';
import { type WebhookEndpointFacts } from '../../shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { form } from './encode.js';
import { textOf } from '@crossbill/mor/read.js';
import { parseWebhookEndpoint } from './parse-objects.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

const PATH = '/v1/webhook_endpoints';

/**
 * A new endpoint with its signing secret. Stripe returns the secret only in the reply to the creation (Stripe docs,
 * "The Webhook Endpoint object"). Null: this reply had no secret.
 */
export type CreatedWebhookEndpoint = { readonly endpoint: WebhookEndpointFacts; readonly secret: Secret | null };

export class StripeWebhookEndpoints {
  constructor(private readonly client: StripeClient) {}

  /**
   * Creates an endpoint. Within a day the same `key` returns the same endpoint with its secret, so the caller may ask
   * again after a lost reply.
   */
  async create(url: string, events: readonly string[], key: string): Promise<CallOutcome<CreatedWebhookEndpoint>> {
    const name = 'webhook_endpoints.create';
    const body = form({
      url,
      enabled_events: events,
      api_version: Stripe.API_VERSION,
      description: 'Crossbill',
    } satisfies { url: string; enabled_events: readonly string[]; api_version: string; description: string });
    const made = await this.client.request(name, { method: 'POST', path: PATH, body }, key);
    if (!made.ok) return made;
    const endpoint = parseWebhookEndpoint(made.value);
    const secret = textOf(made.value['secret']);
    if (endpoint === null) return notUnderstood(name, made);
    return { ...made, value: { endpoint, secret: secret === null ? null : new Secret(secret) } };
  }

  /** Sets exactly these events for the endpoint. A repeat has no further effect. */
  async setEvents(id: string, events: readonly string[]): Promise<CallOutcome<WebhookEndpointFacts>> {
    const name = 'webhook_endpoints.update';
    const path = `${PATH}/${encodeURIComponent(id)}`;
    const done = await this.client.request(
      name,
      { method: 'POST', path, body: form({ enabled_events: events }) },
      null,
    );
    if (!done.ok) return done;
    const endpoint = parseWebhookEndpoint(done.value);
    return endpoint === null ? notUnderstood(name, done) : { ...done, value: endpoint };
  }
}
