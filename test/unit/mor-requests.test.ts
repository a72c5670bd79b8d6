// Requests are checked before they are sent: every field, and the conditions between fields that Document 2 states.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkCatalogueProduct } from '../../src/mor/requests/catalogue.js';
import { checkTaxCalculation } from '../../src/mor/requests/check-tax-calculation.js';
import { type Checked } from '../../src/mor/requests/check.js';
import { checkDescribeBusiness, checkInitiate, checkProductChoice } from '../../src/mor/requests/onboarding.js';
import { checkPaymentLink } from '../../src/mor/requests/payment-link.js';
import { checkProforma, checkProformaFromCalculation } from '../../src/mor/requests/proforma.js';
import { checkTaxRefund, checkTaxTransaction } from '../../src/mor/requests/tax-transaction.js';
import { checkWebhookEndpoint } from '../../src/mor/requests/webhook-endpoint.js';

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

function physical(more: object = {}) {
  const goods = { productType: 'PHYSICAL', title: 'Guide', countryOfOrigin: 'FR', ...more };
  return [{ merchantLineItemReference: 'l-1', productCode: 'guide', unitPrice: 10, ...goods }];
}

function fieldsOf(checked: Checked<unknown>): string[] {
  return checked.ok ? [] : checked.errors.map(({ field }) => field);
}

function codeOf(checked: Checked<unknown>): string | null {
  return checked.ok ? null : checked.code;
}

