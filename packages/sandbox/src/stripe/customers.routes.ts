// Customers and their balance, products, prices and the account: only the parts an invoice needs.
import { type SandboxRequest } from '../kernel/http.js';
import { type JsonObject } from '../kernel/json.js';
import { enter } from './balance.js';
import { type Cards } from './cards.js';
import { type StripeContext, methodIn } from './context.js';
import { type Params, invalidParam, missing } from './errors.js';
import { createdFilter, expansions, page } from './lists.js';
import { type BalanceEntry, type Customer, type Price } from './model.js';
import { addSource } from './payment-methods.routes.js';
import { renderPrice, renderProduct } from './render-catalogue.js';
import { searchCustomers } from './search.js';
import { renderBalanceEntry, renderCustomer } from './render-customer.js';

/** Stripe docs, "Test clocks: limitations". */
const CUSTOMERS_OF_A_CLOCK = 3;

export function addCustomerRoutes(ctx: StripeContext, cards: Cards): void {
  const { state } = ctx;
  ctx.route('POST', '/v1/customers', (params) => {
    const testClock = params.optionalText('test_clock');
    if (testClock !== null) {
      const clock = state.testClocks.get(testClock) ?? missing('test_clock', testClock, 'test_clock');
      const others = [...state.customers.values()].filter((c) => c.testClock === clock.id);
      if (others.length >= CUSTOMERS_OF_A_CLOCK) invalidParam('test_clock', 'This test clock has all its customers.');
    }
    const customer: Customer = {
      id: state.id('cus'),
      testClock,
      created: testClock === null ? state.now : (state.testClocks.get(testClock)?.timers.nowSec() ?? state.now),
      email: null,
      name: null,
      phone: null,
      description: null,
      address: null,
      metadata: {},
      defaultPaymentMethod: null,
      defaultSource: null,
      balance: 0,
      currency: null,
      balanceEntries: [],
      invoicesNumbered: 0,
      deleted: false,
    };
    change(ctx, customer, params);
    state.customers.set(customer.id, customer);
    if (params.has('source')) addSource(ctx, cards, customer, params);
    state.emit('customer.created', renderCustomer(customer));
    return renderCustomer(customer);
  });
  ctx.route('GET', '/v1/customers', (params) => {
    const created = createdFilter(params);
    const email = params.optionalText('email');
    const found = [...state.customers.values()].filter(
      (c) => !c.deleted && created(c) && (email === null || c.email === email),
    );
    return page(found, params, '/v1/customers', (c) => renderCustomer(c));
  });
  ctx.route('GET', '/v1/customers/search', (params) =>
    searchCustomers(state.customers.values(), params, (c) => renderCustomer(c)),
  );
  ctx.route('GET', '/v1/customers/:id', (params, id) =>
    renderCustomer(state.customers.get(id) ?? missing('customer', id), state, expansions(params)),
  );
  ctx.route('POST', '/v1/customers/:id', (params, id) => {
    const customer = ctx.customer(id);
    change(ctx, customer, params);
    if (params.has('source')) {
      customer.defaultSource = null; // Stripe replaces the default source
      addSource(ctx, cards, customer, params);
    }
    state.emit('customer.updated', renderCustomer(customer));
    return renderCustomer(customer);
  });
  ctx.route('DELETE', '/v1/customers/:id', (_params, id) => {
    const customer = ctx.customer(id);
    state.emit('customer.deleted', renderCustomer(customer));
    customer.deleted = true;
    for (const s of state.subscriptions.values()) if (s.customer === id) ctx.cycles.cancel(s);
    return renderCustomer(customer);
  });

  const entries = '/v1/customers/:id/balance_transactions';
  ctx.route('POST', entries, (params, id) => {
    const customer = ctx.customer(id);
    const currency = params.currency('currency');
    if (customer.currency !== null && customer.currency !== currency)
      invalidParam('currency', `The customer's balance is in ${customer.currency}.`, 'customer_currency_mismatch');
    const entry = enter(state, customer, {
      type: 'adjustment',
      amount: params.integer('amount'),
      currency,
      description: params.optionalText('description'),
      metadata: params.metadata(),
    });
    return renderBalanceEntry(entry);
  });
  ctx.route('GET', entries, (params, id) => {
    const customer = state.customers.get(id) ?? missing('customer', id);
    const [invoice, created] = [params.optionalText('invoice'), createdFilter(params)];
    const found = customer.balanceEntries.filter((e) => created(e) && (invoice === null || e.invoice === invoice));
    return page(found, params, `/v1/customers/${id}/balance_transactions`, renderBalanceEntry);
  });
  const entryOf = (id: string, request: SandboxRequest): BalanceEntry => {
    const wanted = request.params['entry'] ?? '';
    const customer = state.customers.get(id) ?? missing('customer', id);
    return customer.balanceEntries.find((e) => e.id === wanted) ?? missing('customer_balance_transaction', wanted);
  };
  ctx.route('GET', `${entries}/:entry`, (_params, id, request) => renderBalanceEntry(entryOf(id, request)));
  ctx.route('POST', `${entries}/:entry`, (params, id, request) => {
    const entry = entryOf(id, request);
    if (params.value['description'] !== undefined) entry.description = params.optionalText('description');
    entry.metadata = params.metadata(entry.metadata);
    return renderBalanceEntry(entry);
  });
}

