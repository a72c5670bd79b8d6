// A sum that the MoR's event of a dispute names in a way that can be read as two: 300 EUR may be 300.00 or 3.00.
import { SUMS_BETWEEN } from '../../domain/events/payload-fields.js';
import { type PaymentRow } from '../../domain/model.js';
import { minorFromDecimal, parseCurrency } from '../../domain/money.js';
import { type MorObjectRow } from '../../domain/mor-object.js';

/**
 * How the MoR wrote it; null: it named no sum, or one that is understood. Where each reading takes all of the payment, it is; and where one
 * is the sum that it had named surely before.
 */
export function unreadSum(
  { amount, currency, detail: { unread, amountAt = '' } }: Pick<MorObjectRow, 'amount' | 'currency' | 'detail'>,
  p: Pick<PaymentRow, 'amount' | 'currency'> | null | undefined,
): string | null {
  if (unread === undefined || (amount !== null && unread.at <= amountAt)) return null;
  const readings = readingsOf(unread.said, currency ?? p?.currency ?? null);
  if (amount !== null) return readings.includes(amount) ? null : unread.said;
  const taken = p?.amount ?? null;
  const isWhole = readings.length > 0 && taken !== null && readings.every((minor) => minor >= taken);
  return isWhole ? null : unread.said;
}

/** What it may come to, in minor units; empty: it is not made of sums alone. Whole numbers may count the smallest units, as in Document 3. */
function readingsOf(said: string, known: string | null): readonly bigint[] {
  const found: bigint[] = [];
  for (const sum of said.split(SUMS_BETWEEN)) {
    const [, number, fraction, code] = /^(\d{1,16}(\.\d{1,3})?)(?: ([A-Za-z]{3}))?$/.exec(sum) ?? [];
    if (number === undefined) return [];
    const currency = code === undefined ? known : parseCurrency(code);
    const minor = currency === null ? null : minorFromDecimal(number, currency);
    if (minor !== null) found.push(minor);
    if (fraction === undefined) found.push(BigInt(number));
    else if (minor === null) return [];
  }
  return found;
}
