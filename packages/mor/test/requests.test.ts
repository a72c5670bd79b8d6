// A check of each field before a request goes out. Rules between two fields are the MoR's.
import {
  catalogueProductRequest,
  type Checked,
  definitionsOf,
  describeBusinessRequest,
  initiateRequest,
  paymentLinkRequest,
  productChoice,
  proformaFromCalculationRequest,
  proformaRequest,
  taxCalculationRequest,
  taxRefundRequest,
  taxTransactionRequest,
  webhookEndpointRequest,
} from '@crossbill/mor';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';

const UUID = '3b1f0d52-6c1e-4d2a-9f57-2a4c7d1e8b90';

function address(country: string, more: object = {}) {
  return { line1: '1 Quay', city: 'Hull', postalCode: 'HU1', country, ...more };
}

function aCalculation(more: object = {}, country = 'GB', customer: object = {}) {
  return {
    currency: 'GBP',
    customer: { billingAddress: address(country), ...customer },
    lineItems: [{ merchantLineItemReference: 'l-1', productCode: 'guide', unitPrice: '10.00' }],
    evidence: { billingCountry: country, ipAddress: '192.0.2.1' },
    ...more,
  };
}

function fieldsOf(checked: Checked<unknown>): string[] {
  return checked.ok ? [] : checked.errors.map(({ field }) => field);
}

function codeOf(checked: Checked<unknown>): string | null {
  return checked.ok ? null : checked.code;
}

it('the MoR client accepts a complete tax calculation and keeps its fields', () => {
  const checked = taxCalculationRequest.check(aCalculation());
  expect(checked.ok && JSON.parse(JSON.stringify(checked.value))).toEqual(aCalculation());
});

it('the MoR client names the path of a wrong field in a tax calculation', () => {
  const line = { merchantLineItemReference: 'l-1', productCode: 'guide', unitPrice: '10.00' };
  const wrong: [object, string][] = [
    [{ currency: 'POUND' }, 'currency'],
    [{ taxBehavior: 'NET' }, 'taxBehavior'],
    [{ lineItems: [] }, 'lineItems'],
    [{ lineItems: 'x' }, 'lineItems'],
    [{ lineItems: ['x'] }, 'lineItems'],
    [{ lineItems: [line, { ...line, unitPrice: -1 }] }, 'lineItems[1].unitPrice'],
    [{ lineItems: [{ ...line, unitPrice: '1e3' }] }, 'lineItems[0].unitPrice'],
    [{ lineItems: [{ ...line, unitPrice: 1e21 }] }, 'lineItems[0].unitPrice'],
    [{ lineItems: [{ ...line, unitPrice: '１０' }] }, 'lineItems[0].unitPrice'],
    [{ lineItems: [{ ...line, quantity: 0 }] }, 'lineItems[0].quantity'],
    [{ lineItems: [{ ...line, quantity: 1.5 }] }, 'lineItems[0].quantity'],
    [{ lineItems: [{ ...line, quantity: '2' }] }, 'lineItems[0].quantity'],
    [{ lineItems: [{ ...line, productCode: ' ' }] }, 'lineItems[0].productCode'],
    [{ lineItems: [{ ...line, jurisdiction: { br: {} } }] }, 'lineItems[0].jurisdiction.br.municipalServiceCode'],
    [{ customer: [] }, 'customer'],
    [{ customer: {} }, 'customer.billingAddress'],
    [{ customer: { billingAddress: { ...address('GB'), city: undefined } } }, 'customer.billingAddress.city'],
    [{ shipFrom: {} }, 'shipFrom.country'],
    [
      { customer: { billingAddress: address('GB'), taxIdentifiers: [{ type: 'CPF', code: '1' }] } },
      'customer.taxIdentifiers[0].type',
    ],
  ];
  for (const [more, field] of wrong) {
    const checked = taxCalculationRequest.check(aCalculation(more));
    expect([more, fieldsOf(checked), codeOf(checked)]).toEqual([more, [field], 'invalid_argument']);
  }
});

