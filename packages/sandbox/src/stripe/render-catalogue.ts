// Products and prices in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type Price, type Product } from './model.js';

export function renderProduct(p: Product): JsonObject {
  return {
    id: p.id,
    object: 'product',
    active: true,
    created: p.created,
    default_price: null,
    description: null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: p.metadata,
    name: p.name,
    package_dimensions: null,
    shippable: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    updated: p.created,
    url: null,
  };
}

export function renderPrice(p: Price): JsonObject {
  return {
    id: p.id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: p.created,
    currency: p.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: p.metadata,
    nickname: null,
    product: p.product,
    recurring:
      p.recurring === null
        ? null
        : {
            interval: p.recurring.interval,
            interval_count: p.recurring.count,
            meter: p.recurring.meter,
            trial_period_days: null,
            usage_type: p.recurring.usage,
          },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: p.recurring === null ? 'one_time' : 'recurring',
    unit_amount: p.unitAmount,
    unit_amount_decimal: String(p.unitAmount),
  };
}

/** A recurring price under its older name, plan. Subscription items still carry both. */
export function renderPlan(p: Price): JsonObject {
  return {
    id: p.id,
    object: 'plan',
    active: true,
    amount: p.unitAmount,
    amount_decimal: String(p.unitAmount),
    billing_scheme: 'per_unit',
    created: p.created,
    currency: p.currency,
    interval: p.recurring?.interval ?? 'month',
    interval_count: p.recurring?.count ?? 1,
    livemode: false,
    metadata: p.metadata,
    meter: p.recurring?.meter ?? null,
    nickname: null,
    product: p.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: p.recurring?.usage ?? 'licensed',
  };
}
