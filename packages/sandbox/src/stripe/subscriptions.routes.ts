// Subscriptions: create, read, change a little, cancel, list.
import { methodFor } from './collecting.js';
import { type StripeContext, methodIn } from './context.js';
import { type Params, cannot, invalidParam, missing } from './errors.js';
import { makePrice } from './customers.routes.js';
import { createdFilter, expansions, page } from './lists.js';
import { type Subscription, type SubscriptionItem } from './model.js';
import { renderSubscription } from './render-subscription.js';

const DAY = 86_400;

export function addSubscriptionRoutes(ctx: StripeContext): void {
  const { state, cycles } = ctx;
  const render = (subscription: Subscription, params: Params) =>
    renderSubscription(subscription, state, expansions(params));

  ctx.route('POST', '/v1/subscriptions', (params) => {
    const subscription = makeSubscription(ctx, params);
    state.subscriptions.set(subscription.id, subscription);
    cycles.start(subscription);
    state.emit('customer.subscription.created', renderSubscription(subscription, state));
    return render(subscription, params);
  });
  ctx.route('GET', '/v1/subscriptions', (params) => {
    const customer = params.optionalText('customer');
    const status = params.optionalText('status');
    const created = createdFilter(params);
    const wanted = (subscription: Subscription): boolean => {
      const statusFits =
        status === 'all' || (status === null ? subscription.status !== 'canceled' : subscription.status === status);
      return statusFits && created(subscription) && (customer === null || subscription.customer === customer);
    };
    const found = [...state.subscriptions.values()].filter(wanted);
    return page(found, params, '/v1/subscriptions', (s) => render(s, params));
  });
  ctx.route('GET', '/v1/subscriptions/:id', (params, id) => render(ctx.subscription(id), params));
  ctx.route('POST', '/v1/subscriptions/:id', (params, id) => {
    const subscription = ctx.subscription(id);
    const atEnd = params.flag('cancel_at_period_end');
    if (atEnd !== null) subscription.cancelAtPeriodEnd = atEnd;
    if (params.value['default_payment_method'] !== undefined)
      subscription.defaultPaymentMethod = methodIn(ctx, params, 'default_payment_method');
    if (params.value['default_source'] !== undefined)
      subscription.defaultSource = methodIn(ctx, params, 'default_source');
    if (params.has('collection_method')) changeCollection(subscription, params);
    subscription.metadata = params.metadata(subscription.metadata);
    state.emit('customer.subscription.updated', renderSubscription(subscription, state));
    return render(subscription, params);
  });
  ctx.route('DELETE', '/v1/subscriptions/:id', (params, id) => {
    const subscription = ctx.subscription(id);
    if (subscription.status === 'canceled') return missing('subscription', id);
    cycles.cancel(subscription);
    return render(subscription, params);
  });
}

/** Changes the collection from the next invoice on (Stripe docs, "Collection method"). */
function changeCollection(subscription: Subscription, params: Params): void {
  const collectionMethod = params.oneOf('collection_method', ['charge_automatically', 'send_invoice'] as const);
  const days = params.optionalInteger('days_until_due');
  if (collectionMethod === 'send_invoice' && days === null && subscription.daysUntilDue === null) askForDays();
  subscription.collectionMethod = collectionMethod;
  subscription.daysUntilDue = collectionMethod === 'send_invoice' ? (days ?? subscription.daysUntilDue) : null;
}

function askForDays(): never {
  return invalidParam(
    'days_until_due',
    'days_until_due is required with collection_method send_invoice.',
    'parameter_missing',
  );
}

function makeSubscription(ctx: StripeContext, params: Params): Subscription {
  const { state, cycles } = ctx;
  const customer = ctx.customer(params.text('customer')).id;
  const given = params.list('items');
  if (given.length === 0) invalidParam('items', 'Missing required param: items.', 'parameter_missing');
  const items = given.map((item) => {
    const data = item.within('price_data');
    const price = data === null ? item.text('price') : makePrice(ctx, data).id;
    if (!state.prices.has(price)) missing('price', price, 'items[0][price]');
    return { id: state.id('si'), price, quantity: item.optionalInteger('quantity') ?? 1, usage: 0 };
  });
  const collectionMethod = params.has('collection_method')
    ? params.oneOf('collection_method', ['charge_automatically', 'send_invoice'] as const)
    : 'charge_automatically';
  const daysUntilDue = params.optionalInteger('days_until_due');
  if (collectionMethod === 'send_invoice' && daysUntilDue === null) askForDays();
  const trialDays = params.optionalInteger('trial_period_days') ?? 0;
  const trialEnd = trialDays > 0 ? state.now + trialDays * DAY : params.optionalInteger('trial_end');
  const startsPaid = collectionMethod === 'send_invoice' || items.every((i) => isFreeAtFirst(ctx, i));
  const subscription: Subscription = {
    id: state.id('sub'),
    created: state.now,
    customer,
    items,
    collectionMethod,
    daysUntilDue,
    trialEnd,
    status: trialEnd !== null ? 'trialing' : startsPaid ? 'active' : 'incomplete',
    periodStart: state.now,
    periodEnd: state.now,
    cycle: 0,
    anchor: state.now,
    latestInvoice: null,
    defaultPaymentMethod: methodIn(ctx, params, 'default_payment_method'),
    defaultSource: methodIn(ctx, params, 'default_source'),
    chargesFirst: params.optionalText('payment_behavior') !== 'default_incomplete',
    cancelAtPeriodEnd: params.flag('cancel_at_period_end') ?? false,
    canceledAt: null,
    cancelReason: null,
    endedAt: null,
    metadata: params.metadata(),
  };
  subscription.periodEnd = trialEnd ?? cycles.periodEnd(subscription, state.now);
  if (subscription.status === 'incomplete' && subscription.chargesFirst) requireMethod(ctx, subscription);
  return subscription;
}

function isFreeAtFirst({ state }: StripeContext, item: SubscriptionItem): boolean {
  const price = state.prices.get(item.price);
  return price === undefined || price.recurring?.usage === 'metered' || price.unitAmount * item.quantity === 0;
}

/**
 * Stripe charges a first invoice at once by default (`allow_incomplete`), so it refuses a subscription without a payment
 * method (Stripe docs, "Subscriptions API: payment_behavior").
 */
function requireMethod({ state }: StripeContext, subscription: Subscription): void {
  if (methodFor(state, null, subscription) !== null) return;
  cannot(
    'resource_missing',
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method.',
  );
}
