// Amounts of tax over lines: exact shares, and the calculation that an invoice of the billing platform asks for.
import { type TaxBasis, type TaxCall } from '../../domain/ports/tax.js';

/**
 * Shares `total` over weights in proportion: whole units that add up to `total`, and no share above its weight as long as the total is
 * not above their sum. Weights below zero count as nothing. Null when there is no weight at all.
 */
export function shares(total: bigint, weights: readonly bigint[]): readonly bigint[] | null {
  const counted = weights.map((w) => (w > 0n ? w : 0n));
  const sum = counted.reduce((a, b) => a + b, 0n);
  if (sum === 0n || total < 0n) return null;
  const parts = counted.map((w) => (total * w) / sum);
  let left = total - parts.reduce((a, b) => a + b, 0n);
  // The largest remainders get the units that are left, the first of equals first: the same input gives the same shares.
  const order = counted
    .map((w, index) => ({ index, rest: (total * w) % sum }))
    .sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1));
  for (const { index } of order) {
    if (left === 0n) break;
    parts[index] = (parts[index] ?? 0n) + 1n;
    left -= 1n;
  }
  return parts;
}

/** Tax ids as Stripe names them → Document 2's types. Others are not sent. */
const IDENTIFIERS: Readonly<Record<string, string>> = {
  eu_vat: 'EU_VAT',
  gb_vat: 'GB_VAT',
  us_ein: 'US_EIN',
  br_cpf: 'BR_CPF',
  br_cnpj: 'BR_CNPJ',
};
const COMPANY_IDS = new Set(['EU_VAT', 'GB_VAT', 'US_EIN', 'BR_CNPJ']);
const NEEDS_STATE = new Set(['US', 'CA']);
/** Document 2, `evidence`: everywhere else it is required, with an IP address. */
const NEEDS_NO_EVIDENCE = new Set(['US', 'BR']);
const PRODUCT = 'subscription';

export type TaxAsked =
  | { readonly ok: true; readonly call: Extract<TaxCall, { kind: 'calculate_tax' }> }
  /** What nobody knows and the MoR must be told, in words for a person. */
  | { readonly ok: false; readonly missing: readonly string[] };

/** The calculation for a paid invoice: its total as `INCLUSIVE` amounts, shared over its lines. */
export function calculationFor(basis: TaxBasis): TaxAsked {
  const { customer, total } = basis;
  const missing: string[] = [];
  const address = customer.address;
  const need = (value: string | null | undefined, what: string): string => {
    if (value === null || value === undefined || value.trim() === '') missing.push(what);
    return value ?? '';
  };
  const country = need(address?.country, "the country of the customer's address");
  const billingAddress = {
    line1: need(address?.line1, "line1 of the customer's address"),
    line2: address?.line2 ?? null,
    city: need(address?.city, "the city of the customer's address"),
    state: NEEDS_STATE.has(country)
      ? need(address?.state, "the state of the customer's address")
      : (address?.state ?? null),
    postalCode: need(address?.postalCode, "the postal code of the customer's address"),
    country,
  };
  const taxIdentifiers = customer.taxIds.flatMap(({ type, value }) => {
    const known = IDENTIFIERS[type];
    return known === undefined ? [] : [{ type: known, code: value }];
  });
  const evidence = NEEDS_NO_EVIDENCE.has(country) ? null : { billingCountry: country, ipAddress: basis.ipAddress };
  if (evidence !== null && country !== '')
    need(
      basis.ipAddress,
      'an IP address of the customer as evidence (customer.tax.ip_address, or ip_address in its metadata)',
    );
  const company = taxIdentifiers.some(({ type }) => COMPANY_IDS.has(type));
  const [firstName, lastName] = company ? [null, null] : namesOf(customer.name);
  if (country === 'BR') {
    const own = taxIdentifiers.filter(({ type }) => type.startsWith('BR_'));
    if (own.length !== 1) missing.push('exactly one CPF or CNPJ of the customer');
    if (own[0]?.type === 'BR_CNPJ')
      missing.push('the buyerTaxRegime of the company, which only a calculation made by you can name');
    if (own[0]?.type === 'BR_CPF' && lastName === null) missing.push('first and last name of the customer');
  }
  if (total <= 0n) missing.push('an amount above zero');
  if (missing.length > 0) return { ok: false, missing };
  return {
    ok: true,
    call: {
      kind: 'calculate_tax',
      currency: basis.currency,
      customer: {
        reference: basis.customerId,
        firstName,
        lastName,
        legalName: company ? customer.name : null,
        email: customer.email,
        taxIdentifiers,
        billingAddress,
      },
      lines: linesOf(basis),
      evidence,
    },
  };
}

/** Credits are spread over the lines that cost something, so that no line is below zero and their sum is the total. */
function linesOf(basis: TaxBasis): Extract<TaxCall, { kind: 'calculate_tax' }>['lines'] {
  const parts = shares(
    basis.total,
    basis.lines.map((l) => l.amount),
  );
  if (parts === null) {
    return [{ reference: basis.invoiceId, productCode: PRODUCT, title: null, gross: basis.total }];
  }
  return basis.lines
    .map((l, i) => ({
      reference: l.reference,
      productCode: l.productCode ?? PRODUCT,
      title: l.description,
      gross: parts[i] ?? 0n,
    }))
    .filter(({ gross }) => gross > 0n);
}

function namesOf(name: string | null): readonly [string | null, string | null] {
  const words = (name ?? '')
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
  const [first] = words;
  return [first ?? null, words.length > 1 ? words.slice(1).join(' ') : null];
}