it('the MoR client refuses unknown fields of a tax calculation at every depth', () => {
  expect(fieldsOf(taxCalculationRequest.check(aCalculation({ status: 'paid' })))).toEqual(['status']);
  const line = { merchantLineItemReference: 'l', productCode: 'g', unitPrice: 1, refunded: true };
  expect(fieldsOf(taxCalculationRequest.check(aCalculation({ lineItems: [line] })))).toEqual(['lineItems[0].refunded']);
  const sly: unknown = JSON.parse('{"__proto__":{"status":"paid"},"constructor":{"a":1}}');
  expect(fieldsOf(taxCalculationRequest.check(sly)).slice(0, 2)).toEqual(['__proto__', 'constructor']);
  expect(({} as Record<string, unknown>).status).toBeUndefined();
  const inner: unknown = JSON.parse('{"merchantLineItemReference":"l","productCode":"g","unitPrice":1,"__proto__":1}');
  expect(fieldsOf(taxCalculationRequest.check(aCalculation({ lineItems: [inner] })))).toEqual([
    'lineItems[0].__proto__',
  ]);
});

it('the MoR client leaves null fields of a tax calculation out', () => {
  const checked = taxCalculationRequest.check(aCalculation({ shipFrom: null, taxBehavior: null }));
  expect(checked.ok && 'shipFrom' in checked.value).toBe(false);
});

it('the MoR client accepts or refuses any JSON value as a tax calculation and never throws', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void taxCalculationRequest.check(value)));
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('customer', 'lineItems', 'evidence', 'shipFrom'), (value, name) => {
      taxCalculationRequest.check(aCalculation({ [name]: value }));
    }),
  );
  let deep: unknown = {};
  for (let n = 0; n < 50_000; n += 1) deep = { deep };
  expect(taxCalculationRequest.check(deep).ok).toBe(false);
});

it('the MoR client refuses a tax transaction without a UUID and a reference', () => {
  expect(taxTransactionRequest.check({ taxCalculationId: UUID, merchantTransactionReference: 'in_1' }).ok).toBe(true);
  expect(fieldsOf(taxTransactionRequest.check({ taxCalculationId: 'x', merchantTransactionReference: '' }))).toEqual([
    'taxCalculationId',
    'merchantTransactionReference',
  ]);
});

it('the MoR client refuses a tax refund without a line item', () => {
  const line = { lineItemId: 'l', refundLineItemReference: 'rl', refundReason: 'returned', amount: '1.00' };
  expect(taxRefundRequest.check({ merchantRefundReference: 'r', refundLineItems: [line] }).ok).toBe(true);
  expect(fieldsOf(taxRefundRequest.check({ merchantRefundReference: 'r', refundLineItems: [] }))).toEqual([
    'refundLineItems',
  ]);
});

it('the MoR client refuses a catalogue product without the field requiresShipping', () => {
  expect(
    catalogueProductRequest.check({ productId: 'p', title: 't', requiresShipping: false, priceAmount: 9.5 }).ok,
  ).toBe(true);
  expect(fieldsOf(catalogueProductRequest.check({ productId: 'p', title: 't' }))).toEqual(['requiresShipping']);
});

it('the MoR client refuses a proforma invoice with an impossible date or a numeric amount', () => {
  const proforma = {
    jurisdiction: 'GB',
    total: { amount: '10.00', currency: 'GBP' },
    recipient: {
      legalName: 'Heron Ltd',
      address: { line1: '1', locality: 'Hull', postalCode: 'HU1', country: 'GB' },
      taxIdentifiers: [{ type: 'VAT', code: '1', country: 'GB' }],
      contact: { email: 'a@heron.example' },
    },
    provider: { providerName: 'Heron', providerCountry: 'GB' },
    lineItems: [{ description: 'd', quantity: '1', unitPrice: { amount: '10.00', currency: 'GBP' } }],
    issueDate: '2026-03-01',
    dueDate: '2026-03-31',
  };
  expect(proformaRequest.check(proforma).ok).toBe(true);
  expect(fieldsOf(proformaRequest.check({ ...proforma, issueDate: '2026-02-30' }))).toEqual(['issueDate']);
  expect(fieldsOf(proformaRequest.check({ ...proforma, total: { amount: 10, currency: 'GBP' } }))).toEqual([
    'total.amount',
  ]);
  const cited = { taxCalculationId: UUID, jurisdiction: 'GB', dueDate: '2026-03-31' };
  expect(proformaFromCalculationRequest.check(cited).ok).toBe(true);
  expect(fieldsOf(proformaFromCalculationRequest.check({ ...cited, notices: [' '] }))).toEqual(['notices']);
  expect(fieldsOf(proformaFromCalculationRequest.check({ ...cited, provider: {} }))).toEqual(['provider.providerName']);
});

