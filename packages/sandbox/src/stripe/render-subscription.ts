// Subscriptions in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type Subscription } from './model.js';
import { list } from './render.js';
import { expandedMethod, renderCustomer } from './render-customer.js';
import { renderPlan, renderPrice } from './render-catalogue.js';
import { type StripeState } from './state.js';

export function renderSubscription(
  subscription: Subscription,
  state: StripeState,
  expand: ReadonlySet<string> = new Set(),
): JsonObject {
  const invoice = subscription.latestInvoice === null ? undefined : state.invoices.get(subscription.latestInvoice);
  const below = new Set(
    [...expand].filter((e) => e.startsWith('latest_invoice.')).map((e) => e.slice('latest_invoice.'.length)),
  );
  const wantsInvoice = expand.has('latest_invoice') || below.size > 0;
  const items = subscription.items.map((item): JsonObject => {
    const price = state.prices.get(item.price);
    return {
      id: item.id,
      object: 'subscription_item',
      billing_thresholds: null,
      created: subscription.created,
      current_period_end: subscription.periodEnd,
      current_period_start: subscription.periodStart,
      current_trial: null,
      discounts: [],
      metadata: {},
      plan: price === undefined ? null : renderPlan(price),
      price: price === undefined ? null : renderPrice(price),
      ...(price?.recurring?.usage === 'metered' ? {} : { quantity: item.quantity }),
      subscription: subscription.id,
      tax_rates: [],
    };
  });
  return {
    id: subscription.id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: subscription.anchor,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    canceled_at: subscription.canceledAt,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: subscription.cancelReason },
    collection_method: subscription.collectionMethod,
    created: subscription.created,
    currency: state.prices.get(subscription.items[0]?.price ?? '')?.currency ?? 'eur',
    customer: customerOf(subscription, state, expand),
    customer_account: null,
    days_until_due: subscription.daysUntilDue,
    default_payment_method: expandedMethod(subscription.defaultPaymentMethod, state, expand, 'default_payment_method'),
    default_source: subscription.defaultSource,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: subscription.endedAt,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: list(items, `/v1/subscription_items?subscription=${subscription.id}`),
    latest_invoice:
      wantsInvoice && invoice !== undefined ? state.invoiceBody(invoice, below) : subscription.latestInvoice,
    livemode: false,
    managed_payments: null,
    metadata: subscription.metadata,
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
    start_date: subscription.created,
    status: subscription.status,
    test_clock: state.customers.get(subscription.customer)?.testClock ?? null,
    transfer_data: null,
    trial_end: subscription.trialEnd,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' } },
    trial_start: subscription.trialEnd === null ? null : subscription.created,
  };
}

function customerOf(subscription: Subscription, state: StripeState, expand: ReadonlySet<string>): JsonObject | string {
  const below = [...expand].filter((e) => e === 'customer' || e.startsWith('customer.'));
  const customer = state.customers.get(subscription.customer);
  if (below.length === 0 || customer === undefined) return subscription.customer;
  return renderCustomer(customer, state, new Set(below.map((e) => e.slice('customer.'.length))));
}
