// Document 2, tax calculations: the arithmetic and every row of the request and error tables.
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-call -- answers are read loosely: what they hold is what is tested */
import { expect, it } from '@jest/globals';
import { type Mor, address, brazilian, cart, cartIn, evidence, fieldsOf, line, morForAll } from './support.js';

let mor: Mor;
morForAll((started) => (mor = started));

const calculate = (body: unknown): ReturnType<Mor['call']> => mor.call('POST', '/api/tax/calculations', body);
const goods = { ...line, productType: 'PHYSICAL', countryOfOrigin: 'CN', title: 'T-shirt' };
/** Goods from China to a buyer in Great Britain. */
const imported = (one: object = goods, more: object = {}): Record<string, unknown> =>
  cart({ lineItems: [one], shipFrom: { country: 'CN' }, ...more }, { shippingAddress: address });
const units = (text: string): bigint => BigInt(text.replace('.', ''));
const sum = (charges: { kind: string; amount: string }[], kind: string): bigint =>
  charges.filter((charge) => charge.kind.startsWith(kind)).reduce((total, { amount }) => total + units(amount), 0n);

it('a tax calculation of the sandbox adds 20 percent in Great Britain and is valid for seven days', async () => {
  const { status, body } = await calculate(cart());
  expect(status).toBe(201);
  expect(body).toMatchObject({
    createdAt: '2026-03-02T10:00:00.000Z',
    expiresAt: '2026-03-09T10:00:00.000Z',
    currency: 'GBP',
    subTotalAmount: '100.00',
    discountAmount: '0.00',
    netAmount: '100.00',
    taxAmount: '20.00',
    totalAmount: '120.00',
    customer: { legalName: 'Buyer Ltd', billingAddress: address },
    evidence,
    entity: { companyName: expect.any(String) },
  });
  expect(body.lineItems).toEqual([
    {
      lineItemId: expect.any(String),
      merchantLineItemReference: 'l1',
      productCode: 'p1',
      title: 'Plan',
      unitPrice: '100.00',
      quantity: 1,
      discountAmount: '0.00',
      itemSubTotalAmount: '100.00',
      itemNetAmount: '100.00',
      itemTotalAmount: '120.00',
      refunded: false,
      tax: {
        rate: '0.20',
        taxAmount: '20.00',
        currency: 'GBP',
        charges: [
          {
            kind: 'TAX',
            name: 'VAT United Kingdom',
            jurisdiction: 'United Kingdom',
            jurisdictionLevel: 'COUNTRY',
            country: 'GB',
            taxType: 'VAT',
            providerTaxType: 'VAT',
            rate: '0.20',
            amount: '20.00',
            taxableAmount: '100.00',
          },
        ],
      },
    },
  ]);
  expect(body).not.toHaveProperty('totalDutyAmount');
});

it('a tax calculation of the sandbox subtracts the discount from each unit before tax', async () => {
  const { body } = await calculate(
    cart({ lineItems: [{ ...line, unitPrice: '10.00', quantity: 3, discountAmount: 2 }] }),
  );
  expect(body).toMatchObject({
    subTotalAmount: '30.00',
    discountAmount: '6.00',
    netAmount: '24.00',
    taxAmount: '4.80',
    totalAmount: '28.80',
  });
});

it('a tax calculation of the sandbox leaves the total unchanged if the prices include tax', async () => {
  const lineItems = [{ ...line, unitPrice: 9.99, quantity: 3 }];
  const { body } = await calculate(cart({ taxBehavior: 'INCLUSIVE', lineItems }));
  expect(body).toMatchObject({ netAmount: '24.98', taxAmount: '4.99', totalAmount: '29.97' });
});

it('a tax calculation of the sandbox reads decimals exactly, as numbers and as strings', async () => {
  for (const unitPrice of [0.1, '0.10', '0.1']) {
    const { body } = await calculate(cart({ lineItems: [{ ...line, unitPrice, quantity: 3 }] }));
    expect(body.netAmount).toBe('0.30');
  }
});

it('a tax calculation of the sandbox splits US sales tax exactly into state, county and city', async () => {
  const us = cartIn('US', 'USD', {
    address: { city: 'Los Angeles', state: 'CA', postalCode: '90001' },
    lineItems: [{ ...line, unitPrice: 33.33 }],
  });
  const { body } = await calculate(us);
  const { tax } = body.lineItems[0];
  expect(tax.charges.map((charge: { jurisdictionLevel: string }) => charge.jurisdictionLevel)).toEqual([
    'STATE',
    'COUNTY',
    'CITY',
  ]);
  expect(sum(tax.charges, 'TAX')).toBe(units(tax.taxAmount));
  expect(tax.rate).toBe('0.085');
  expect(body).not.toHaveProperty('entity');
  expect(body).not.toHaveProperty('evidence');
});