it('the MoR client refuses a payment link with an amount of zero or no lifetime', () => {
  const link = {
    jurisdiction: 'GB',
    amount: { amount: '29.90', currency: 'EUR' },
    returnUrl: 'https://heron.example/back',
    idempotencyKey: 'k',
  };
  expect(paymentLinkRequest.check(link).ok).toBe(true);
  const free = paymentLinkRequest.check({ ...link, amount: { amount: '0.00', currency: 'EUR' } });
  expect([codeOf(free), fieldsOf(free)]).toEqual(['validation_error', ['amount.amount']]);
  expect(fieldsOf(paymentLinkRequest.check({ ...link, expiresIn: 0 }))).toEqual(['expiresIn']);
});

it('the MoR client refuses a webhook endpoint without an address or with wrong event types', () => {
  expect(webhookEndpointRequest.check({ url: 'https://heron.example/h', events: ['payment.captured'] }).ok).toBe(true);
  expect(fieldsOf(webhookEndpointRequest.check({ url: ' ', events: [7] }))).toEqual(['url', 'events']);
});

it('the MoR client names each missing or wrong field of an onboarding', () => {
  const company = {
    legalName: 'Heron Ltd',
    website: 'https://heron.example',
    taxId: 'GB1',
    registrationNumber: '1',
    jurisdiction: 'GB',
    registeredAddress: { line1: '1', city: 'Hull', postalCode: 'HU1', country: 'GB' },
  };
  const request = { merchantReference: 'shop-1', productCode: 'tor', company, merchantContext: { a: 'b' } };
  expect(initiateRequest.check(request).ok).toBe(true);
  const noCity = { ...company, registeredAddress: { ...company.registeredAddress, city: ' ' } };
  const checked = initiateRequest.check({ ...request, company: noCity });
  expect([codeOf(checked), fieldsOf(checked)]).toEqual(['invalid_argument', ['company.registeredAddress.city']]);
  expect(fieldsOf(initiateRequest.check({ ...request, company: { ...company, gmvTier: 'HUGE' } }))).toEqual([
    'company.gmvTier',
  ]);
  expect(fieldsOf(initiateRequest.check({ ...request, mode: 'HOSTED' }))).toEqual(['mode']);
  expect(fieldsOf(initiateRequest.check({ ...request, productCode: 'mro' }))).toEqual(['productCode']);
  expect(fieldsOf(initiateRequest.check({ ...request, merchantContext: { a: 1 } }))).toEqual(['merchantContext']);
  expect(fieldsOf(productChoice.check({ code: 'tor', regions: [] }))).toEqual(['regions']);
  expect(fieldsOf(describeBusinessRequest.check({ checkoutUrl: 'https://heron.example' }))).toEqual(['checkoutUrl']);
});

it('the JSON Schema of a request defines each object inside the request, and lists the required fields', () => {
  const schemas = definitionsOf([taxRefundRequest]);
  expect(Object.keys(schemas).sort()).toEqual(['TaxRefundLineRequest', 'TaxRefundRequest']);
  expect(schemas['TaxRefundRequest']).toMatchObject({
    type: 'object',
    required: ['merchantRefundReference', 'refundLineItems'],
    properties: {
      merchantRefundReference: { type: 'string', maxLength: 255, description: 'Also the idempotency key.' },
      refundLineItems: { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/TaxRefundLineRequest' } },
    },
  });
  expect(taxRefundRequest.partial('Part').definition.required).toBeUndefined();
});
