// The body of a tax calculation (Document 2, POST /api/tax/calculations): parses and checks it.
import { isIP } from 'node:net';
import { isInEu } from './countries.js';
import { type Decimal, minorOf } from './decimals.js';
import { normalizeHsCode } from './duty.js';
import { Fields, compact } from './fields.js';
import { refusal, refuse } from './refusal.js';
import {
  BUYER_TAX_REGIMES,
  TAX_IDENTIFIER_TYPES,
  type TaxIdentifier,
  brazilianIdentifierProblems,
  isViesNumber,
} from './tax-identifiers.js';

export type Address = { readonly [part: string]: string | undefined; readonly country: string };

export type TaxLine = {
  readonly reference: string;
  readonly productCode: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly images: readonly string[] | undefined;
  readonly category: string | undefined;
  readonly unitPrice: Decimal;
  readonly quantity: bigint;
  readonly discount: Decimal; // per unit
  readonly physical: boolean;
  readonly countryOfOrigin: string | undefined;
  readonly hsCode: string | undefined; // normalised
};

export type TaxRequest = {
  readonly currency: string;
  readonly inclusive: boolean;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly legalName: string | undefined;
  readonly email: string | undefined;
  readonly customerReference: string | undefined;
  readonly taxIdentifiers: readonly TaxIdentifier[];
  readonly billingAddress: Address;
  readonly shippingAddress: Address | undefined;
  readonly shipFrom: Address | undefined;
  readonly lines: readonly TaxLine[];
  /** Unchanged as sent; undefined if not sent. */
  readonly evidence: Readonly<Record<string, unknown>> | undefined;
};

const filled = (text: string | undefined): boolean => text !== undefined && text.trim() !== '';

/** The destination of the order: the shipping address, or without one the billing address. */
function destinationOf(request: TaxRequest): Address {
  return request.shippingAddress ?? request.billingAddress;
}

/**
 * The address that decides the tax on a line. Goods: the destination. Everything else: in the US the destination,
 * elsewhere the billing address.
 */
export function placeOf(request: TaxRequest, line: TaxLine): Address {
  const destination = destinationOf(request);
  return line.physical || destination.country === 'US' ? destination : request.billingAddress;
}

/** The country whose rules apply: the place of the first line with goods, or else of the first line. */
export function jurisdictionOf(request: TaxRequest): string {
  const line = request.lines.find(({ physical }) => physical) ?? request.lines[0];
  return line === undefined ? request.billingAddress.country : placeOf(request, line).country;
}

/** True if the order is shipped from another country than its destination (Document 2, `shipFrom`). */
export function isCrossBorder(request: TaxRequest): boolean {
  return request.shipFrom !== undefined && request.shipFrom.country !== destinationOf(request).country;
}

function readAddress(fields: Fields, needed: (country: string) => readonly string[]): Address {
  const country = fields.country('country');
  for (const name of needed(country)) fields.text(name);
  if (country === 'US' || country === 'CA') fields.text('state');
  const part = (name: string): string | undefined => fields.optionalText(name);
  return {
    line1: part('line1'),
    line2: part('line2'),
    city: part('city'),
    state: part('state'),
    postalCode: part('postalCode'),
    country,
  };
}

function readIdentifier(fields: Fields): TaxIdentifier {
  if (!fields.has('type')) fields.text('type');
  const type = fields.optionalWord('type', TAX_IDENTIFIER_TYPES) ?? 'GB_VAT';
  const code = fields.text('code');
  const buyerTaxRegime = fields.optionalWord('buyerTaxRegime', BUYER_TAX_REGIMES);
  if (buyerTaxRegime !== undefined && type !== 'BR_CNPJ') fields.problem('buyerTaxRegime', 'goes with BR_CNPJ only');
  if (type === 'EU_VAT' && code !== '' && !isViesNumber(code)) {
    fields.problem('code', 'must be a VIES number: two letters of the member state, then the number');
  }
  return { type, code, buyerTaxRegime };
}