export function addCatalogueRoutes(ctx: StripeContext): void {
  const { state } = ctx;
  ctx.route('POST', '/v1/products', (params) => {
    const product = {
      id: params.optionalText('id') ?? state.id('prod'),
      created: state.now,
      name: params.text('name'),
      metadata: params.metadata(),
    };
    state.products.set(product.id, product);
    return renderProduct(product);
  });
  ctx.route('GET', '/v1/products', (params) =>
    page([...state.products.values()], params, '/v1/products', renderProduct),
  );
  ctx.route('GET', '/v1/products/:id', (_params, id) =>
    renderProduct(state.products.get(id) ?? missing('product', id)),
  );
  ctx.route('POST', '/v1/prices', (params) => renderPrice(makePrice(ctx, params)));
  ctx.route('GET', '/v1/prices', (params) => page([...state.prices.values()], params, '/v1/prices', renderPrice));
  ctx.route('GET', '/v1/prices/:id', (_params, id) => renderPrice(state.prices.get(id) ?? missing('price', id)));

  const account = (): JsonObject => ({
    id: state.accountId,
    object: 'account',
    business_profile: { name: 'Sandbox merchant' },
    charges_enabled: true,
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    livemode: false,
    settings: { dashboard: { display_name: 'Sandbox merchant', timezone: 'Etc/UTC' } },
    type: 'standard',
  });
  ctx.route('GET', '/v1/account', account);
  ctx.route('GET', '/v1/accounts/:id', (_params, id) => (id === state.accountId ? account() : missing('account', id)));
  ctx.route('GET', '/v1/balance', () => ({ object: 'balance', available: [], pending: [], livemode: false }));
}

/** Creates a price. Also used for the `price_data` of subscription items. */
export function makePrice(ctx: StripeContext, params: Params): Price {
  const { state } = ctx;
  const inline = params.within('product_data');
  let product = params.optionalText('product');
  if (product === null && inline !== null) {
    product = state.id('prod');
    state.products.set(product, { id: product, created: state.now, name: inline.text('name'), metadata: {} });
  }
  if (product === null || !state.products.has(product)) return missing('product', product ?? '', 'product');
  const unitAmount = params.integer('unit_amount');
  if (unitAmount < 0) invalidParam('unit_amount', 'Invalid non-negative integer.');
  const recurring = params.within('recurring');
  const price: Price = {
    id: state.id('price'),
    created: state.now,
    product,
    currency: params.currency('currency'),
    unitAmount,
    recurring:
      recurring === null
        ? null
        : {
            interval: recurring.oneOf('interval', ['day', 'week', 'month', 'year'] as const),
            count: recurring.optionalInteger('interval_count') ?? 1,
            usage: recurring.has('usage_type')
              ? recurring.oneOf('usage_type', ['licensed', 'metered'] as const)
              : 'licensed',
            meter: recurring.optionalText('meter'),
          },
    metadata: params.metadata(),
  };
  state.prices.set(price.id, price);
  return price;
}

function change(ctx: StripeContext, customer: Customer, params: Params): void {
  for (const name of ['email', 'name', 'phone', 'description'] as const) {
    if (params.value[name] !== undefined) customer[name] = params.optionalText(name);
  }
  const address = params.within('address');
  if (address !== null) {
    customer.address = Object.fromEntries(
      ['city', 'country', 'line1', 'line2', 'postal_code', 'state'].map((n) => [n, address.optionalText(n)]),
    );
  }
  const settings = params.within('invoice_settings');
  if (settings !== null) customer.defaultPaymentMethod = methodIn(ctx, settings, 'default_payment_method');
  customer.metadata = params.metadata(customer.metadata);
}
