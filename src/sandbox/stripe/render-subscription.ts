// How a subscription looks on the wire.
import { type JsonObject } from '../kernel/json.js';
import { type Subscription } from './model.js';
import { list, renderPrice } from './render.js';
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
      created: s.created,
      current_period_end: s.periodEnd,
      current_period_start: s.periodStart,
      metadata: {},
      price: price === undefined ? null : renderPrice(price),
      quantity: item.quantity,
      subscription: s.id,
    };
  });
  return {
    id: s.id,
    object: 'subscription',
    billing_cycle_anchor: s.anchor,
    cancel_at: null,
    cancel_at_period_end: s.cancelAtPeriodEnd,
    canceled_at: s.canceledAt,
    collection_method: s.collectionMethod,
    created: s.created,
    currency: state.prices.get(s.items[0]?.price ?? '')?.currency ?? 'eur',
    customer: s.customer,
    days_until_due: s.daysUntilDue,
    default_payment_method: s.defaultPaymentMethod,
    default_source: s.defaultSource,
    description: null,
    ended_at: s.endedAt,
    items: list(items, `/v1/subscription_items?subscription=${s.id}`),
    latest_invoice: wantsInvoice && invoice !== undefined ? state.invoiceBody(invoice, below) : s.latestInvoice,
    livemode: false,
    metadata: s.metadata,
    pause_collection: null,
    pending_setup_intent: null,
    start_date: s.created,
    status: s.status,
    trial_end: s.trialEnd,
    trial_start: s.trialEnd === null ? null : s.created,
  };
}
