// Signups: products and prices, customers and subscriptions on Stripe, intents through the daemon, and the shopper's
// browser.
import { billsUsage, type Character, castOf, PLANS, type Role } from './cast.js';
import { decimalFromMinor } from '../kernel/money.js';
import { ADDRESSES } from './one-off.js';
import { ENROLLED } from './enrolled.js';
import { type Scene, type Story } from './story.js';

const TRIAL_DAYS = 14;

/** Creates the catalogue and signs everybody up. Returns when the first invoices are paid and no work is left. */
export async function signUpAll(story: Story, customers: number, seed: string, roles?: readonly Role[]): Promise<void> {
  const { progress, rest: remaining } = story;
  const cast = castOf(customers, seed, roles);
  const prices = new Map([...(await makePrices(story)), ...(await makeMeteredPrices(story, cast))]);
  for (const [i, character] of cast.entries()) {
    progress.step(`signups: ${i + 1} of ${cast.length}`);
    await signUp(story, character, prices);
  }
  progress.step('signups: first invoices are being marked paid');
  await remaining.settled();
  const trials = cast.filter((c) => c.trial).length;
  const taxed = `${story.tally.taxed} with a tax calculation`;
  progress.done(
    `${cast.length} signups: ${cast.length - trials} paid a first invoice, ${trials} started a trial, ${taxed}`,
  );
}

/** Creates the prices and returns them by the name of their plan. */
export async function makePrices({ world }: Scene): Promise<ReadonlyMap<string, string>> {
  const prices = new Map<string, string>();
  for (const plan of PLANS) {
    const product = await world.stripe.products.create({ name: plan.name });
    const price = await world.stripe.prices.create({
      product: product.id,
      unit_amount: plan.amount,
      currency: plan.currency,
      recurring: { interval: 'month' },
    });
    prices.set(plan.name, price.id);
  }
  return prices;
}

/** Calls to an API, by the call: a metered price for each currency of the customers with usage. */
async function makeMeteredPrices({ world }: Scene, cast: readonly Character[]): Promise<ReadonlyMap<string, string>> {
  const prices = new Map<string, string>();
  const currencies = new Set(cast.filter(billsUsage).map((c) => c.plan.currency));
  for (const currency of currencies) {
    const product = await world.stripe.products.create({ name: 'Calls' });
    const price = await world.stripe.prices.create({
      product: product.id,
      unit_amount: UNIT_AMOUNT,
      currency,
      recurring: { interval: 'month', usage_type: 'metered', meter: 'mtr_calls' },
    });
    prices.set(meteredIn(currency), price.id);
  }
  return prices;
}

const UNIT_AMOUNT = 10;
const meteredIn = (currency: string): string => `metered ${currency}`;

/** The prices of a customer's subscription. */
function itemsOf(character: Character, prices: ReadonlyMap<string, string>): { price: string }[] {
  const plan = character.role === 'metered' ? [] : [prices.get(character.plan.name) ?? ''];
  const usage = billsUsage(character) ? [prices.get(meteredIn(character.plan.currency)) ?? ''] : [];
  return [...plan, ...usage].map((price) => ({ price }));
}

/** The backend's requests for one signup, kept to repeat them. `complete` is null for a trial, which takes no money. */
export type SignupCalls = {
  readonly key: string;
  readonly create: object;
  readonly complete: { readonly amount: number; readonly currency: string } | null;
};

/** Signs one customer up. `keep` receives the backend's requests before the signup completes. */
export async function signUp(
  story: Scene,
  character: Character,
  prices: ReadonlyMap<string, string>,
  keep: (calls: SignupCalls) => void = () => undefined,
): Promise<void> {
  const { stripe, api, control } = story.world;
  const customer = await stripe.customers.create({
    email: character.email,
    name: character.name,
    address: { country: character.country },
    metadata: ENROLLED,
  });
  // A custom payment method as the default keeps Stripe from charging, as the README asks of merchants.
  const method = await stripe.paymentMethods.create({ type: 'custom', custom: { type: 'cpmt_mor' } });
  await stripe.paymentMethods.attach(method.id, { customer: customer.id });
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: method.id,
    metadata: ENROLLED,
    items: itemsOf(character, prices),
    expand: ['latest_invoice'],
    ...(character.trial ? { trial_period_days: TRIAL_DAYS } : { payment_behavior: 'default_incomplete' }),
  });
  const key = `${story.run}-signup-${subscription.id}`;
  const about = { id: customer.id, email: character.email, name: character.name, country: character.country };
  const tax = taxOf(character);
  if (character.trial) {
    const debit = character.role === 'debit' || character.role === 'bounces';
    const types = { payment_method_types: debit ? ['sepa_debit'] : ['card'] };
    const create = { kind: 'trial', customer: about, ...types, ...tax };
    const signup = await api.post('/v1/signups', create, key);
    keep({ key, create, complete: null });
    if (signup.textOrNull('tax_calculation_id') !== null) story.tally.taxed += 1;
    await control.post(`/_sandbox/intents/${signup.text('setup_intent_id')}/confirm`, {});
  } else {
    const invoice = subscription.latest_invoice;
    if (invoice === null || typeof invoice === 'string') throw new Error('the first invoice was not expanded');
    const invoiceId = invoice.id ?? '';
    const description = `${character.plan.name}, first month`;
    const create = { kind: 'payment', customer: about, invoice_id: invoiceId, description, ...tax };
    const signup = await api.post('/v1/signups', create, key);
    const money = { amount: signup.amount('amount_total'), currency: invoice.currency };
    if (signup.textOrNull('tax_calculation_id') !== null) story.tally.taxed += 1;
    const shopper = await control.post(`/_sandbox/intents/${signup.text('payment_intent_id')}/confirm`, {});
    const charge = { charge_id: shopper.text('charge_id'), payment_id: shopper.text('payment_id') };
    const complete = { ...charge, invoice_id: invoiceId, ...money };
    keep({ key, create, complete });
    await api.post(`/v1/signups/${signup.text('id')}/complete`, complete);
  }
  story.subscribers.push({ ...character, customerId: customer.id, subscriptionId: subscription.id, renewals: 0 });
}

/**
 * Returns Document 2's calculation request if the sandbox's merchant sells through the MoR in this country. In any
 * other country the demo calculates no tax.
 */
function taxOf(character: Character): { readonly tax?: object } {
  if (character.role === 'metered' || (character.country !== 'DE' && character.country !== 'GB')) return {};
  const currency = character.plan.currency.toUpperCase();
  return {
    tax: {
      currency,
      // The plan's price on Stripe has the tax in it (docs/tax.md). The MoR's default would add the tax, the total would
      // differ from Stripe's invoice, and Crossbill would refuse the signup.
      taxBehavior: 'INCLUSIVE',
      customer: {
        legalName: character.name,
        billingAddress: { ...ADDRESSES[character.country], country: character.country },
      },
      lineItems: [
        {
          merchantLineItemReference: 'plan',
          productCode: character.plan.name.toLowerCase(),
          title: `${character.plan.name}, one month`,
          unitPrice: decimalFromMinor(BigInt(character.plan.amount), currency),
          productType: 'DIGITAL',
        },
      ],
      evidence: { billingCountry: character.country, ipAddress: '203.0.113.7' },
    },
  };
}
