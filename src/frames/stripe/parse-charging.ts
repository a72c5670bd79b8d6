// Finds the payment method Stripe itself would charge, in a subscription or a customer with expanded methods.
import { type ChargedMethod, type SubscriptionFacts } from '../../shared/domain/ports/billing-reader.js';
import { idOf, isObject, partOf, textOf, textsOf, timeOf } from '@crossbill/mor/read.js';

type From = ChargedMethod['from'];

/**
 * Finds the method in the order of Stripe docs, "Subscription payment methods": the subscription's method, its source,
 * the customer's method, the customer's source.
 */
export function chargedOfSubscription(object: unknown): { readonly charged: ChargedMethod | null } | null {
  if (!isObject(object) || object['object'] !== 'subscription') return null;
  const own =
    methodOf(object['default_payment_method'], 'subscription') ?? methodOf(object['default_source'], 'subscription');
  return { charged: own ?? chargedOfCustomer(partOf(object['customer']))?.charged ?? null };
}

export function chargedOfCustomer(object: unknown): { readonly charged: ChargedMethod | null } | null {
  if (!isObject(object) || object['object'] !== 'customer') return null;
  const method = methodOf(partOf(object['invoice_settings'])['default_payment_method'], 'customer');
  return { charged: method ?? methodOf(object['default_source'], 'customer') };
}

export function chargedOfMethod(object: unknown): { readonly charged: ChargedMethod | null } | null {
  const charged = isObject(object) ? methodOf(object, 'invoice') : null;
  return charged === null ? null : { charged };
}

/**
 * Parses a method. An older source appears as its id, or as a card, a bank account or a source object. A payment method
 * appears as an object, since the read expands it.
 */
export function methodOf(value: unknown, from: From): ChargedMethod | null {
  const id = idOf(value);
  if (id === null) return null;
  if (isObject(value) && value['object'] === 'payment_method') return { from, id, type: textOf(value['type']) };
  return { from, id, type: id.startsWith('pm_') ? null : 'source' };
}

export function parseSubscription(object: unknown): SubscriptionFacts | null {
  const found = chargedOfSubscription(object);
  if (found === null || !isObject(object)) return null;
  const subscriptionId = idOf(object['id']);
  const customerId = idOf(object['customer']);
  if (subscriptionId === null || customerId === null) return null;
  return {
    subscriptionId,
    customerId,
    createdAt: timeOf(object['created']),
    status: textOf(object['status']),
    collectionMethod: textOf(object['collection_method']),
    metadata: textsOf(partOf(object['metadata'])),
    customerMetadata: textsOf(partOf(partOf(object['customer'])['metadata'])),
    charged: found.charged,
    usageBased: isUsageBased(object),
  };
}

/** True for a subscription with a metered price, or with a billing threshold of its own or of an item. */
function isUsageBased(subscription: Readonly<Record<string, unknown>>): boolean {
  if (isObject(subscription['billing_thresholds'])) return true;
  const { data } = partOf(subscription['items']);
  return (Array.isArray(data) ? data : []).map(partOf).some(
    (item) =>
      // shapes before API version 2019-12-03 name the price `plan`
      [partOf(partOf(item['price'])['recurring']), partOf(item['plan'])].some((x) => x['usage_type'] === 'metered') ||
      isObject(item['billing_thresholds']),
  );
}
