// What the shop sells, and what it takes as an order.

export const TRIAL_DAYS = 14;
export const PLANS = [
  { id: 'solo', name: 'Solo', amount: 1200, about: 'One notebook, for yourself' },
  { id: 'studio', name: 'Studio', amount: 2990, about: 'Ten people, shared notebooks' },
  { id: 'house', name: 'House', amount: 9900, about: 'As many people as you like' },
];
export const CURRENCY = 'eur';
export const COUNTRIES = { DE: 'Germany', GB: 'United Kingdom' };

/** What the browser sent is no order. The message is for the customer. */
export class BadOrder extends Error {}

export function textOf(body, name) {
  const value = body?.[name];
  if (typeof value !== 'string' || value.trim() === '' || value.length > 200) throw new BadOrder(`${name} is missing`);
  return value.trim();
}

export function readOrder(body) {
  const [id, name, email] = [textOf(body, 'id'), textOf(body, 'name'), textOf(body, 'email')];
  const plan = PLANS.find((p) => p.id === body.plan);
  if (plan === undefined) throw new BadOrder('plan is none of ours');
  const [line1, postalCode, city] = ['line1', 'postalCode', 'city'].map((part) => textOf(body, part));
  const country = textOf(body, 'country');
  if (!(country in COUNTRIES)) throw new BadOrder('we do not sell to this country yet');
  return { id, plan, trial: body.trial === true, name, email, address: { line1, postalCode, city, country } };
}

/**
 * The MoR calculates the tax: the plan's price is what the customer pays, with the tax in it. `INCLUSIVE` says so. The
 * MoR's default, `EXCLUSIVE`, would add the tax to the price; Stripe's invoice would still ask for the price alone, and
 * Crossbill would refuse the signup. A shop with prices before tax puts the same tax on Stripe's invoice: docs/tax.md.
 */
export function taxRequest(plan, legalName, billingAddress) {
  const line = {
    merchantLineItemReference: 'plan',
    productCode: plan.id,
    title: `${plan.name}, one month`,
    productType: 'DIGITAL',
  };
  return {
    currency: CURRENCY.toUpperCase(),
    taxBehavior: 'INCLUSIVE',
    customer: { legalName, billingAddress },
    lineItems: [{ ...line, unitPrice: (plan.amount / 100).toFixed(2) }],
    evidence: { billingCountry: billingAddress.country, ipAddress: '203.0.113.7' }, // behind a proxy: the shopper's, req.ip
  };
}