it("a tax calculation of the sandbox charges GST and the province's tax in Canada", async () => {
  const quebec = { address: { state: 'QC' } };
  const { body } = await calculate(cartIn('CA', 'CAD', quebec));
  expect(body.lineItems[0].tax).toMatchObject({ rate: '0.14975', taxAmount: '14.98' });
  expect(body.lineItems[0].tax.charges.map((charge: { taxType: string }) => charge.taxType)).toEqual([
    'GST',
    'SALES_TAX',
  ]);
});

it("a tax calculation of the sandbox leaves a Brazilian consumer's prices unchanged, and reports the service tax ISS separately", async () => {
  const { body } = await calculate(cartIn('BR', 'BRL', { taxBehavior: 'INCLUSIVE' }, brazilian));
  expect(body).toMatchObject({
    subTotalAmount: '100.00',
    netAmount: '100.00',
    totalAmount: '100.00',
    taxAmount: '5.00',
  });
  expect(body.lineItems[0]).toMatchObject({
    unitPrice: '100.00',
    itemTotalAmount: '100.00',
    tax: { charges: [{ providerTaxType: 'ISS' }] },
  });
});

it('a tax calculation of the sandbox adds the duty before import VAT, and keeps the duty out of the field taxAmount', async () => {
  const { body } = await calculate(imported({ ...goods, hsCode: '6109.10.00' }));
  expect(body).toMatchObject({
    netAmount: '100.00',
    totalDutyAmount: '12.00',
    taxAmount: '22.40',
    totalAmount: '134.40',
  });
  const { tax } = body.lineItems[0];
  expect(tax).toMatchObject({
    dutyAmount: '12.00',
    dutyRate: '0.12',
    dutyBasis: 'CLASSIFIED',
    appliedHsCode: '61091000',
  });
  expect(sum(tax.charges, 'IMPORT_')).toBe(1200n);
  expect(sum(tax.charges, 'TAX')).toBe(2240n);
  const duty = tax.charges.find((charge: { kind: string }) => charge.kind === 'IMPORT_DUTY');
  for (const absent of ['jurisdiction', 'jurisdictionLevel', 'taxType']) expect(duty).not.toHaveProperty(absent);
  expect(tax.charges[0].taxType).toBe('IMPORT_VAT');
});

it('a tax calculation of the sandbox predicts a customs code from the title, or estimates the duty', async () => {
  const predicted = await calculate(imported());
  expect(predicted.body.lineItems[0].tax).toMatchObject({ dutyBasis: 'CLASSIFIED', appliedHsCode: '61091000' });
  const estimated = await calculate(imported({ ...goods, title: 'Widget' }));
  expect(estimated.body.lineItems[0].tax.dutyBasis).toBe('FALLBACK_ESTIMATE');
  expect(estimated.body.lineItems[0].tax).not.toHaveProperty('appliedHsCode');
});

it('a tax calculation of the sandbox adds no duty to the digital lines of a mixed cart', async () => {
  const { status, body } = await calculate(imported(goods, { lineItems: [goods, { ...line, title: undefined }] }));
  expect(status).toBe(201);
  expect(body.lineItems[1].tax).not.toHaveProperty('dutyAmount');
});

const without = (name: string): Record<string, unknown> => ({ lineItems: [{ ...line, [name]: undefined }] });
const lineWith = (more: object): Record<string, unknown> => cart({ lineItems: [{ ...line, ...more }] });
const billing = (more: object): object => cart({}, { billingAddress: { ...address, ...more } });
const identifier = (one: object): object => cart({}, { taxIdentifiers: [one] });

