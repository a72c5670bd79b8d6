// Document 2: the addresses the MoR delivers events to.
import { Secret } from './secret.js';
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields, parseListOf, parseText } from './read.js';
import { type WebhookEndpointRequest } from './requests/collecting.js';
import { type MorTransport } from './transport.js';
import { segment, wireDelete, wireGet, wireWith } from './wire.js';

const PATH = '/api/webhooks';

export type WebhookEndpoint = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  /** `ACTIVE`, `DISABLED` (Document 2), or another word of the MoR. */
  readonly status: string;
  readonly createdAt: Date | null;
};

/** Only the answer to the creation has the secret: show it to the operator at once. Null: the answer had none. */
export type WebhookEndpointCreated = { readonly endpoint: WebhookEndpoint; readonly secret: Secret | null };

function parseWebhookEndpoint(value: unknown, path = ''): WebhookEndpoint {
  const fields = new Fields(value, path);
  return {
    id: fields.id('id'),
    url: fields.must('url', parseText),
    events: fields.listOrEmpty('events', parseText),
    status: fields.id('status'),
    createdAt: fields.timeOrNull('createdAt'),
  };
}

export function parseWebhookEndpointCreated(value: unknown): WebhookEndpointCreated {
  const secret = new Fields(value).textOrNull('secret');
  return { endpoint: parseWebhookEndpoint(value), secret: secret === null ? null : new Secret(secret) };
}

/** An array, or `{webhooks: [...]}`: the document shows both. */
export function parseWebhookEndpointList(value: unknown): readonly WebhookEndpoint[] {
  if (Array.isArray(value)) return parseListOf(value, 'webhooks', parseWebhookEndpoint);
  return new Fields(value, '').list('webhooks', parseWebhookEndpoint);
}

export function encodeCreateWebhook(request: WebhookEndpointRequest): WireRequest {
  return wireWith('POST', PATH, request);
}

export function encodeDeleteWebhook(id: string): WireRequest {
  return wireDelete(`${PATH}/${segment(id)}`);
}

export class WebhookEndpoints {
  constructor(private readonly transport: MorTransport) {}

  create(request: WebhookEndpointRequest): Promise<Outcome<WebhookEndpointCreated>> {
    return this.sendCreate(encodeCreateWebhook(request));
  }

  delete(id: string): Promise<Outcome<null>> {
    return this.sendDelete(encodeDeleteWebhook(id));
  }

  /** A creation has no key. After an unknown outcome the list shows whether the endpoint exists. */
  sendCreate(wire: WireRequest): Promise<Outcome<WebhookEndpointCreated>> {
    return this.transport.call(wire, {
      name: 'webhook.create',
      accept: ({ body }) => parseWebhookEndpointCreated(body),
    });
  }

  list(): Promise<Outcome<readonly WebhookEndpoint[]>> {
    return this.transport.call(wireGet(PATH), {
      name: 'webhook.list',
      accept: ({ body }) => parseWebhookEndpointList(body),
    });
  }

  /** Deleting a deleted endpoint succeeds. */
  sendDelete(wire: WireRequest): Promise<Outcome<null>> {
    return this.transport.call(wire, { name: 'webhook.delete', accept: () => null });
  }
}
