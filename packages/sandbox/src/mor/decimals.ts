// Exact decimals of the MoR's tax API: the number as sent, and the only rounding rule (half up, to the decimals of the
// currency).
import { decimalsOf } from '../kernel/money.js';

/** The value `digits` / 10^`scale`: the number exactly as sent. */
export type Decimal = { readonly digits: bigint; readonly scale: number };

/** Rates are in millionths: 0.20 is 200_000n, so 0.09975 (Quebec) is exact too. */
export const RATE_ONE = 1_000_000n;

/**
 * Parses a plain decimal, sent as a JSON string or number (Document 2, "requests may send decimals as JSON numbers").
 * Returns null for an exponent, separators, more than 15 digits before the point or more than 18 after it. A JSON
 * number of up to 15 digits prints as sent.
 */
export function parseDecimal(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return null;
  const match = /^(-?)(\d{1,15})(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null) return null;
  const fraction = match[3] ?? '';
  const digits = BigInt((match[2] ?? '') + fraction);
  return { digits: match[1] === '-' ? -digits : digits, scale: fraction.length };
}

/** Returns `numerator / denominator` rounded half up (away from zero). `denominator` must be above zero. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const sign = numerator < 0n ? -1n : 1n;
  return sign * ((2n * sign * numerator + denominator) / (2n * denominator));
}

/** Returns `value` times `quantity` in the currency's smallest units, rounded half up. */
export function minorOf(value: Decimal, quantity: bigint, currency: string): bigint {
  const scaled = value.digits * quantity * 10n ** BigInt(decimalsOf(currency));
  return divideHalfUp(scaled, 10n ** BigInt(value.scale));
}

/** True if the decimal fits the currency's number of decimals without rounding. */
export function isExactIn(value: Decimal, currency: string): boolean {
  const scaled = value.digits * 10n ** BigInt(decimalsOf(currency));
  return scaled % 10n ** BigInt(value.scale) === 0n;
}

/** Returns the share of `minor` at a rate in millionths, rounded half up. */
export function shareOf(minor: bigint, rate: bigint): bigint {
  return divideHalfUp(minor * rate, RATE_ONE);
}

/** Writes a rate as a fraction with at least two decimals: 200_000n is "0.20", 99_750n is "0.09975". */
export function showRate(rate: bigint): string {
  const digits = rate.toString().padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${fraction}`;
}
