// The webhook endpoints of Document 2: registration, list, deletion, and which endpoints receive an event.
import { morEventSchedule } from '../kernel/schedules.js';
import { Fields as ControlFields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type EventType, NEVER_SENT, isEventType } from './event-types.js';
import { Fields } from './fields.js';
import { merchantRoutes } from './merchant-routes.js';
import { notFound, refusal, refuse } from './refusal.js';
import { type Account, type MorState } from './state.js';
import { webhookUrlProblem } from './webhook-url.js';

const MOST_ACTIVE = 10; // Document 2, Limits

export type WebhookEndpoint = {
  readonly id: string;
  readonly account: Account;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly secret: string;
  readonly createdAt: string;
  status: 'ACTIVE' | 'DISABLED';
  deleted: boolean;
  /**
   * True: the endpoint comes from the sandbox's settings. No list shows it and no limit counts it: the merchant can
   * still register ten endpoints.
   */
  readonly builtIn: boolean;
};

export class WebhookEndpoints {
  private readonly all: WebhookEndpoint[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
  ) {}

  /** The merchant's registered endpoints, oldest first, without deleted ones. */
  ofAccount(account: Account): readonly WebhookEndpoint[] {
    return this.all.filter((endpoint) => endpoint.account === account && !endpoint.deleted && !endpoint.builtIn);
  }

  /** Null for an unknown id and for another merchant's endpoint. Finds deleted endpoints too. */
  find(account: Account, id: string): WebhookEndpoint | null {
    return this.all.find((endpoint) => endpoint.id === id && endpoint.account === account) ?? null;
  }

  register(account: Account, url: string, events: readonly EventType[], builtInSecret?: string): WebhookEndpoint {
    const endpoint: WebhookEndpoint = {
      id: this.kernel.random.id('wh', 20),
      account,
      url,
      events,
      secret: builtInSecret ?? this.kernel.random.id('whsec', 40),
      createdAt: this.kernel.clock.nowIso(),
      status: 'ACTIVE',
      deleted: false,
      builtIn: builtInSecret !== undefined,
    };
    this.all.push(endpoint);
    return endpoint;
  }

  /** POST /api/webhooks. Throws 400 `unknown_event`, 400 `invalid_url`, 409 `webhook_endpoint_limit_exceeded`. */
  create(account: Account, body: unknown): WebhookEndpoint {
    const fields = Fields.of(body);
    const url = fields.optionalText('url') ?? '';
    const events = fields.optionalTexts('events') ?? [];
    fields.optionalText('description');
    fields.problems.throwAs('invalid_argument'); // the code for values of the wrong kind
    const unknown = events.filter((event) => !isEventType(event));
    if (events.length === 0) throw refuse(400, 'unknown_event', 'events', 'must name at least one event type');
    if (unknown.length > 0) throw refuse(400, 'unknown_event', 'events', `unknown: ${unknown.join(', ')}`);
    const problem = webhookUrlProblem(url, this.mor.strictUrls);
    if (problem !== null) throw refuse(400, 'invalid_url', 'url', problem);
    const active = this.ofAccount(account).filter(({ status }) => status === 'ACTIVE');
    if (active.length >= MOST_ACTIVE) throw refusal(409, 'webhook_endpoint_limit_exceeded', []);
    return this.register(account, url, [...new Set(events.filter(isEventType))]);
  }

  /**
   * Sends an event to every active endpoint subscribed to its type, each with its own secret and retries. Returns the
   * number of endpoints. Nobody receives `payment.settled` and `report.available` (Document 2).
   */
  announce(account: Account, id: string, type: EventType, data: Readonly<Record<string, unknown>>): number {
    if (NEVER_SENT.includes(type)) return 0;
    const body = Buffer.from(JSON.stringify({ id, type, created: this.kernel.clock.nowIso(), data }));
    const hearers = this.all.filter(
      ({ account: owner, status, deleted, events }) =>
        owner === account && status === 'ACTIVE' && !deleted && events.includes(type),
    );
    for (const endpoint of hearers) {
      this.kernel.deliverer.send(
        {
          id: endpoint.id,
          url: endpoint.url,
          secret: endpoint.secret,
          header: 'Service-Signature',
          side: 'mor',
          schedule: morEventSchedule,
          active: () => !endpoint.deleted && endpoint.status === 'ACTIVE',
          disable: () => (endpoint.status = 'DISABLED'),
        },
        { id, type, body },
      );
    }
    return hearers.length;
  }
}

function show(endpoint: WebhookEndpoint): Record<string, unknown> {
  const { id, url, events, status, createdAt } = endpoint;
  return { id, url, events, status, createdAt };
}

export function addWebhookEndpoints(kernel: Kernel, mor: MorState, endpoints: WebhookEndpoints): void {
  const route = merchantRoutes(kernel, mor);
  route('POST', '/api/webhooks', ({ account, body }) => {
    const endpoint = endpoints.create(account, body);
    return { status: 201, body: { ...show(endpoint), secret: endpoint.secret } };
  });
  // Document 2 shows both a list and an object with a page. The sandbox sends the object if the request asks for a
  // page.
  route('GET', '/api/webhooks', ({ account, request }) => {
    const webhooks = endpoints.ofAccount(account).map(show);
    return { status: 200, body: request.query.has('page') ? { webhooks } : webhooks };
  });
  kernel.control('POST', '/_sandbox/webhooks/:id', 'an endpoint is switched: {status: ACTIVE|DISABLED}', (request) => {
    const endpoint = endpoints.find('main', request.params['id'] ?? '');
    if (endpoint === null) throw notFound();
    endpoint.status = new ControlFields(request.body).oneOf('status', ['ACTIVE', 'DISABLED']);
    kernel.deliverer.failing.forget(endpoint.id);
    return { status: 200, body: show(endpoint) };
  });
  route('DELETE', '/api/webhooks/:webhookId', ({ account, request }) => {
    const endpoint = endpoints.find(account, request.params['webhookId'] ?? '');
    if (endpoint === null) throw notFound();
    endpoint.deleted = true;
    return { status: 204 };
  });
}
