// Reads an amount typed by a person, with a comma or a dot before the decimals.
import { decimalsOf, minorFromDecimal } from '../domain/money.js';

/**
 * Returns smallest units, or null for any other text. Refuses more decimals than the currency has, even zeros: "1,000"
 * of EUR may mean a thousand, and would be one euro.
 */
export function typedAmount(text: string, currency: string): bigint | null {
  const decimal = text.replace(',', '.');
  const decimals = /\.(\d+)$/.exec(decimal)?.[1]?.length ?? 0;
  return decimals > decimalsOf(currency) ? null : minorFromDecimal(decimal, currency);
}
