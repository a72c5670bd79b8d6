// Reads an amount typed by a person, with a comma or a dot before the decimals.
import { decimalsOf, minorFromDecimal } from '../../shared/domain/money.js';

/**
 * Returns the amount in smallest units. Null: the text is not an amount, or has more decimals than the currency, even
 * zeros. For example "1,000" of EUR may mean a thousand, and Crossbill would read one euro.
 */
export function typedAmount(text: string, currency: string): bigint | null {
  const decimal = text.replace(',', '.');
  const decimals = /\.(\d+)$/.exec(decimal)?.[1]?.length ?? 0;
  return decimals > decimalsOf(currency) ? null : minorFromDecimal(decimal, currency);
}
