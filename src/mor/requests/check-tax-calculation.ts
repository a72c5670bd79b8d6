// Checks a tax calculation: every field, and the rows marked "conditional" in Document 2's table that are known before sending.
import { type BrokenCondition, type Checked, checkRequest } from './check.js';
import { TaxCalculationRequest, type TaxLineRequest } from './tax-calculation.js';

const EU = new Set('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '));
const NEEDS_STATE = new Set(['US', 'CA']);
const BRAZILIAN = new Set(['BR_CPF', 'BR_CNPJ']);

export function checkTaxCalculation(body: unknown): Checked<TaxCalculationRequest> {
  return checkRequest(TaxCalculationRequest, body, 'invalid_argument', calculationConditions);
}

function calculationConditions(request: TaxCalculationRequest): readonly BrokenCondition[] {
  return [
    ...addresses(request),
    ...identifiers(request),
    ...brazil(request),
    ...evidence(request),
    ...request.lineItems.flatMap((line, index) => lineConditions(request, line, `lineItems[${index}]`)),
    ...shipFrom(request),
  ];
}

function blank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function isPhysical(line: TaxLineRequest): boolean {
  return line.productType === 'PHYSICAL';
}

function broken(field: string, message: string): BrokenCondition {
  return { field, message };
}

function addresses({ customer, lineItems }: TaxCalculationRequest): BrokenCondition[] {
  const { billingAddress: billing, shippingAddress: shipping } = customer;
  const found: BrokenCondition[] = [];
  if (NEEDS_STATE.has(billing.country) && blank(billing.state)) {
    found.push(broken('customer.billingAddress.state', 'is required for US and CA'));
  }
  if (shipping === undefined) {
    if (!lineItems.some(isPhysical)) return found;
    const message = 'is required when a line is PHYSICAL';
    return [...found, { field: 'customer.shippingAddress', message, code: 'shipping_address_required' }];
  }
  if (NEEDS_STATE.has(shipping.country) && blank(shipping.state)) {
    found.push(broken('customer.shippingAddress.state', 'is required for US and CA'));
  }
  if (EU.has(shipping.country)) return found;
  for (const part of ['line1', 'city', 'postalCode'] as const) {
    if (blank(shipping[part])) found.push(broken(`customer.shippingAddress.${part}`, 'is required outside the EU'));
  }
  return found;
}

function identifiers({ customer }: TaxCalculationRequest): BrokenCondition[] {
  return (customer.taxIdentifiers ?? []).flatMap(({ type, code, buyerTaxRegime }, index) => {
    const field = `customer.taxIdentifiers[${index}]`;
    const bare = code.replace(/[\s.-]/g, '');
    if (buyerTaxRegime !== undefined && type !== 'BR_CNPJ') {
      return [broken(`${field}.buyerTaxRegime`, 'is for BR_CNPJ only')];
    }
    if (type === 'BR_CNPJ' && buyerTaxRegime === undefined && customer.billingAddress.country === 'BR') {
      return [broken(`${field}.buyerTaxRegime`, 'is required for a company in Brazil')];
    }
    if (type === 'EU_VAT' && !/^[A-Za-z]{2}[0-9A-Za-z+*]{2,12}$/.test(bare)) {
      return [broken(`${field}.code`, 'must be a VAT number with its two-letter prefix')];
    }
    return [];
  });
}

function brazil({ customer, currency }: TaxCalculationRequest): BrokenCondition[] {
  if (customer.billingAddress.country !== 'BR') return [];
  const own = (customer.taxIdentifiers ?? []).filter(({ type }) => BRAZILIAN.has(type));
  if (own.length !== 1) {
    return [broken('customer.taxIdentifiers', 'must hold exactly one BR_CPF or BR_CNPJ for a customer in Brazil')];
  }
  if (own[0]?.type !== 'BR_CPF') return [];
  const found: BrokenCondition[] = [];
  if (currency.toUpperCase() !== 'BRL') found.push(broken('currency', 'must be BRL for a consumer in Brazil'));
  for (const name of ['firstName', 'lastName'] as const) {
    if (blank(customer[name])) found.push(broken(`customer.${name}`, 'is required for a consumer in Brazil'));
  }
  return found;
}

function evidence({ customer, evidence: given }: TaxCalculationRequest): BrokenCondition[] {
  const { country } = customer.billingAddress;
  if (country === 'US') return [];
  if (given === undefined) {
    return country === 'BR' ? [] : [broken('evidence', 'is required for a billing address outside US and BR')];
  }
  const found: BrokenCondition[] = [];
  if (given.billingCountry !== country) {
    found.push(broken('evidence.billingCountry', 'must be the country of the billing address'));
  }
  if (country !== 'BR' && blank(given.ipAddress)) found.push(broken('evidence.ipAddress', 'is required'));
  return found;
}

function lineConditions(request: TaxCalculationRequest, line: TaxLineRequest, field: string): BrokenCondition[] {
  const found: BrokenCondition[] = [];
  if (!isPhysical(line)) {
    if (line.countryOfOrigin !== undefined) found.push(broken(`${field}.countryOfOrigin`, 'requires PHYSICAL'));
    if (line.hsCode !== undefined) found.push(broken(`${field}.hsCode`, 'requires PHYSICAL'));
    return found;
  }
  if (line.hsCode !== undefined && !/^\d{6,14}$/.test(line.hsCode.replaceAll('.', ''))) {
    found.push(broken(`${field}.hsCode`, 'must have 6 to 14 digits; dots are allowed'));
  }
  if (!crossesBorder(request)) return found;
  if (line.countryOfOrigin === undefined) {
    const message = 'is required for a physical line that crosses a border';
    found.push({ field: `${field}.countryOfOrigin`, message, code: 'missing_country_of_origin' });
  }
  if (blank(line.title) && blank(line.description)) {
    const message = 'needs a title or a description when it crosses a border';
    found.push({ field, message, code: 'missing_classification_text' });
  }
  return found;
}

/** An origin country different from the destination puts the cart on the cross-border path. */
function crossesBorder({ customer, shipFrom: origin }: TaxCalculationRequest): boolean {
  const destination = customer.shippingAddress?.country;
  return origin !== undefined && destination !== undefined && origin.country !== destination;
}

function shipFrom({ shipFrom: origin, lineItems }: TaxCalculationRequest): BrokenCondition[] {
  if (origin === undefined || lineItems.some(isPhysical)) return [];
  return [broken('shipFrom', 'requires at least one PHYSICAL line')];
}
