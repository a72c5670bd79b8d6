// Tax for the merchant's backend, end to end: Document 2's calculations, transactions, refunds and catalogue, and signups with tax.
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Json, READ_KEY, SIGNUP_KEY, useWorld, refusal, wrongField } from '../support/rigs/world.js';

const asShop = { authorization: `Bearer ${SIGNUP_KEY}` };
const address = { line1: '1 Rue', city: 'Paris', postalCode: '75001', country: 'FR' };
const cart = (over: Json = {}): Json => ({
  currency: 'EUR',
  taxBehavior: 'INCLUSIVE',
  customer: { merchantCustomerReference: 'cus_1', firstName: 'Ada', lastName: 'Example', billingAddress: address },
  lineItems: [
    { merchantLineItemReference: 'l1', productCode: 'plan', title: 'Plan', unitPrice: 29.9 },
    { merchantLineItemReference: 'l2', productCode: 'seat', title: 'Seats', unitPrice: '5.05', quantity: 2 },
  ],
  evidence: { billingCountry: 'FR', ipAddress: '203.0.113.7' },
  ...over,
});

describe('tax', () => {
  const world = useWorld();
  afterEach(async () => {
    await world.control('DELETE', '/faults');
    await world.control('POST', '/tax', { fail: null });
  });

  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    world.api(method, path, body, { ...asShop, ...headers });
  const calculate = (body: Json = cart()) => api('POST', '/v1/tax/calculations', body);
  const sent = async (path: string, method = 'POST'): Promise<Json[]> => {
    const log = await world.control('GET', `/requests?side=mor&method=${method}&path=${encodeURIComponent(path)}`);
    return log.body['data'] as Json[];
  };
  const calculations = async (): Promise<number> => (await sent('/api/tax/calculations')).length;
  async function committed(reference: string): Promise<Json> {
    const { body } = await calculate();
    const done = await api('POST', '/v1/tax/transactions', {
      taxCalculationId: body['taxCalculationId'],
      merchantTransactionReference: reference,
      payment: { processor: 'cardpsp', paymentReference: `ch_${reference}` },
    });
    expect(done.status).toBe(200);
    return done.body;
  }

  it("Crossbill calculates, commits, lists and refunds tax through the MoR's tax API", async () => {
    const made = await calculate();
    expect(made).toMatchObject({
      status: 201,
      body: {
        currency: 'EUR',
        totalAmount: '40.00',
        lineItems: [
          {
            merchantLineItemReference: 'l1',
            itemTotalAmount: '29.90',
            quantity: 1,
            tax: { charges: expect.any(Array) },
          },
          { merchantLineItemReference: 'l2', quantity: 2 },
        ],
      },
    });
    const first = await committed('order-1');
    expect(first).toMatchObject({
      merchantTransactionReference: 'order-1',
      refunded: false,
      refundsOnTransaction: [],
      payment: { processor: 'cardpsp', paymentReference: 'ch_order-1' },
    });
    const again = await api('POST', '/v1/tax/transactions', {
      taxCalculationId: (await calculate()).body['taxCalculationId'],
      merchantTransactionReference: 'order-1',
    });
    expect(again).toMatchObject(refusal(400, 'invalid_state', 'merchantTransactionReference'));

    const id = String(first['transactionId']);
    expect((await api('GET', `/v1/tax/transactions/${id}`)).body).toMatchObject({ transactionId: id });
    const [line] = first['lineItems'] as Json[];
    const refund = {
      merchantRefundReference: 'back-1',
      taxBehavior: 'INCLUSIVE',
      refundLineItems: [
        { lineItemId: line?.['lineItemId'], refundLineItemReference: 'b1', refundReason: 'duplicate', amount: '9.90' },
      ],
    };
    const back = await api('POST', `/v1/tax/transactions/${id}/refunds`, refund);
    expect(back).toMatchObject({ status: 200, body: { merchantRefundReference: 'back-1', totalAmount: '9.90' } });
    const same = await api('POST', `/v1/tax/transactions/${id}/refunds`, refund);
    expect(same.body['refundTransactionId']).toBe(back.body['refundTransactionId']);
    const refunds = await world.api<Json[]>('GET', `/v1/tax/transactions/${id}/refunds`, undefined, asShop);
    const refundTax = { rate: expect.any(String), taxAmount: expect.any(String), currency: 'EUR' };
    expect(refunds.body).toMatchObject([{ refundLineItems: [{ refundLineItemReference: 'b1', refundTax }] }]);
    await world.advance(120);
    const file = await api('GET', `/v1/tax/transactions/${id}/invoice`);
    expect(file).toMatchObject({ status: 200, body: { b2cInvoice: { url: expect.stringMatching(/^http/) } } });
  });

  it('Crossbill answers 202 with Retry-After while the MoR prepares the invoice of a tax transaction', async () => {
    const { transactionId } = await committed('order-202');
    const path = `/api/tax/transactions/${String(transactionId)}/invoice`;
    await world.fault({ side: 'mor', path, action: 'status', status: 202, headers: { 'retry-after': '7' } });
    const waits = await api('GET', `/v1${path.slice('/api'.length)}`);
    expect(waits.status).toBe(202);
    expect(waits.headers.get('retry-after')).toBe('7');
  });

  it("GET /v1/tax/transactions pages with the MoR's cursor, and refuses an invalid size or cursor", async () => {
    for (const n of [1, 2, 3]) await committed(`page-${n}`);
    const first = await api('GET', '/v1/tax/transactions?size=2');
    expect((first.body['transactions'] as Json[]).map((t) => t['merchantTransactionReference'])).toEqual([
      'page-3',
      'page-2',
    ]);
    const next = await api('GET', `/v1/tax/transactions?size=2&cursor=${String(first.body['nextCursor'])}`);
    expect((next.body['transactions'] as Json[])[0]).toMatchObject({ merchantTransactionReference: 'page-1' });
    const one = await api('GET', '/v1/tax/transactions?merchantTransactionReference=page-2');
    expect(one.body).toMatchObject({ transactions: [{ merchantTransactionReference: 'page-2' }] });
    expect(one.body['nextCursor']).toBeUndefined();
    for (const query of ['size=0', 'size=101', 'size=x']) {
      expect(await api('GET', `/v1/tax/transactions?${query}`)).toMatchObject(refusal(400, 'invalid_argument', 'size'));
    }
    expect(await api('GET', '/v1/tax/transactions?cursor=foreign')).toMatchObject(
      refusal(400, 'invalid_argument', 'cursor'),
    );
  });

  it("the caller gets the MoR's code and field for a tax request with conflicting fields", async () => {
    const goods = {
      merchantLineItemReference: 'l',
      productCode: 'p',
      unitPrice: 1,
      productType: 'PHYSICAL',
      title: 'T',
    };
    const shipped = { customer: { billingAddress: address, shippingAddress: address }, shipFrom: { country: 'GB' } };
    const rows: [Json, string, string][] = [
      [cart({ evidence: undefined }), 'invalid_argument', 'evidence'],
      [cart({ lineItems: [goods] }), 'shipping_address_required', 'customer.shippingAddress'],
      [cart({ lineItems: [goods], ...shipped }), 'missing_country_of_origin', 'lineItems[0].countryOfOrigin'],
      [
        cart({ lineItems: [{ ...goods, title: undefined, countryOfOrigin: 'GB' }], ...shipped }),
        'missing_classification_text',
        'lineItems[0].title',
      ],
    ];
    for (const [body, code, field] of rows) {
      expect(await calculate(body)).toMatchObject(refusal(400, code, field));
    }
  });

  it('Crossbill imports a product with a decimal price, and refuses a read-only key', async () => {
    const product = {
      productId: 'sku-1',
      title: 'Chair',
      requiresShipping: true,
      priceAmount: 49.95,
      priceCurrency: 'EUR',
    };
    expect((await api('POST', '/v1/catalogue/products', product)).status).toBe(201);
    const [seen] = (await sent('/api/catalogue/products')).slice(-1);
    expect(JSON.stringify(seen)).toContain('49.95');
    const refused = await api('POST', '/v1/catalogue/products', { ...product, priceAmount: '1e3', title: '' });
    expect(refused).toMatchObject(refusal(400, 'invalid_argument'));
    expect(
      (await world.api('POST', '/v1/catalogue/products', product, { authorization: `Bearer ${READ_KEY}` })).status,
    ).toBe(403);
  });

  describe('at signup', () => {
    const signup = (over: Json, key?: string) =>
      api(
        'POST',
        '/v1/signups',
        { kind: 'payment', customer: { id: 'cus_tax' }, amount: 4000, currency: 'eur', tax: cart(), ...over },
        key === undefined ? {} : { 'idempotency-key': key },
      );
    const intentOf = async (id: unknown): Promise<Json> => (await world.control('GET', `/intents/${String(id)}`)).body;

    it('a signup with tax calculates the tax once per idempotency key, and binds the calculation to the payment intent', async () => {
      const before = await calculations();
      const made = await signup({}, 'tax-1');
      expect(made).toMatchObject({ status: 201, body: { tax_calculation_id: expect.any(String) } });
      const again = await signup({}, 'tax-1');
      expect(again.body).toEqual(made.body);
      expect(await calculations()).toBe(before + 1);
      const { id, payment_intent_id: intent, tax_calculation_id: calculation } = made.body;
      expect((await api('GET', `/v1/signups/${String(id)}`)).body).toMatchObject({ tax_calculation_id: calculation });
      expect(JSON.stringify(await intentOf(intent))).toContain(String(calculation));
      expect(await signup({ amount: 4001 }, 'tax-1')).toMatchObject(refusal(409, 'idempotency_conflict'));
      const both = await Promise.all([signup({}, 'tax-2'), signup({}, 'tax-2')]);
      expect(both[0].body).toEqual(both[1].body);
    });

    it('a trial with tax binds a calculation to its setup intent', async () => {
      const made = await signup({ kind: 'trial', amount: undefined, currency: undefined });
      expect(made).toMatchObject({ status: 201, body: { setup_intent_id: expect.any(String) } });
      expect(JSON.stringify(await intentOf(made.body['setup_intent_id']))).toContain(
        String(made.body['tax_calculation_id']),
      );
    });

    it('Crossbill refuses a signup with an amount different from its tax calculation, or with an invalid cart', async () => {
      const differs = await signup({ amount: 3999 });
      expect(differs).toMatchObject(refusal(400, 'invalid_request', 'amount'));
      expect(differs.body['message']).toContain('40.00 EUR');
      expect(await signup({ currency: 'usd' })).toMatchObject(wrongField('currency'));
      const cartless = await signup({ tax: cart({ lineItems: [] }) });
      expect(cartless).toMatchObject(refusal(400, 'invalid_argument', 'tax.lineItems'));
      expect(await signup({ tax_calculation_id: 'x' })).toMatchObject({ status: 400 });
      await world.control('POST', '/tax', { fail: 'integration_not_configured' });
      expect(await signup({})).toMatchObject(refusal(409, 'integration_not_configured'));
    });

    it('Crossbill calculates the tax of a signup once more if the MoR no longer knows the calculation', async () => {
      const path = '/api/payments/cardpsp/payment-intents';
      const gone = { side: 'mor', path, action: 'status', status: 404, code: 'tax_calculation_not_found' };
      await world.fault(gone);
      const before = await calculations();
      const made = await signup({}, 'tax-anew');
      expect(made.status).toBe(201);
      expect(await calculations()).toBe(before + 2);
      expect((await signup({}, 'tax-anew')).body).toEqual(made.body);
      expect(await calculations()).toBe(before + 2);
      await world.fault({ ...gone, times: 2 });
      expect(await signup({}, 'tax-never')).toMatchObject(refusal(404, 'tax_calculation_not_found'));
      expect(await calculations()).toBe(before + 4);
    });

    it("Crossbill keeps the tax calculation of a signup when the MoR's first response is lost", async () => {
      const path = '/api/payments/cardpsp/payment-intents';
      await world.fault({ side: 'mor', path, action: 'drop_after' });
      const before = await calculations();
      expect((await signup({}, 'tax-lost')).status).toBe(502);
      expect((await signup({}, 'tax-lost')).status).toBe(201);
      expect(await calculations()).toBe(before + 1);
    });
  });
});
