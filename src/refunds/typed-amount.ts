// An amount as a person types it: with a comma or a dot before the decimals, as their country writes it.
import { decimalsOf, minorFromDecimal } from '../domain/money.js';

/**
 * Smallest units; null for any other text. More decimals than the currency has are refused, even zeros: "1,000" of EUR may mean a thousand,
 * and would be one euro.
 */
export function typedAmount(text: string, currency: string): bigint | null {
  const decimal = text.replace(',', '.');
  const decimals = /\.(\d+)$/.exec(decimal)?.[1]?.length ?? 0;
  return decimals > decimalsOf(currency) ? null : minorFromDecimal(decimal, currency);
}
