// Decides whether a proforma invoice may cite a tax calculation (Document 2, error table of from-tax-calculation).
import { type FieldError } from '../kernel/json.js';
import { MINUTE_MS } from './invoice-files.js';
import { taxCurrencyOf } from './jurisdictions.js';
import { type Product } from './state.js';
import { type Calculation } from './tax-calculations.js';
import { cartTotals } from './tax-answers.js';
import { brazilianIdentifierProblems } from './tax-identifiers.js';

const WINDOW_MS = 120 * MINUTE_MS; // Document 2, Limits: a calculation is usable for two hours after its creation
const NEEDED_MS = 5 * MINUTE_MS; // Document 2, Limits: at least five minutes of the two hours must remain

const BRAZILIAN_STATES = new Set(
  'AC AL AP AM BA CE DF ES GO MA MT MS MG PA PB PR PE PI RJ RN RS RO RR SC SP SE TO'.split(' '),
);

/** The currencies of the MoR's bank accounts for transfers. */
const SETTLEMENT_CURRENCIES = new Set(['GBP', 'EUR', 'USD', 'CAD', 'BRL']);

export function hasPaymentDestination(jurisdiction: string): boolean {
  return SETTLEMENT_CURRENCIES.has(taxCurrencyOf(jurisdiction) ?? '');
}

/**
 * The reasons why a calculation is unusable (`tax_calculation_unusable`), as parts of sentences. Empty: the calculation
 * is usable. `product`: the merchant's product in the country today.
 */
export function unusableReasons(
  calculation: Calculation,
  jurisdiction: string,
  product: Product | undefined,
  nowMs: number,
): readonly string[] {
  const { request } = calculation;
  const { billingAddress: address } = request;
  const totals = cartTotals(calculation);
  const name = request.legalName ?? (request.firstName !== undefined && request.lastName !== undefined ? 'both' : '');
  const brazil = calculation.country === 'BR';
  const addressParts = [
    address['line1'],
    address['city'],
    address['postalCode'],
    brazil ? address['state'] : 'none needed',
  ];
  const rules: readonly (readonly [boolean, string])[] = [
    [nowMs > calculation.createdAtMs + WINDOW_MS, 'is older than the two-hour citation window'],
    [
      nowMs > calculation.createdAtMs + WINDOW_MS - NEEDED_MS && nowMs <= calculation.createdAtMs + WINDOW_MS,
      'has less than five minutes of its citation window left',
    ],
    [calculation.country !== jurisdiction, `is for ${calculation.country}, another region`],
    [
      request.currency !== taxCurrencyOf(calculation.country),
      `is in ${request.currency}, not in the invoicing currency of ${calculation.country}`,
    ],
    [calculation.product !== 'mor', 'is liable to the merchant: only a merchant-of-record calculation qualifies'],
    [calculation.product === 'mor' && product !== 'mor', 'belongs to another legal entity'],
    [totals.total <= 0n, 'has a total that is not positive'],
    [!addressParts.every((part) => (part ?? '').trim() !== ''), 'has a billing address that lacks a needed part'],
    [name.trim() === '', 'has no customer name: send customer.legalName for a company'],
    [request.lines.some(({ physical }) => physical), 'carries a PHYSICAL line'],
    [request.shippingAddress !== undefined, 'carries shipping'],
    [
      brazil && brazilianIdentifierProblems(request.taxIdentifiers).length > 0,
      'does not have exactly one CPF, or CNPJ with buyerTaxRegime',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, reason]) => reason);
}

/** Checks the recipient's address for a Brazilian e-invoice. Returns the problems by field; empty: none. */
export function nfseProblems({ request }: Calculation): readonly FieldError[] {
  const { billingAddress: address } = request;
  if (address.country !== 'BR') return [];
  const problems: FieldError[] = [];
  if (!/^\d{5}-?\d{3}$/.test(address['postalCode'] ?? '')) {
    problems.push({ field: 'customer.billingAddress.postalCode', message: 'must be a CEP of 8 digits' });
  }
  if (!BRAZILIAN_STATES.has((address['state'] ?? '').toUpperCase())) {
    problems.push({ field: 'customer.billingAddress.state', message: 'must be a Brazilian state' });
  }
  return problems;
}