function readLine(fields: Fields, currency: string): TaxLine {
  const unitPrice = fields.decimal('unitPrice');
  if (unitPrice.digits < 0n) fields.problem('unitPrice', 'must be 0 or more');
  const quantity = fields.optionalNumber('quantity') ?? 1;
  const whole = Number.isSafeInteger(quantity) && quantity > 0;
  if (!whole) fields.problem('quantity', 'must be a whole number above 0');
  const discount = fields.optionalDecimal('discountAmount') ?? { digits: 0n, scale: 0 };
  if (discount.digits < 0n) fields.problem('discountAmount', 'must be 0 or more');
  else if (
    unitPrice.digits >= 0n &&
    minorOf(discount, 1_000_000n, currency) > minorOf(unitPrice, 1_000_000n, currency)
  ) {
    fields.problem('discountAmount', 'is more than the unit price');
  }
  const physical = fields.optionalWord('productType', ['PHYSICAL', 'DIGITAL']) === 'PHYSICAL';
  const countryOfOrigin = fields.optionalCountry('countryOfOrigin');
  const hsCodeSent = fields.optionalText('hsCode');
  const hsCode = hsCodeSent === undefined ? undefined : normalizeHsCode(hsCodeSent);
  if (hsCode === null) fields.problem('hsCode', 'must have 6 to 14 digits, dots allowed');
  if (!physical && fields.has('countryOfOrigin')) fields.problem('countryOfOrigin', 'goes with PHYSICAL only');
  if (!physical && hsCodeSent !== undefined) fields.problem('hsCode', 'goes with PHYSICAL only');
  fields.optionalObject('jurisdiction')?.optionalObject('br')?.text('municipalServiceCode');
  return {
    reference: fields.text('merchantLineItemReference'),
    productCode: fields.text('productCode'),
    title: fields.optionalText('title'),
    description: fields.optionalText('description'),
    images: fields.optionalTexts('images'),
    category: fields.optionalText('category'),
    unitPrice,
    quantity: BigInt(whole ? quantity : 1),
    discount,
    physical,
    countryOfOrigin,
    hsCode: hsCode ?? undefined,
  };
}

/** Reads the evidence. Outside the US and Brazil it is required. Outside the US it must name the billing country. */
function readEvidence(body: Fields, billingCountry: string): Readonly<Record<string, unknown>> | undefined {
  const free = billingCountry === 'US' || billingCountry === 'BR' || billingCountry === '';
  const fields = free ? body.optionalObject('evidence') : body.object('evidence');
  if (fields === undefined) return undefined;
  const country = free ? fields.optionalCountry('billingCountry') : fields.country('billingCountry');
  const ipAddress = free ? fields.optionalText('ipAddress') : fields.text('ipAddress');
  if (country && billingCountry && country !== billingCountry && billingCountry !== 'US') {
    fields.problem('billingCountry', `must be the billing country, ${billingCountry}`);
  }
  if (billingCountry === 'BR' && country === undefined) fields.problem('billingCountry', 'must be BR');
  if (ipAddress !== undefined && ipAddress !== '' && isIP(ipAddress) === 0)
    fields.problem('ipAddress', 'must be an IP address');
  const paymentMethodCountry = fields.optionalCountry('paymentMethodCountry');
  return compact({ billingCountry: country, ipAddress, paymentMethodCountry });
}

/** Checks all rules of the request table for single fields and pairs of fields. Throws 400 with each wrong field. */
export function parseTaxRequest(value: unknown): TaxRequest {
  const body = Fields.of(value);
  const currency = body.currency('currency');
  const inclusive = body.optionalWord('taxBehavior', ['EXCLUSIVE', 'INCLUSIVE']) === 'INCLUSIVE';
  const customer = body.object('customer');
  const billing = customer?.object('billingAddress');
  const billingAddress =
    billing === undefined ? { country: '' } : readAddress(billing, () => ['line1', 'city', 'postalCode']);
  const shipping = customer?.optionalObject('shippingAddress');
  const outsideEu = (country: string): readonly string[] =>
    country === '' || isInEu(country) ? [] : ['line1', 'city', 'postalCode'];
  const lines = body.objects('lineItems').map((fields) => readLine(fields, currency || 'EUR'));
  const shipFrom = body.optionalObject('shipFrom');
  if (shipFrom !== undefined && !lines.some((line) => line.physical)) {
    body.problem('shipFrom', 'needs at least one PHYSICAL line');
  }
  const request: TaxRequest = {
    currency,
    inclusive,
    customerReference: customer?.optionalText('merchantCustomerReference'),
    firstName: customer?.optionalText('firstName'),
    lastName: customer?.optionalText('lastName'),
    legalName: customer?.optionalText('legalName'),
    email: customer?.optionalText('email'),
    taxIdentifiers: customer?.optionalObjects('taxIdentifiers').map(readIdentifier) ?? [],
    billingAddress,
    shippingAddress: shipping === undefined ? undefined : readAddress(shipping, outsideEu),
    lines,
    shipFrom: shipFrom === undefined ? undefined : { ...plainAddress(shipFrom), country: shipFrom.country('country') },
    evidence: readEvidence(body, billingAddress.country),
  };
  body.problems.throwAs('invalid_argument');
  checkGoods(request);
  return request;
}

