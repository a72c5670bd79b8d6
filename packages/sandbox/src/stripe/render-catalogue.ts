// Products and prices in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type Price, type Product } from './model.js';

export function renderProduct(product: Product): JsonObject {
  return {
    id: product.id,
    object: 'product',
    active: true,
    created: product.created,
    default_price: null,
    description: null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: product.metadata,
    name: product.name,
    package_dimensions: null,
    shippable: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    updated: product.created,
    url: null,
  };
}

export function renderPrice(price: Price): JsonObject {
  return {
    id: price.id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: price.metadata,
    nickname: null,
    product: price.product,
    recurring:
      price.recurring === null
        ? null
        : {
            interval: price.recurring.interval,
            interval_count: price.recurring.count,
            meter: price.recurring.meter,
            trial_period_days: null,
            usage_type: price.recurring.usage,
          },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: price.recurring === null ? 'one_time' : 'recurring',
    unit_amount: price.unitAmount,
    unit_amount_decimal: String(price.unitAmount),
  };
}

/** A recurring price under its older name, plan. Subscription items still carry both. */
export function renderPlan(price: Price): JsonObject {
  return {
    id: price.id,
    object: 'plan',
    active: true,
    amount: price.unitAmount,
    amount_decimal: String(price.unitAmount),
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: price.recurring?.meter ?? null,
    nickname: null,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: price.recurring?.usage ?? 'licensed',
  };
}
