// The payment method Stripe would charge automatically, in Stripe's own order.
import { expect, it } from '@jest/globals';
import { isChargeable } from '../../../../src/shared/domain/ports/billing-reader.js';
import {
  chargedOfCustomer,
  chargedOfSubscription,
  parseSubscription,
} from '../../../../src/frames/stripe/parse-charging.js';

const card = (id: string) => ({ object: 'payment_method', id, type: 'card' });
const custom = { object: 'payment_method', id: 'pm_mor', type: 'custom', custom: { type: 'cpmt_1' } };
const customer = (method: unknown, source: unknown = null) => ({
  object: 'customer',
  id: 'cus_1',
  invoice_settings: { default_payment_method: method },
  default_source: source,
});
const subscription = (over: object) => ({
  object: 'subscription',
  id: 'sub_1',
  customer: customer(card('pm_customer'), 'card_old'),
  default_payment_method: null,
  default_source: null,
  ...over,
});
const first = (object: unknown) => chargedOfSubscription(object)?.charged ?? null;

it('Crossbill expects Stripe to charge the subscription’s payment method first, then the customer’s', () => {
  expect(first(subscription({ default_payment_method: card('pm_sub'), default_source: 'card_sub' }))).toEqual({
    from: 'subscription',
    id: 'pm_sub',
    type: 'card',
  });
  expect(first(subscription({ default_source: 'card_sub' }))).toMatchObject({ id: 'card_sub', type: 'source' });
  expect(first(subscription({}))).toMatchObject({ from: 'customer', id: 'pm_customer' });
  expect(first(subscription({ customer: customer(null, 'card_old') }))).toMatchObject({
    id: 'card_old',
    type: 'source',
  });
  expect(first(subscription({ customer: customer(null) }))).toBeNull();
  expect(first(subscription({ customer: { object: 'customer', id: 'cus_1', deleted: true } }))).toBeNull();
});

it('if a custom payment method comes first, Crossbill expects no card charge by Stripe', () => {
  const found = first(subscription({ default_payment_method: custom }));
  expect(found).toMatchObject({ id: 'pm_mor', type: 'custom' });
  expect([
    isChargeable(found),
    isChargeable(null),
    isChargeable({ from: 'customer', id: 'pm_card', type: 'card' }),
  ]).toEqual([false, false, true]);
  expect(isChargeable({ from: 'customer', id: 'pm_1', type: null })).toBe(true); // not told: to be on the safe side
});

it('Crossbill reads no payment method from an object of the wrong type, or from an object without ids', () => {
  expect([
    chargedOfSubscription(customer(null)),
    chargedOfCustomer(subscription({})),
    chargedOfSubscription('x'),
  ]).toEqual([null, null, null]);
  expect(parseSubscription(subscription({ customer: null }))).toBeNull();
  expect(parseSubscription(subscription({ metadata: { a: 'b', n: 1 } }))).toMatchObject({
    customerId: 'cus_1',
    metadata: { a: 'b' },
  });
});

it('a subscription is usage-based with a metered price, an old metered plan, or a billing threshold', () => {
  const usage = (over: object) => parseSubscription(subscription(over))?.usageBased;
  const priced = (price: object) => ({
    items: { data: [{ price: { recurring: { usage_type: 'licensed' } } }, price] },
  });
  expect(usage({})).toBe(false);
  expect(usage(priced({ price: { recurring: { usage_type: 'licensed' } } }))).toBe(false);
  expect(usage(priced({ price: { recurring: { usage_type: 'metered' } } }))).toBe(true);
  expect(usage(priced({ plan: { usage_type: 'metered' } }))).toBe(true);
  expect(usage({ billing_thresholds: { amount_gte: 5000 } })).toBe(true);
  expect(usage(priced({ price: {}, billing_thresholds: { usage_gte: 5 } }))).toBe(true);
});