describe('a tax calculation', () => {
  it('passes when it is complete, and keeps what was sent', () => {
    const checked = checkTaxCalculation(aCalculation());
    expect(checked.ok && JSON.parse(JSON.stringify(checked.value))).toEqual(aCalculation());
  });

  it('names a wrong field by its path', () => {
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
      [{ lineItems: [{ ...line, hsCode: '490199' }] }, 'lineItems[0].hsCode'],
      [{ lineItems: [{ ...line, countryOfOrigin: 'FR' }] }, 'lineItems[0].countryOfOrigin'],
      [{ lineItems: [{ ...line, jurisdiction: { br: {} } }] }, 'lineItems[0].jurisdiction.br.municipalServiceCode'],
      [{ customer: [] }, 'customer'],
      [{ customer: {} }, 'customer.billingAddress'],
      [{ customer: { billingAddress: { ...address('GB'), city: undefined } } }, 'customer.billingAddress.city'],
      [{ shipFrom: { country: 'FR' } }, 'shipFrom'],
      [{ shipFrom: {} }, 'shipFrom.country'],
      [{ evidence: undefined }, 'evidence'],
      [{ evidence: { billingCountry: 'FR', ipAddress: '192.0.2.1' } }, 'evidence.billingCountry'],
      [{ evidence: { billingCountry: 'GB' } }, 'evidence.ipAddress'],
      [
        { customer: { billingAddress: address('GB'), taxIdentifiers: [{ type: 'CPF', code: '1' }] } },
        'customer.taxIdentifiers[0].type',
      ],
      [
        { customer: { billingAddress: address('GB'), taxIdentifiers: [{ type: 'EU_VAT', code: '123' }] } },
        'customer.taxIdentifiers[0].code',
      ],
    ];
    for (const [more, field] of wrong) {
      const checked = checkTaxCalculation(aCalculation(more));
      expect([more, fieldsOf(checked), codeOf(checked)]).toEqual([more, [field], 'invalid_argument']);
    }
  });

  it('needs a state for billing in US and CA, and no evidence for US', () => {
    for (const country of ['US', 'CA']) {
      const checked = checkTaxCalculation(aCalculation({}, country));
      expect(fieldsOf(checked)).toEqual(['customer.billingAddress.state']);
    }
    const us = { billingAddress: address('US', { state: 'NY' }) };
    expect(checkTaxCalculation(aCalculation({ evidence: undefined }, 'US', us)).ok).toBe(true);
  });

  it('needs exactly one CPF or CNPJ in Brazil, a name and BRL for a person, a regime for a company', () => {
    const cpf = { type: 'BR_CPF', code: '529.982.247-25' };
    const cnpj = { type: 'BR_CNPJ', code: '11.222.333/0001-81' };
    const inBrazil = (taxIdentifiers: object[], more: object = {}, rest: object = {}) =>
      fieldsOf(
        checkTaxCalculation(
          aCalculation({ currency: 'BRL', evidence: undefined, ...rest }, 'BR', { taxIdentifiers, ...more }),
        ),
      );
    const named = { firstName: 'Ana', lastName: 'Lima' };
    expect(inBrazil([cpf], named)).toEqual([]);
    expect(inBrazil([cpf, { type: 'US_EIN', code: '1' }], named)).toEqual([]);
    expect(inBrazil([], named)).toEqual(['customer.taxIdentifiers']);
    expect(inBrazil([cpf, { ...cnpj, buyerTaxRegime: 'LUCRO_REAL' }], named)).toEqual(['customer.taxIdentifiers']);
    expect(inBrazil([cpf])).toEqual(['customer.firstName', 'customer.lastName']);
    expect(inBrazil([cpf], named, { currency: 'USD' })).toEqual(['currency']);
    expect(inBrazil([cnpj])).toEqual(['customer.taxIdentifiers[0].buyerTaxRegime']);
    expect(inBrazil([{ ...cnpj, buyerTaxRegime: 'SIMPLES_NACIONAL' }])).toEqual([]);
    expect(inBrazil([{ ...cpf, buyerTaxRegime: 'LUCRO_REAL' }], named)).toEqual([
      'customer.taxIdentifiers[0].buyerTaxRegime',
    ]);
    expect(inBrazil([cpf], named, { evidence: { billingCountry: 'BR' } })).toEqual([]);
    expect(inBrazil([cpf], named, { evidence: { billingCountry: 'PT' } })).toEqual(['evidence.billingCountry']);
  });

  it('needs an address to ship to for goods, with the parts its country asks for', () => {
    const missing = checkTaxCalculation(aCalculation({ lineItems: physical() }));
    expect([codeOf(missing), fieldsOf(missing)]).toEqual(['shipping_address_required', ['customer.shippingAddress']]);
    const shipped = (shippingAddress: object) =>
      fieldsOf(checkTaxCalculation(aCalculation({ lineItems: physical() }, 'GB', { shippingAddress })));
    expect(shipped({ country: 'DE' })).toEqual([]);
    expect(shipped(address('GB'))).toEqual([]);
    expect(shipped({ country: 'NO' })).toEqual(
      ['line1', 'city', 'postalCode'].map((part) => `customer.shippingAddress.${part}`),
    );
    expect(shipped(address('CA'))).toEqual(['customer.shippingAddress.state']);
    expect(shipped({ line1: 'x' })).toEqual(['customer.shippingAddress.country']);
  });

  it('needs origin and text for goods that cross a border, under the codes of the document', () => {
    const crossing = (more: object) =>
      checkTaxCalculation(
        aCalculation({ lineItems: physical(more), shipFrom: { country: 'FR' } }, 'GB', {
          shippingAddress: address('GB'),
        }),
      );
    expect(crossing({}).ok).toBe(true);
    expect(codeOf(crossing({ countryOfOrigin: undefined }))).toBe('missing_country_of_origin');
    expect(fieldsOf(crossing({ countryOfOrigin: undefined }))).toEqual(['lineItems[0].countryOfOrigin']);
    expect(codeOf(crossing({ title: undefined }))).toBe('missing_classification_text');
    expect(crossing({ title: undefined, description: 'A book' }).ok).toBe(true);
    expect(crossing({ hsCode: '4901.99.0010' }).ok).toBe(true);
    for (const hsCode of ['49019', '490199001012345', '4901AB'])
      expect(fieldsOf(crossing({ hsCode }))).toEqual(['lineItems[0].hsCode']);
  });

  it('refuses fields that nobody checked, at every depth', () => {
    expect(fieldsOf(checkTaxCalculation(aCalculation({ status: 'paid' })))).toEqual(['status']);
    const line = { merchantLineItemReference: 'l', productCode: 'g', unitPrice: 1, refunded: true };
    expect(fieldsOf(checkTaxCalculation(aCalculation({ lineItems: [line] })))).toEqual(['lineItems[0].refunded']);
    const sly: unknown = JSON.parse('{"__proto__":{"status":"paid"},"constructor":{"a":1}}');
    expect(fieldsOf(checkTaxCalculation(sly))).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).status).toBeUndefined();
    const inner: unknown = JSON.parse(
      '{"merchantLineItemReference":"l","productCode":"g","unitPrice":1,"__proto__":1}',
    );
    expect(fieldsOf(checkTaxCalculation(aCalculation({ lineItems: [inner] })))).toEqual(['lineItems[0].__proto__']);
  });

  it('drops nulls, which count as left out', () => {
    const checked = checkTaxCalculation(aCalculation({ shipFrom: null, taxBehavior: null }));
    expect(checked.ok && 'shipFrom' in checked.value).toBe(false);
  });

  it('never throws, whatever comes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void checkTaxCalculation(value)));
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('customer', 'lineItems', 'evidence', 'shipFrom'), (value, name) => {
        checkTaxCalculation(aCalculation({ [name]: value }));
      }),
    );
    let deep: unknown = {};
    for (let n = 0; n < 50_000; n += 1) deep = { deep };
    expect(checkTaxCalculation(deep).ok).toBe(false);
  });
});

