// The requests of Document 2 about tax and the catalogue, field by field.
import {
  about,
  country,
  currency,
  decimal,
  decimalText,
  filled,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  shape,
  text,
  textList,
  uuid,
  type ValueOf,
  wholeNumber,
} from '../shape.js';

const taxIdentifier = shape('TaxIdentifier', {
  type: oneOf('BR_CPF', 'BR_CNPJ', 'EU_VAT', 'GB_VAT', 'US_EIN'),
  code: filled(64),
  buyerTaxRegime: optional(oneOf('SIMPLES_NACIONAL', 'LUCRO_PRESUMIDO', 'LUCRO_REAL')),
});

const billingAddress = shape('BillingAddress', {
  line1: filled(),
  line2: optional(text()),
  city: filled(),
  state: optional(text()),
  postalCode: filled(),
  country,
});

/** The country decides which parts an address needs. The MoR's answer names missing parts. */
const looseAddress = {
  line1: optional(text()),
  line2: optional(text()),
  city: optional(text()),
  state: optional(text()),
  postalCode: optional(text()),
  country,
};

export const taxCustomer = shape('TaxCustomer', {
  merchantCustomerReference: optional(text()),
  firstName: optional(text()),
  lastName: optional(text()),
  legalName: optional(text()),
  email: optional(text()),
  taxIdentifiers: optional(listOf(taxIdentifier, 0)),
  billingAddress,
  shippingAddress: optional(shape('ShippingAddress', looseAddress)),
});

const lineJurisdiction = shape('LineJurisdiction', {
  br: optional(shape('BrazilLine', { municipalServiceCode: filled() })),
});

const taxLine = shape('TaxLineRequest', {
  merchantLineItemReference: filled(),
  productCode: filled(),
  title: optional(text()),
  description: optional(text()),
  unitPrice: decimal,
  quantity: optional(wholeNumber(1, 1_000_000_000)),
  discountAmount: about('Per unit.', optional(decimal)),
  productType: about('Absent counts as `DIGITAL`.', optional(oneOf('PHYSICAL', 'DIGITAL'))),
  countryOfOrigin: optional(country),
  hsCode: optional(filled(32)),
  category: optional(text()),
  images: optional(textList()),
  jurisdiction: optional(lineJurisdiction),
});

export const taxEvidence = shape('TaxEvidence', {
  billingCountry: country,
  ipAddress: optional(filled(64)),
  paymentMethodCountry: optional(country),
});

export const taxCalculationRequest = shape('TaxCalculationRequest', {
  currency,
  taxBehavior: optional(oneOf('EXCLUSIVE', 'INCLUSIVE')),
  customer: taxCustomer,
  lineItems: listOf(taxLine, 1),
  shipFrom: optional(shape('ShipFrom', looseAddress)),
  evidence: optional(taxEvidence),
}).like({
  currency: 'EUR',
  customer: {
    email: 'ada@example.com',
    billingAddress: { line1: 'Weg 1', city: 'Ulm', postalCode: '89073', country: 'DE' },
  },
  lineItems: [{ merchantLineItemReference: 'line-1', productCode: 'pro', title: 'Pro', unitPrice: '25.13' }],
  evidence: { billingCountry: 'DE', ipAddress: '198.51.100.7' },
});
export type TaxCalculationRequest = ValueOf<typeof taxCalculationRequest>;

export const taxTransactionRequest = shape('TaxTransactionRequest', {
  taxCalculationId: uuid,
  merchantTransactionReference: about('Also the idempotency key.', filled(255)),
  payment: optional(
    shape('TransactionPayment', { processor: optional(text(255)), paymentReference: optional(text(255)) }),
  ),
}).like({
  taxCalculationId: '4e6f4a6e-0a5b-4c0e-9d4b-2d7c8f1a3b5c',
  merchantTransactionReference: 'order-1001',
});
export type TaxTransactionRequest = ValueOf<typeof taxTransactionRequest>;

const taxRefundLine = shape('TaxRefundLineRequest', {
  lineItemId: filled(255),
  refundLineItemReference: filled(255),
  refundReason: filled(),
  amount: about('Left out: everything that remains of the line.', optional(decimalText)),
});

export const taxRefundRequest = shape('TaxRefundRequest', {
  merchantRefundReference: about('Also the idempotency key.', filled(255)),
  refundDate: about('As 2026-01-31T12:00:00Z.', optional(filled(32))),
  taxBehavior: optional(oneOf('EXCLUSIVE', 'INCLUSIVE')),
  refundLineItems: listOf(taxRefundLine, 1),
}).like({
  merchantRefundReference: 'refund-1001',
  refundLineItems: [
    {
      lineItemId: '0c9b1c8e-51c6-4e0f-8f0b-6a1d2e3f4a5b',
      refundLineItemReference: 'refund-1001-1',
      refundReason: 'requested_by_customer',
    },
  ],
});
export type TaxRefundRequest = ValueOf<typeof taxRefundRequest>;

export const catalogueProductRequest = shape('CatalogueProductRequest', {
  productId: about('The key of the variant.', filled(255)),
  productGroupId: optional(filled(255)),
  title: filled(),
  requiresShipping: flag,
  taxable: optional(flag),
  description: optional(text()),
  // The document names the fields below without their limits.
  category: optional(text()),
  imageUrl: optional(text()),
  sku: optional(text()),
  hsCode: optional(text(32)),
  countryOfOrigin: optional(country),
  priceAmount: optional(number),
  priceCurrency: optional(currency),
}).like({ productId: 'pro-monthly', title: 'Pro', requiresShipping: false });
export type CatalogueProductRequest = ValueOf<typeof catalogueProductRequest>;