function plainAddress(fields: Fields): Record<string, string | undefined> {
  const names = ['line1', 'line2', 'city', 'state', 'postalCode'];
  return Object.fromEntries(names.map((name) => [name, fields.optionalText(name)]));
}

/**
 * An order with goods needs a shipping address. Across a border, each line of goods also needs a country of origin, and
 * a title or description for the classification.
 */
function checkGoods(request: TaxRequest): void {
  if (request.lines.some((line) => line.physical) && request.shippingAddress === undefined) {
    throw refuse(400, 'shipping_address_required', 'customer.shippingAddress', 'is required for PHYSICAL lines');
  }
  if (!isCrossBorder(request)) return;
  const lacking = (field: string, lacks: (line: TaxLine) => boolean): { field: string; message: string }[] =>
    request.lines.flatMap((line, index) =>
      line.physical && lacks(line)
        ? [{ field: `lineItems[${index}].${field}`, message: 'is required on a cross-border order' }]
        : [],
    );
  const origins = lacking('countryOfOrigin', (line) => line.countryOfOrigin === undefined);
  if (origins.length > 0) throw refusal(400, 'missing_country_of_origin', origins);
  const texts = lacking('title', (line) => !filled(line.title) && !filled(line.description));
  if (texts.length > 0) throw refusal(400, 'missing_classification_text', texts);
}

/** True for a Brazilian buyer without a CNPJ. */
export function isBrazilianConsumer(request: TaxRequest): boolean {
  return request.billingAddress.country === 'BR' && !request.taxIdentifiers.some(({ type }) => type === 'BR_CNPJ');
}

/**
 * Checks the fields for the Brazilian service tax, before payment. Throws 422 `nfse_validation_failed` with every
 * reason under `customer`.
 */
export function checkBrazil(request: TaxRequest): void {
  if (request.billingAddress.country !== 'BR') return;
  const consumer = isBrazilianConsumer(request);
  const reasons = [...brazilianIdentifierProblems(request.taxIdentifiers)];
  if (consumer && !filled(request.firstName)) reasons.push('firstName is required');
  if (consumer && !filled(request.lastName)) reasons.push('lastName is required');
  if (consumer && request.currency !== 'BRL') reasons.push('an NFS-e for a consumer is made in BRL');
  const telecom = request.lines.some((line) => /\b(telecom|nfcom)/i.test(`${line.productCode} ${line.category ?? ''}`));
  if (telecom) reasons.push('telecom and communication services (NFCom) are not supported');
  if (reasons.length === 0) return;
  throw refusal(
    422,
    'nfse_validation_failed',
    reasons.map((message) => ({ field: 'customer', message })),
  );
}

/** The customer in the reply: the known fields as sent. */
export function customerEcho(request: TaxRequest): Record<string, unknown> {
  const address = (value: Address | undefined): unknown => (value === undefined ? undefined : compact(value));
  const identifiers = request.taxIdentifiers.map((identifier) => compact(identifier));
  return compact({
    merchantCustomerReference: request.customerReference,
    firstName: request.firstName,
    lastName: request.lastName,
    legalName: request.legalName,
    email: request.email,
    taxIdentifiers: identifiers.length > 0 ? identifiers : undefined,
    billingAddress: address(request.billingAddress),
    shippingAddress: address(request.shippingAddress),
  });
}
