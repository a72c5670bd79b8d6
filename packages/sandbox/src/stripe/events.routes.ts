// The Events API (thirty days back) and the list of webhook endpoints.
import { type JsonObject } from '../kernel/json.js';
import { type StripeContext } from './context.js';
import { invalidParam, missing, type Params } from './errors.js';
import { createdFilter, page } from './lists.js';
import { type StripeEvent, type WebhookEndpoint } from './state.js';

const KEPT_SEC = 30 * 86_400; // Stripe docs, "Webhooks": lists events for 30 days
const TYPES_LIMIT = 20;

export function addEventRoutes(ctx: StripeContext): void {
  const { state } = ctx;
  const alive = (event: StripeEvent): boolean => event.created >= state.now - KEPT_SEC;

  ctx.route('GET', '/v1/events', (params) => {
    const created = createdFilter(params);
    const type = params.optionalText('type');
    const types = params.texts('types');
    if (types.length > TYPES_LIMIT) invalidParam('types', `At most ${TYPES_LIMIT} types.`);
    if (type !== null && types.length > 0) invalidParam('types', 'Only one of type and types.');
    const delivered = params.flag('delivery_success');
    const typeFits = (text: string): boolean =>
      (type === null || text === type || (type.endsWith('.*') && text.startsWith(type.slice(0, -1)))) &&
      (types.length === 0 || types.includes(text));
    const wanted = (event: StripeEvent): boolean =>
      alive(event) &&
      created(event) &&
      typeFits(event.type) &&
      (delivered === null || (event.pending.size === 0) === delivered);
    return page(state.events.filter(wanted), params, '/v1/events', renderEvent);
  });
  ctx.route('GET', '/v1/events/:id', (_params, id) => {
    const event = state.events.find((e) => e.id === id);
    return event === undefined || !alive(event) ? missing('event', id) : renderEvent(event);
  });

  ctx.route('GET', '/v1/webhook_endpoints', (params) => {
    const found = [...state.endpoints.values()].filter((e) => !e.deleted);
    return page(found, params, '/v1/webhook_endpoints', renderEndpoint);
  });
  const endpointOf = (id: string): WebhookEndpoint => {
    const endpoint = state.endpoints.get(id);
    return endpoint === undefined || endpoint.deleted ? missing('webhook_endpoint', id) : endpoint;
  };
  ctx.route('GET', '/v1/webhook_endpoints/:id', (_params, id) => renderEndpoint(endpointOf(id)));
  ctx.route('POST', '/v1/webhook_endpoints', (params) => {
    const url = params.text('url');
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) invalidParam('url', 'Invalid URL.');
    const secret = `whsec_${state.kernel.secret(`endpoint-${state.endpoints.size + 1}`)}`;
    const made = state.addEndpoint(url, secret, eventsOf(params), params.optionalText('api_version') ?? undefined);
    // Stripe shows the secret only at creation (Stripe docs, "The Webhook Endpoint object").
    return { ...renderEndpoint(made), secret };
  });
  ctx.route('POST', '/v1/webhook_endpoints/:id', (params, id) => {
    const endpoint = endpointOf(id);
    if (params.has('enabled_events')) endpoint.events = eventsOf(params);
    endpoint.disabled = params.flag('disabled') ?? endpoint.disabled;
    state.kernel.deliverer.failing.forget(endpoint.id);
    return renderEndpoint(endpoint);
  });
}

function eventsOf(params: Params): string[] {
  const events = params.texts('enabled_events');
  if (events.length === 0) invalidParam('enabled_events', 'Missing required param: enabled_events.');
  return events;
}

function renderEvent(event: StripeEvent): JsonObject {
  const body = JSON.parse(event.body.toString('utf8')) as JsonObject;
  return { ...body, pending_webhooks: event.pending.size };
}

export function renderEndpoint(endpoint: WebhookEndpoint): JsonObject {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    api_version: endpoint.apiVersion,
    application: null,
    created: endpoint.created,
    description: null,
    enabled_events: [...endpoint.events],
    livemode: false,
    metadata: {},
    status: endpoint.disabled ? 'disabled' : 'enabled',
    url: endpoint.url,
  };
}