describe('the other requests', () => {
  const now = new Date('2026-03-01T12:00:00Z');

  it('a transaction names a uuid and a reference', () => {
    expect(checkTaxTransaction({ taxCalculationId: UUID, merchantTransactionReference: 'in_1' }).ok).toBe(true);
    expect(fieldsOf(checkTaxTransaction({ taxCalculationId: 'x', merchantTransactionReference: '' }))).toEqual([
      'taxCalculationId',
      'merchantTransactionReference',
    ]);
  });

  it('a tax refund is dated no later than today', () => {
    const refund = (refundDate: string) => ({
      merchantRefundReference: 'r',
      refundDate,
      refundLineItems: [{ lineItemId: 'l', refundLineItemReference: 'rl', refundReason: 'returned', amount: '1.00' }],
    });
    expect(checkTaxRefund(refund('2026-03-01T23:59:59Z'), now).ok).toBe(true);
    for (const late of ['2026-03-02T00:00:00Z', '2026-03-01', '2026-02-30T00:00:00Z', '2026-03-01T24:00:00Z']) {
      expect(fieldsOf(checkTaxRefund(refund(late), now))).toEqual(['refundDate']);
    }
    expect(fieldsOf(checkTaxRefund({ merchantRefundReference: 'r', refundLineItems: [] }, now))).toEqual([
      'refundLineItems',
    ]);
  });

  it('a product says whether it is shipped', () => {
    expect(checkCatalogueProduct({ productId: 'p', title: 't', requiresShipping: false, priceAmount: 9.5 }).ok).toBe(
      true,
    );
    expect(fieldsOf(checkCatalogueProduct({ productId: 'p', title: 't' }))).toEqual(['requiresShipping']);
  });

  it('a proforma invoice is complete and not due before it is issued', () => {
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
    expect(checkProforma(proforma).ok).toBe(true);
    expect(fieldsOf(checkProforma({ ...proforma, dueDate: '2026-02-28' }))).toEqual(['dueDate']);
    expect(fieldsOf(checkProforma({ ...proforma, issueDate: '2026-02-30' }))).toEqual(['issueDate']);
    expect(fieldsOf(checkProforma({ ...proforma, total: { amount: 10, currency: 'GBP' } }))).toEqual(['total.amount']);
    const cited = { taxCalculationId: UUID, jurisdiction: 'GB', dueDate: '2026-03-31' };
    expect(checkProformaFromCalculation(cited).ok).toBe(true);
    expect(fieldsOf(checkProformaFromCalculation({ ...cited, notices: [' '] }))).toEqual(['notices']);
    expect(fieldsOf(checkProformaFromCalculation({ ...cited, provider: {} }))).toEqual(['provider.providerName']);
  });

  it('a payment link has a positive amount and its key in the body', () => {
    const link = {
      jurisdiction: 'GB',
      amount: { amount: '29.90', currency: 'EUR' },
      returnUrl: 'https://heron.example/back',
      idempotencyKey: 'k',
    };
    expect(checkPaymentLink(link).ok).toBe(true);
    const free = checkPaymentLink({ ...link, amount: { amount: '0.00', currency: 'EUR' } });
    expect([codeOf(free), fieldsOf(free)]).toEqual(['validation_error', ['amount.amount']]);
    expect(fieldsOf(checkPaymentLink({ ...link, expiresIn: 0 }))).toEqual(['expiresIn']);
  });

  it('a webhook address is https, or this machine while rehearsing', () => {
    const of = (url: string, events = ['payment.captured']) => checkWebhookEndpoint({ url, events });
    for (const url of [
      'https://heron.example/h',
      'http://127.0.0.1:3000/h',
      'http://localhost:3000/h',
      'http://[::1]:1/h',
    ]) {
      expect(of(url).ok).toBe(true);
    }
    for (const url of ['http://heron.example/h', 'ftp://heron.example', 'heron', 'https://a:b@heron.example']) {
      expect(codeOf(of(url))).toBe('invalid_url');
    }
    expect(codeOf(of('https://heron.example/h', []))).toBe('unknown_event');
    expect(codeOf(of('https://heron.example/h', ['payment.captured', 'no.such']))).toBe('unknown_event');
  });

  it('an onboarding names each field that is missing', () => {
    const company = {
      legalName: 'Heron Ltd',
      website: 'https://heron.example',
      taxId: 'GB1',
      registrationNumber: '1',
      jurisdiction: 'GB',
      registeredAddress: { line1: '1', city: 'Hull', postalCode: 'HU1', country: 'GB' },
    };
    const request = { merchantReference: 'shop-1', productCode: 'tor', company, merchantContext: { a: 'b' } };
    expect(checkInitiate(request).ok).toBe(true);
    const noCity = { ...company, registeredAddress: { ...company.registeredAddress, city: ' ' } };
    const checked = checkInitiate({ ...request, company: noCity });
    expect([codeOf(checked), fieldsOf(checked)]).toEqual(['invalid_argument', ['company.registeredAddress.city']]);
    expect(fieldsOf(checkInitiate({ ...request, company: { ...company, gmvTier: 'HUGE' } }))).toEqual([
      'company.gmvTier',
    ]);
    expect(fieldsOf(checkInitiate({ ...request, mode: 'HOSTED' }))).toEqual(['mode']);
    expect(fieldsOf(checkInitiate({ ...request, productCode: 'mro' }))).toEqual(['productCode']);
    expect(fieldsOf(checkInitiate({ ...request, merchantContext: { a: 1 } }))).toEqual(['merchantContext']);
    expect(fieldsOf(checkProductChoice({ code: 'tor', regions: [] }))).toEqual(['regions']);
    expect(fieldsOf(checkDescribeBusiness({ checkoutUrl: 'https://heron.example' }))).toEqual(['checkoutUrl']);
  });
});
