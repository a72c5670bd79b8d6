// Writes values as JSON: amounts as integers, currencies as Stripe writes them, times as ISO 8601 in UTC.

/** An amount in smallest units, as a JSON number. It is exact, since no amount is above 2^53 - 1. */
export function amountOf(minor: bigint): number;
export function amountOf(minor: bigint | null): number | null;
export function amountOf(minor: bigint | null): number | null {
  return minor === null ? null : Number(minor);
}

export function currencyOf(currency: string): string;
export function currencyOf(currency: string | null): string | null;
export function currencyOf(currency: string | null): string | null {
  return currency === null ? null : currency.toLowerCase();
}

export function timeOf(at: Date): string;
export function timeOf(at: Date | null): string | null;
export function timeOf(at: Date | null): string | null {
  return at === null ? null : at.toISOString();
}
