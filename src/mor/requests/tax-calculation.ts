// The request for a tax calculation (Document 2, POST /api/tax/calculations), field by field.
import {
  About,
  Country,
  Currency,
  Decimal,
  Filled,
  Nested,
  NestedList,
  OneOf,
  Optional,
  Text,
  TextList,
  WholeNumber,
} from './rules.js';

export class TaxIdentifier {
  @OneOf(['BR_CPF', 'BR_CNPJ', 'EU_VAT', 'GB_VAT', 'US_EIN']) type!: string;
  @Filled(64) code!: string;
  @Optional() @OneOf(['SIMPLES_NACIONAL', 'LUCRO_PRESUMIDO', 'LUCRO_REAL']) buyerTaxRegime?: string;
}

export class BillingAddress {
  @Filled() line1!: string;
  @Optional() @Text() line2?: string;
  @Filled() city!: string;
  @Optional() @Text() state?: string;
  @Filled() postalCode!: string;
  @Country() country!: string;
}

/** Which parts are needed depends on the country: see the conditions. */
export class ShippingAddress {
  @Optional() @Text() line1?: string;
  @Optional() @Text() line2?: string;
  @Optional() @Text() city?: string;
  @Optional() @Text() state?: string;
  @Optional() @Text() postalCode?: string;
  @Country() country!: string;
}

export class TaxCustomer {
  @Optional() @Text() merchantCustomerReference?: string;
  @Optional() @Text() firstName?: string;
  @Optional() @Text() lastName?: string;
  @Optional() @Text() legalName?: string;
  @Optional() @Text() email?: string;
  @Optional() @NestedList(() => TaxIdentifier, 0) taxIdentifiers?: TaxIdentifier[];
  @Nested(() => BillingAddress) billingAddress!: BillingAddress;
  @Optional() @Nested(() => ShippingAddress) shippingAddress?: ShippingAddress;
}

export class BrazilLine {
  @Filled() municipalServiceCode!: string;
}

export class LineJurisdiction {
  @Optional() @Nested(() => BrazilLine) br?: BrazilLine;
}

export class TaxLineRequest {
  @Filled() merchantLineItemReference!: string;
  @Filled() productCode!: string;
  @Optional() @Text() title?: string;
  @Optional() @Text() description?: string;
  @Decimal() unitPrice!: string | number;
  @Optional() @WholeNumber(1, 1_000_000_000) quantity?: number;
  @About('Per unit.')
  @Optional()
  @Decimal()
  discountAmount?: string | number;
  @About('Absent counts as `DIGITAL`.')
  @Optional()
  @OneOf(['PHYSICAL', 'DIGITAL'])
  productType?: string;
  @Optional() @Country() countryOfOrigin?: string;
  @Optional() @Filled(32) hsCode?: string;
  @Optional() @Text() category?: string;
  @Optional() @TextList() images?: string[];
  @Optional() @Nested(() => LineJurisdiction) jurisdiction?: LineJurisdiction;
}

export class ShipFrom {
  @Optional() @Text() line1?: string;
  @Optional() @Text() line2?: string;
  @Optional() @Text() city?: string;
  @Optional() @Text() state?: string;
  @Optional() @Text() postalCode?: string;
  @Country() country!: string;
}

export class TaxEvidence {
  @Country() billingCountry!: string;
  @Optional() @Filled(64) ipAddress?: string;
  @Optional() @Country() paymentMethodCountry?: string;
}

export class TaxCalculationRequest {
  @Currency() currency!: string;
  @Optional() @OneOf(['EXCLUSIVE', 'INCLUSIVE']) taxBehavior?: string;
  @Nested(() => TaxCustomer) customer!: TaxCustomer;
  @NestedList(() => TaxLineRequest, 1) lineItems!: TaxLineRequest[];
  @Optional() @Nested(() => ShipFrom) shipFrom?: ShipFrom;
  @Optional() @Nested(() => TaxEvidence) evidence?: TaxEvidence;
}
