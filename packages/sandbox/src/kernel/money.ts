// Money in the sandbox: whole smallest units, and decimal strings with the decimals of the currency.

/**
 * `minor` is in the currency's smallest unit as at Stripe (EUR: cents; JPY: whole yen). `currency`: ISO 4217, upper
 * case.
 */
export type Money = { readonly minor: bigint; readonly currency: string };

// Stripe docs, "Supported currencies". Stripe counts UGX, HUF, TWD and ISK with two decimals.
const DECIMALS = new Map<string, 0 | 3>([
  ...'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD JOD KWD OMR TND'.split(' ').map((code) => [code, 3] as const),
]);

/** How many decimals the currency has: EUR 2, JPY 0, KWD 3. */
export function decimalsOf(currency: string): 0 | 2 | 3 {
  return DECIMALS.get(currency.toUpperCase()) ?? 2;
}

/** Parses "10.10" EUR as 1010n. Null if the text is no plain decimal or has more decimals than the currency. */
export function minorFromDecimal(text: string, currency: string): bigint | null {
  const match = /^(\d{1,16})(?:\.(\d{1,12}))?$/.exec(text);
  if (match === null) return null;
  const decimals = decimalsOf(currency);
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return null;
  const minor = BigInt((match[1] ?? '') + fraction.padEnd(decimals, '0'));
  return minor <= BigInt(Number.MAX_SAFE_INTEGER) ? minor : null;
}

/** Writes 1010n EUR as "10.10". */
export function decimalFromMinor(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const sign = minor < 0n ? '-' : '';
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
