// The tax identifiers of a buyer: their types, and the check of each code (Document 2, `customer.taxIdentifiers`).

export const TAX_IDENTIFIER_TYPES = ['BR_CPF', 'BR_CNPJ', 'EU_VAT', 'GB_VAT', 'US_EIN'] as const;
export const BUYER_TAX_REGIMES = ['SIMPLES_NACIONAL', 'LUCRO_PRESUMIDO', 'LUCRO_REAL'] as const;

export type TaxIdentifier = {
  readonly type: (typeof TAX_IDENTIFIER_TYPES)[number];
  readonly code: string;
  readonly buyerTaxRegime: (typeof BUYER_TAX_REGIMES)[number] | undefined;
};

/** The check digit by modulo 11 of `digits` with these weights. */
function checkDigit(digits: string, weights: readonly number[]): string {
  const sum = weights.reduce((total, weight, index) => total + weight * Number(digits[index] ?? '0'), 0);
  const remaining = sum % 11;
  return String(remaining < 2 ? 0 : 11 - remaining);
}

function hasCheckDigits(digits: string, length: number, weights: readonly number[]): boolean {
  if (digits.length !== length || /^(\d)\1*$/.test(digits)) return false; // no CPF or CNPJ has only equal digits
  const first = checkDigit(digits, weights.slice(1));
  const second = checkDigit(digits, weights);
  return digits.endsWith(first + second);
}

/** True for a CPF, formatted (`529.982.247-25`) or bare. */
export function isCpf(code: string): boolean {
  if (!/^(\d{11}|\d{3}\.\d{3}\.\d{3}-\d{2})$/.test(code)) return false;
  return hasCheckDigits(code.replace(/\D/g, ''), 11, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/** True for a CNPJ, formatted (`11.222.333/0001-81`) or bare. */
export function isCnpj(code: string): boolean {
  if (!/^(\d{14}|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2})$/.test(code)) return false;
  return hasCheckDigits(code.replace(/\D/g, ''), 14, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
}

/**
 * The format of VIES: two letters of the member state, then 2 to 12 letters or digits. Spaces, dots and dashes may
 * separate them.
 */
export function isViesNumber(code: string): boolean {
  return /^(AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI)[0-9A-Z+*]{2,12}$/.test(
    code.toUpperCase().replace(/[\s.-]/g, ''),
  );
}

/** A Brazilian buyer needs exactly one valid CPF or CNPJ. A CNPJ needs a tax regime. Returns the problems. */
export function brazilianIdentifierProblems(identifiers: readonly TaxIdentifier[]): readonly string[] {
  const brazilian = identifiers.filter(({ type }) => type === 'BR_CPF' || type === 'BR_CNPJ');
  const [only, ...others] = brazilian;
  if (only === undefined || others.length > 0) return ['exactly one BR_CPF or BR_CNPJ is needed'];
  if (only.type === 'BR_CPF') return isCpf(only.code) ? [] : ['BR_CPF has a wrong format or wrong check digits'];
  const problems = isCnpj(only.code) ? [] : ['BR_CNPJ has a wrong format or wrong check digits'];
  return only.buyerTaxRegime === undefined ? [...problems, 'BR_CNPJ needs buyerTaxRegime'] : problems;
}