it.each<[string, unknown, string[]]>([
  ['broken JSON', '{"currency":', ['body']],
  ['a list as the body', [], ['body']],
  ['no fields', {}, ['currency', 'customer', 'lineItems']],
  ['unknown currency', cart({ currency: 'XXZ' }), ['currency']],
  ['unknown taxBehavior', cart({ taxBehavior: 'NONE' }), ['body']],
  ['no billing address', cart({}, { billingAddress: undefined }), ['customer.billingAddress']],
  ['no line1', billing({ line1: undefined }), ['customer.billingAddress.line1']],
  ['blank city', billing({ city: ' ' }), ['customer.billingAddress.city']],
  ['no postal code', billing({ postalCode: undefined }), ['customer.billingAddress.postalCode']],
  ['country of three letters', billing({ country: 'GBR' }), ['customer.billingAddress.country']],
  ['US without state', cartIn('US', 'USD'), ['customer.billingAddress.state']],
  ['CA without state', cartIn('CA', 'CAD'), ['customer.billingAddress.state']],
  ['no lines', cart({ lineItems: [] }), ['lineItems']],
  ['line without reference', cart(without('merchantLineItemReference')), ['lineItems[0].merchantLineItemReference']],
  ['line without product', cart(without('productCode')), ['lineItems[0].productCode']],
  ['line without price', cart(without('unitPrice')), ['lineItems[0].unitPrice']],
  ['price below 0', lineWith({ unitPrice: -1 }), ['lineItems[0].unitPrice']],
  ['price with an exponent', lineWith({ unitPrice: '1e2' }), ['body']],
  ['quantity 0', lineWith({ quantity: 0 }), ['lineItems[0].quantity']],
  ['quantity of 1.5', lineWith({ quantity: 1.5 }), ['lineItems[0].quantity']],
  ['discount above the price', lineWith({ discountAmount: 100.01 }), ['lineItems[0].discountAmount']],
  ['unknown product type', lineWith({ productType: 'VIRTUAL' }), ['body']],
  ['origin of a digital line', lineWith({ countryOfOrigin: 'CN' }), ['lineItems[0].countryOfOrigin']],
  ['hsCode of a digital line', lineWith({ hsCode: '610910' }), ['lineItems[0].hsCode']],
  ['hsCode of five digits', imported({ ...goods, hsCode: '61.091' }), ['lineItems[0].hsCode']],
  ['hsCode of fifteen digits', imported({ ...goods, hsCode: '610910001122334' }), ['lineItems[0].hsCode']],
  ['shipFrom without goods', cart({ shipFrom: { country: 'CN' } }), ['shipFrom']],
  ['shipFrom without country', imported(goods, { shipFrom: { city: 'X' } }), ['shipFrom.country']],
  ['no evidence', cart({ evidence: undefined }), ['evidence']],
  [
    'evidence of another country',
    cart({ evidence: { ...evidence, billingCountry: 'FR' } }),
    ['evidence.billingCountry'],
  ],
  ['evidence without address', cart({ evidence: { billingCountry: 'GB' } }), ['evidence.ipAddress']],
  ['Brazilian evidence of another country', cartIn('BR', 'BRL', { evidence }, brazilian), ['evidence.billingCountry']],
  ['unknown identifier type', identifier({ type: 'CPF', code: '52998224725' }), ['body']],
  ['identifier without code', identifier({ type: 'GB_VAT' }), ['customer.taxIdentifiers[0].code']],
  [
    'EU VAT number without prefix',
    identifier({ type: 'EU_VAT', code: '123456789' }),
    ['customer.taxIdentifiers[0].code'],
  ],
  [
    'Brazilian tax regime with a British tax identifier',
    identifier({ type: 'GB_VAT', code: '1', buyerTaxRegime: 'LUCRO_REAL' }),
    ['customer.taxIdentifiers[0].buyerTaxRegime'],
  ],
  [
    'shipping address outside the EU with a country only',
    cart({ lineItems: [goods] }, { shippingAddress: { country: 'GB' } }),
    ['customer.shippingAddress.line1', 'customer.shippingAddress.city', 'customer.shippingAddress.postalCode'],
  ],
  [
    'shipping address without country',
    cart({}, { shippingAddress: { line1: '1' } }),
    ['customer.shippingAddress.country'],
  ],
])("the sandbox's MoR refuses a tax calculation with 400 invalid_argument: %s", async (_name, body, fields) => {
  const reply = await calculate(body);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'invalid_argument', fields]);
});

it.each<[string, unknown]>([
  [
    'EU shipping address with a country only',
    cartIn('DE', 'EUR', { lineItems: [goods] }, { shippingAddress: { country: 'DE' } }),
  ],
  ['US without evidence', cartIn('US', 'USD', { address: { state: 'NY' } })],
  ['codes in lower case', cart({ currency: 'gbp' }, { billingAddress: { ...address, country: 'gb' } })],
  ['a VIES number', cart({}, { taxIdentifiers: [{ type: 'EU_VAT', code: 'DE 123456789' }] })],
  [
    'a Brazilian company',
    cartIn(
      'BR',
      'BRL',
      {},
      { taxIdentifiers: [{ type: 'BR_CNPJ', code: '11.222.333/0001-81', buyerTaxRegime: 'LUCRO_REAL' }] },
    ),
  ],
  ['a price of 0', cart({ lineItems: [{ ...line, unitPrice: 0 }] })],
])("the sandbox's MoR accepts a tax calculation: %s", async (_name, body) => {
  expect((await calculate(body)).status).toBe(201);
});

