// Subscriptions in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type Subscription } from './model.js';
import { list } from './render.js';
import { expandedMethod, renderCustomer } from './render-customer.js';
import { renderPlan, renderPrice } from './render-catalogue.js';
import { type StripeState } from './state.js';

export function renderSubscription(
  s: Subscription,
  state: StripeState,
  expand: ReadonlySet<string> = new Set(),
): JsonObject {
  const invoice = s.latestInvoice === null ? undefined : state.invoices.get(s.latestInvoice);
  const below = new Set(
    [...expand].filter((e) => e.startsWith('latest_invoice.')).map((e) => e.slice('latest_invoice.'.length)),
  );
  const wantsInvoice = expand.has('latest_invoice') || below.size > 0;
  const items = s.items.map((item): JsonObject => {
    const price = state.prices.get(item.price);
    return {
      id: item.id,
      object: 'subscription_item',
      billing_thresholds: null,
      created: s.created,
      current_period_end: s.periodEnd,
      current_period_start: s.periodStart,
      current_trial: null,
      discounts: [],
      metadata: {},
      plan: price === undefined ? null : renderPlan(price),
      price: price === undefined ? null : renderPrice(price),
      ...(price?.recurring?.usage === 'metered' ? {} : { quantity: item.quantity }),
      subscription: s.id,
      tax_rates: [],
    };
  });
  return {
    id: s.id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: s.anchor,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: s.cancelAtPeriodEnd,
    canceled_at: s.canceledAt,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: s.cancelReason },
    collection_method: s.collectionMethod,
    created: s.created,
    currency: state.prices.get(s.items[0]?.price ?? '')?.currency ?? 'eur',
    customer: customerOf(s, state, expand),
    customer_account: null,
    days_until_due: s.daysUntilDue,
    default_payment_method: expandedMethod(s.defaultPaymentMethod, state, expand, 'default_payment_method'),
    default_source: s.defaultSource,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: s.endedAt,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: list(items, `/v1/subscription_items?subscription=${s.id}`),
    latest_invoice: wantsInvoice && invoice !== undefined ? state.invoiceBody(invoice, below) : s.latestInvoice,
    livemode: false,
    managed_payments: null,
    metadata: s.metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: s.created,
    status: s.status,
    test_clock: state.customers.get(s.customer)?.testClock ?? null,
    transfer_data: null,
    trial_end: s.trialEnd,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: s.trialEnd === null ? null : s.created,
  };
}

function customerOf(s: Subscription, state: StripeState, expand: ReadonlySet<string>): JsonObject | string {
  const below = [...expand].filter((e) => e === 'customer' || e.startsWith('customer.'));
  const customer = state.customers.get(s.customer);
  if (below.length === 0 || customer === undefined) return s.customer;
  return renderCustomer(customer, state, new Set(below.map((e) => e.slice('customer.'.length))));
}
