// Money: exact integer amounts in the smallest unit of a currency, and their exact conversion to and from decimal
// strings.

/** An exact amount. `minor` counts the smallest unit of the currency as Stripe does (EUR: cents; JPY: whole yen). */
export type Money = { readonly minor: bigint; readonly currency: string }; // ISO 4217, upper case

// Stripe docs, "Supported currencies": zero-decimal and three-decimal currencies. UGX, ISK, HUF and TWD are not here:
// Stripe counts their charges with two decimals.
const ZERO_DECIMAL = new Set(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '), //
);
const THREE_DECIMAL = new Set('BHD JOD KWD OMR TND'.split(' '));

/** The largest amount: the largest exact JSON number (2^53 - 1). */
export const MAX_MINOR = 9_007_199_254_740_991n;

/** The number of decimals of a currency as Stripe counts it (EUR 2, JPY 0, KWD 3). */
export function decimalsOf(currency: string): 0 | 2 | 3 {
  const code = currency.toUpperCase();
  if (ZERO_DECIMAL.has(code)) return 0;
  return THREE_DECIMAL.has(code) ? 3 : 2;
}

/** Turns three letters in any case into upper case. Null for anything else. */
export function parseCurrency(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : null;
}

/**
 * A decimal string ("10.10") in smallest units (1010n in EUR). Null unless it is a plain decimal (no exponent, sign,
 * spaces or separators) with at most the currency's decimals. It never rounds.
 */
export function minorFromDecimal(text: string, currency: string): bigint | null {
  const match = /^(\d{1,16})(?:\.(\d{1,12}))?$/.exec(text);
  if (match === null) return null;
  const decimals = decimalsOf(currency);
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return null;
  const minor = BigInt((match[1] ?? '') + fraction.padEnd(decimals, '0'));
  return minor <= MAX_MINOR ? minor : null;
}

/** Smallest units as a decimal string with the currency's own decimals: 1010n EUR is "10.10". */
export function decimalFromMinor(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const sign = minor < 0n ? '-' : '';
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