it.each<[string, unknown, number, string, string[]]>([
  [
    'goods without origin',
    imported({ ...goods, countryOfOrigin: undefined }, {}),
    400,
    'missing_country_of_origin',
    ['lineItems[0].countryOfOrigin'],
  ],
  [
    'goods without a text',
    imported({ ...goods, title: undefined }),
    400,
    'missing_classification_text',
    ['lineItems[0].title'],
  ],
  [
    'goods without shipping address',
    cart({ lineItems: [goods] }),
    400,
    'shipping_address_required',
    ['customer.shippingAddress'],
  ],
  ['a customer in Japan', cartIn('JP', 'JPY'), 409, 'region_not_activated', []],
  ['a customer in Antarctica', cartIn('AQ', 'USD'), 409, 'region_not_supported', []],
  [
    'goods to the US',
    cartIn(
      'US',
      'USD',
      { address: { state: 'NY' }, lineItems: [goods] },
      { shippingAddress: { country: 'US', state: 'NY', line1: '1', city: 'X', postalCode: '1' } },
    ),
    409,
    'physical_goods_not_supported',
    [],
  ],
  [
    'CPF with wrong check digits',
    cartIn('BR', 'BRL', {}, { ...brazilian, taxIdentifiers: [{ type: 'BR_CPF', code: '52998224724' }] }),
    422,
    'nfse_validation_failed',
    ['customer'],
  ],
  [
    'CNPJ without regime',
    cartIn('BR', 'BRL', {}, { taxIdentifiers: [{ type: 'BR_CNPJ', code: '11222333000181' }] }),
    422,
    'nfse_validation_failed',
    ['customer'],
  ],
  [
    'two CPFs',
    cartIn(
      'BR',
      'BRL',
      {},
      { ...brazilian, taxIdentifiers: [...brazilian.taxIdentifiers, ...brazilian.taxIdentifiers] },
    ),
    422,
    'nfse_validation_failed',
    ['customer'],
  ],
  [
    'Brazilian consumer without names',
    cartIn('BR', 'BRL', {}, { taxIdentifiers: brazilian.taxIdentifiers }),
    422,
    'nfse_validation_failed',
    ['customer', 'customer'],
  ],
  [
    'Brazil without identifiers, in euros',
    cartIn('BR', 'EUR', {}, { ...brazilian, taxIdentifiers: [] }),
    422,
    'nfse_validation_failed',
    ['customer', 'customer'],
  ],
  [
    'telecom in Brazil',
    cartIn('BR', 'BRL', { lineItems: [{ ...line, category: 'Telecom' }] }, brazilian),
    422,
    'nfse_validation_failed',
    ['customer'],
  ],
])("the sandbox's MoR refuses a tax calculation: %s", async (_name, body, status, code, fields) => {
  const reply = await calculate(body);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([status, code, fields]);
});

it.each([
  ['integration_credentials_invalid', 409],
  ['integration_not_configured', 409],
  ['tax_provider_unavailable', 502],
])("the sandbox's MoR answers a tax calculation with %s at a test's request", async (code, status) => {
  await mor.control('/tax', { fail: code });
  const reply = await calculate(cart());
  expect([reply.status, reply.body]).toEqual([status, { code, errors: [] }]);
  await mor.control('/tax', { fail: null });
  expect((await calculate(cart())).status).toBe(201);
});

it("the sandbox's MoR answers 400 invalid_state to a tax calculation without a region, and 401 without a token", async () => {
  const saved = [...mor.state.regions];
  mor.state.regions.clear();
  const reply = await calculate(cart());
  expect([reply.status, reply.body.code]).toEqual([400, 'invalid_state']);
  for (const [country, product] of saved) mor.state.regions.set(country, product);
  for (const who of ['nobody', 'partner'] as const) {
    const refused = await mor.call('POST', '/api/tax/calculations', cart(), who);
    expect([refused.status, refused.body.code]).toEqual([401, undefined]);
  }
});

it('the tests of tax calculations cover every documented answer of the MoR', () => {
  expect(mor.uncovered('tax').filter((row) => row.startsWith('POST /api/tax/calculations'))).toEqual([]);
});
