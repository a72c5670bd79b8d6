// Payment methods and sources of customers, and Stripe's own money: payment intents, charges, refunds.
import { type Cards } from './cards.js';
import { type StripeContext } from './context.js';
import { type Params, invalidParam, missing } from './errors.js';
import { createdFilter, page } from './lists.js';
import { type Customer, type PaymentMethod, type StripeRefund } from './model.js';
import { renderPaymentMethod } from './render-customer.js';
import { renderCharge, renderPaymentIntent, renderRefund } from './render-charge.js';

/** Stripe's test payment methods exist from the start. Attaching one creates a payment method of the customer. */
const TEST_METHOD = /^pm_card_[A-Za-z0-9]+$/;

export function addPaymentMethodRoutes(ctx: StripeContext, cards: Cards): void {
  const { state } = ctx;
  const find = (id: string): PaymentMethod => state.paymentMethods.get(id) ?? missing('payment_method', id);

  ctx.route('POST', '/v1/payment_methods', (params) => {
    const type = params.text('type');
    const customType =
      type === 'custom'
        ? (params.within('custom')?.text('type') ?? invalidParam('custom', 'Missing required param: custom.'))
        : null;
    const token = params.within('card')?.optionalText('token') ?? null;
    return renderPaymentMethod(cards.make(state.id('pm'), type, customType, token));
  });
  ctx.route('GET', '/v1/payment_methods/:id', (_params, id) => renderPaymentMethod(find(id)));
  ctx.route('POST', '/v1/payment_methods/:id/attach', (params, id) => {
    const customer = ctx.customer(params.text('customer'));
    const method = TEST_METHOD.test(id) ? cards.make(state.id('pm'), 'card', null, id) : find(id);
    method.customer = customer.id;
    state.emit('payment_method.attached', renderPaymentMethod(method));
    return renderPaymentMethod(method);
  });
  ctx.route('POST', '/v1/payment_methods/:id/detach', (_params, id) => {
    const method = find(id);
    const owner = state.customers.get(method.customer ?? '');
    if (owner?.defaultPaymentMethod === id) owner.defaultPaymentMethod = null;
    for (const s of state.subscriptions.values()) if (s.defaultPaymentMethod === id) s.defaultPaymentMethod = null;
    method.customer = null;
    state.emit('payment_method.detached', renderPaymentMethod(method));
    return renderPaymentMethod(method);
  });
  ctx.route('GET', '/v1/payment_methods', (params) => {
    const [customer, type] = [params.optionalText('customer'), params.optionalText('type')];
    const wanted = (method: PaymentMethod): boolean =>
      (customer === null || method.customer === customer) && (type === null || method.type === type);
    return page([...state.paymentMethods.values()].filter(wanted), params, '/v1/payment_methods', renderPaymentMethod);
  });
  ctx.route('GET', '/v1/customers/:id/payment_methods', (params, id) => {
    const found = [...state.paymentMethods.values()].filter((m) => m.customer === id);
    return page(found, params, `/v1/customers/${id}/payment_methods`, renderPaymentMethod);
  });
  // Sources: Stripe's older kind of saved card. The customer's first source becomes the default.
  ctx.route('POST', '/v1/customers/:id/sources', (params, id) => {
    const customer = ctx.customer(id);
    const source = addSource(ctx, cards, customer, params);
    return { id: source.id, object: 'card', brand: 'Visa', customer: id, last4: '4242', metadata: {} };
  });

  addChargeRoutes(ctx, cards);
}

/** Adds a card of the older kind from `source`, a test token such as `tok_visa`. */
export function addSource(ctx: StripeContext, cards: Cards, customer: Customer, params: Params): PaymentMethod {
  const source = cards.make(ctx.state.id('card'), 'card', null, params.text('source'));
  source.customer = customer.id;
  customer.defaultSource ??= source.id;
  ctx.state.customers.set(customer.id, customer);
  return source;
}

function addChargeRoutes(ctx: StripeContext, cards: Cards): void {
  const { state } = ctx;
  ctx.route('GET', '/v1/payment_intents', (params) => {
    const customer = params.optionalText('customer');
    const created = createdFilter(params);
    const found = [...state.charges.values()].filter((c) => created(c) && (customer ?? c.customer) === c.customer);
    return page(found, params, '/v1/payment_intents', renderPaymentIntent);
  });
  ctx.route('GET', '/v1/payment_intents/:id', (_params, id) => renderPaymentIntent(cards.find(null, id)));
  ctx.route('GET', '/v1/charges', (params) => {
    const customer = params.optionalText('customer');
    const created = createdFilter(params);
    const found = [...state.charges.values()].filter((c) => created(c) && (customer ?? c.customer) === c.customer);
    return page(found, params, '/v1/charges', renderCharge);
  });
  ctx.route('GET', '/v1/charges/:id', (_params, id) => renderCharge(cards.find(id, null)));
  ctx.route('POST', '/v1/refunds', (params) => {
    const charge = cards.find(params.optionalText('charge'), params.optionalText('payment_intent'));
    const amount = params.has('amount') ? params.positive('amount') : null;
    return renderRefund(cards.refund(charge, amount, params.optionalText('reason'), params.metadata()));
  });
  ctx.route('GET', '/v1/refunds', (params) => {
    const [charge, intent] = [params.optionalText('charge'), params.optionalText('payment_intent')];
    const wanted = (refund: StripeRefund): boolean =>
      (charge ?? refund.charge) === refund.charge && (intent ?? refund.intent) === refund.intent;
    return page([...state.refunds.values()].filter(wanted), params, '/v1/refunds', renderRefund);
  });
  ctx.route('GET', '/v1/refunds/:id', (_params, id) => renderRefund(state.refunds.get(id) ?? missing('refund', id)));
}
