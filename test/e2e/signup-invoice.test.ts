// A signup with invoice_id, end to end: Crossbill compares what the shopper would pay with Stripe's first invoice, before the MoR gets an intent.
import { afterEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  type Json,
  monthlyPrice,
  refusal,
  type Reply,
  SIGNUP_KEY,
  useWorld,
  wrongField,
} from '../support/rigs/world.js';
import { complete, confirmed } from './support/signups.js';
import { paidOnce, requestsOf } from './support/story.js';

const AS_SHOP = { authorization: `Bearer ${SIGNUP_KEY}` };
const ADDRESS = { line1: 'Weg 1', city: 'Ulm', postalCode: '89073', country: 'DE' };
/** A calculation request for Germany. Document 2's default taxBehavior is EXCLUSIVE: the MoR adds 19 %. */
const cart = (unitPrice: string, over: Json = {}): Json => ({
  currency: 'EUR',
  customer: { legalName: 'Ada', billingAddress: ADDRESS },
  lineItems: [{ merchantLineItemReference: 'plan', productCode: 'plan', title: 'Plan', unitPrice }],
  evidence: { billingCountry: 'DE', ipAddress: '203.0.113.7' },
  ...over,
});

type First = { readonly customerId: string; readonly invoiceId: string };

describe('a signup with invoice_id', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  afterEach(() => world.control('DELETE', '/faults'));

  /** A customer with an incomplete subscription, and its first invoice. */
  async function first(amount = 2990, currency = 'eur'): Promise<First> {
    const customer = await world.stripe.customers.create({ email: 'ada@example.com' });
    const price = await monthlyPrice(world.stripe, amount, currency);
    const { latest_invoice: invoice } = await world.stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
      payment_behavior: 'default_incomplete',
    });
    return { customerId: customer.id, invoiceId: typeof invoice === 'string' ? invoice : (invoice?.id ?? '') };
  }
  const signUp = ({ customerId, invoiceId }: First, over: Json = {}, key: string | null = null): Promise<Reply> =>
    world.api(
      'POST',
      '/v1/signups',
      { kind: 'payment', customer: { id: customerId }, invoice_id: invoiceId, ...over },
      { ...AS_SHOP, ...(key === null ? {} : { 'idempotency-key': key }) },
    );
  const intents = async (): Promise<number> =>
    (await requestsOf(world, 'side=mor&path=/api/payments/cardpsp/payment-intents')).length;
  const callNamed = (reply: Reply): unknown => reply.body['message'];

  /** Asserts a refusal, and that the MoR got no request for an intent. */
  async function refusedBeforePayment(send: () => Promise<Reply>, expected: Json): Promise<Reply> {
    const before = await intents();
    const reply = await send();
    expect(reply).toMatchObject(expected);
    expect(await intents()).toBe(before);
    return reply;
  }

  it("a signup without an amount asks the shopper for the invoice's sum, and its charge pays the invoice", async () => {
    const f = await first();
    const made = await signUp(f);
    expect(made).toMatchObject({ status: 201, body: { kind: 'payment', amount_total: 2990 } });
    const { id, payment_intent_id: intentId } = made.body;
    const shown = await world.api('GET', `/v1/signups/${String(id)}`);
    expect(shown.body).toMatchObject({ amount: 2990, currency: 'eur' });
    const begun = { ...f, subscriptionId: '', id: String(id), intentId: String(intentId) };
    const { chargeId } = await confirmed(world, begun);
    expect((await complete(world, begun, chargeId)).status).toBe(202);
    await paidOnce(world, f.invoiceId);
  });

  it('with tax on top, Crossbill refuses a signup whose total differs from the invoice and names both sums', async () => {
    const f = await first();
    const differs = refusal(409, 'amount_differs_from_invoice', 'tax');
    const both = expect.stringMatching(/35\.58 EUR.*29\.90 EUR/);
    for (const over of [{}, { amount: 2990, currency: 'eur' }]) {
      const reply = await refusedBeforePayment(() => signUp(f, { tax: cart('29.90'), ...over }), differs);
      expect(callNamed(reply)).toEqual(both);
    }
    const total = { amount: 3558, currency: 'eur', tax: cart('29.90') };
    const reply = await refusedBeforePayment(
      () => signUp(f, total),
      refusal(409, 'amount_differs_from_invoice', 'amount'),
    );
    expect(callNamed(reply)).toEqual(both);
    expect(await signUp(f, { tax: cart('29.90', { taxBehavior: 'INCLUSIVE' }) })).toMatchObject({
      status: 201,
      body: { amount_total: 2990, tax_calculation_id: expect.any(String) },
    });
  });

  it('a signup with tax on top is made if the invoice has the same tax', async () => {
    const f = await first(3558);
    expect(await signUp(f, { tax: cart('29.90') })).toMatchObject({ status: 201, body: { amount_total: 3558 } });
  });

  it('Crossbill compares the total of a calculation made before the signup, and takes an unknown one by its amount', async () => {
    const f = await first();
    const calculate = async (body: Json): Promise<Json> => ({
      tax_calculation_id: (await world.api('POST', '/v1/tax/calculations', body, AS_SHOP)).body['taxCalculationId'],
    });
    const exclusive = await calculate(cart('29.90'));
    await refusedBeforePayment(
      () => signUp(f, exclusive),
      refusal(409, 'amount_differs_from_invoice', 'tax_calculation_id'),
    );
    const inclusive = await calculate(cart('29.90', { taxBehavior: 'INCLUSIVE' }));
    expect(await signUp(f, inclusive)).toMatchObject({ status: 201, body: { amount_total: 2990, ...inclusive } });
    expect(await signUp(f, { tax_calculation_id: randomUUID() })).toMatchObject(
      refusal(404, 'tax_calculation_not_found'),
    );
  });

  it('Crossbill compares currencies without decimals in their smallest unit', async () => {
    const f = await first(2990, 'jpy');
    const yen = (unitPrice: string, over: Json = {}): Json => ({ tax: cart(unitPrice, { currency: 'JPY', ...over }) });
    const reply = await refusedBeforePayment(
      () => signUp(f, yen('2990')),
      refusal(409, 'amount_differs_from_invoice', 'tax'),
    );
    expect(callNamed(reply)).toEqual(expect.stringMatching(/3558 JPY.*2990 JPY/));
    expect(await signUp(f, yen('2990', { taxBehavior: 'INCLUSIVE' }))).toMatchObject({
      status: 201,
      body: { amount_total: 2990 },
    });
    await refusedBeforePayment(
      () => signUp(f, { amount: 2990, currency: 'eur' }),
      refusal(409, 'amount_differs_from_invoice', 'amount'),
    );
  });

  it("Crossbill refuses a signup for a paid, void, uncollectible or free invoice, another customer's, or an unknown one", async () => {
    const over: [string, (id: string) => Promise<unknown>][] = [
      ['paid', (id) => world.stripe.invoices.pay(id, { paid_out_of_band: true })],
      ['void', (id) => world.stripe.invoices.voidInvoice(id)],
      ['uncollectible', (id) => world.stripe.invoices.markUncollectible(id)],
    ];
    for (const [status, end] of over) {
      const f = await first();
      await end(f.invoiceId);
      const reply = await refusedBeforePayment(() => signUp(f), refusal(409, 'invoice_not_payable', 'invoice_id'));
      expect(callNamed(reply)).toEqual(expect.stringContaining(status));
    }
    const f = await first();
    const free = await world.stripe.invoices.create({ customer: f.customerId, currency: 'eur', auto_advance: false });
    await refusedBeforePayment(
      () => signUp({ ...f, invoiceId: free.id }),
      refusal(409, 'invoice_not_payable', 'invoice_id'),
    );
    const other = await world.stripe.customers.create({ email: 'eve@example.com' });
    await refusedBeforePayment(
      () => signUp({ ...f, customerId: other.id }),
      refusal(409, 'customer_differs', 'customer.id'),
    );
    await refusedBeforePayment(
      () => signUp({ ...f, invoiceId: 'in_unknown' }),
      refusal(404, 'not_found', 'invoice_id'),
    );
    expect((await signUp(f)).status).toBe(201);
  });

  it('if Stripe does not show the invoice, Crossbill makes no signup, and the same request succeeds later', async () => {
    const f = await first();
    await world.fault({
      side: 'stripe',
      method: 'GET',
      path: '/v1/invoices',
      action: 'status',
      status: 500,
      times: 20,
    });
    const calculations = async (): Promise<number> =>
      (await requestsOf(world, 'side=mor&path=/api/tax/calculations')).length;
    const before = await calculations();
    const body = { tax: cart('29.90', { taxBehavior: 'INCLUSIVE' }) };
    await refusedBeforePayment(() => signUp(f, body, 'order-1'), refusal(502, 'billing_unavailable'));
    expect(await calculations()).toBe(before);
    await world.control('DELETE', '/faults');
    expect((await signUp(f, body, 'order-1')).status).toBe(201);
  });

  it('a repeat under the same key returns the same signup, also once its invoice is paid or Stripe does not answer', async () => {
    const f = await first();
    const { status, body } = await signUp(f, {}, 'order-2');
    expect(status).toBe(201);
    await world.stripe.invoices.pay(f.invoiceId, { paid_out_of_band: true });
    expect(await signUp(f, {}, 'order-2')).toMatchObject({ status, body });
    await world.fault({
      side: 'stripe',
      method: 'GET',
      path: '/v1/invoices',
      action: 'status',
      status: 500,
      times: 20,
    });
    expect(await signUp(f, {}, 'order-2')).toMatchObject({ status, body });
    expect(await signUp(f, { amount: 2990, currency: 'eur' }, 'order-2')).toMatchObject(
      refusal(409, 'idempotency_conflict'),
    );
  });

  it('Crossbill refuses invoice_id for a trial, and a payment with neither an amount nor an invoice', async () => {
    const f = await first();
    expect(await signUp(f, { kind: 'trial' })).toMatchObject(wrongField('invoice_id'));
    expect(await signUp(f, { invoice_id: undefined })).toMatchObject(wrongField('amount'));
    expect(await signUp(f, { invoice_id: undefined, amount: 2990 })).toMatchObject(wrongField('currency'));
    const trial = await signUp(f, { kind: 'trial', invoice_id: undefined });
    expect(trial).toMatchObject({ status: 201, body: { amount_total: null } });
  });
});
