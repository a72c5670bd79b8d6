// The sum of a dispute. The MoR may write it in a way with two readings: 300 EUR may be 300.00 or 3.00.
import { SUMS_BETWEEN } from './events/payload-fields.js';
import { type Disputed } from './facts/parts.js';
import { type LaneRows, type PaymentRow } from './model.js';
import { minorFromDecimal, parseCurrency, showMoney } from './money.js';
import { type MorObjectRow } from './mor-object.js';

/**
 * The MoR's own words for a sum with two readings; null: it named none, or a clear one. It is clear if each reading takes all of the payment, or
 * one of them is the sure sum of before.
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

/** Its readings, in minor units; empty: it does not consist of sums alone. Whole numbers may count the smallest units, as in Document 3. */
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

/** The sum of a dispute or an alert, as the MoR named it; else that of its payment. */
export function disputedOf({ payments }: Pick<LaneRows, 'payments'>, o: MorObjectRow): Disputed {
  const p = payments.find((x) => x.id === o.paymentRowId);
  const unread = unreadSum(o, p);
  if (unread !== null) return { amount: null, unread };
  if (o.amount !== null && o.currency !== null)
    return { amount: { minor: o.amount, currency: o.currency }, unread: null };
  const amount = p === undefined || p.amount === null ? null : { minor: p.amount, currency: p.currency };
  return { amount, unread: null };
}

export function showDisputed({ amount, unread }: Disputed): string {
  if (unread !== null) return `a sum that the MoR wrote as "${unread}"`;
  return amount === null ? 'a payment' : showMoney(amount);
}
