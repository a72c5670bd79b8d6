// A sum that the MoR's event of a dispute names in a way that can be read as two: 300 EUR may be 300.00 or 3.00.
import { type PaymentRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';

/** How the MoR wrote it; null: it named no sum, or one that is understood. Where either reading takes all of the payment, it is. */
export function unreadSum(
  { amount, detail: { unread } }: Pick<MorObjectRow, 'amount' | 'detail'>,
  p: Pick<PaymentRow, 'amount'> | null | undefined,
): string | null {
  if (amount !== null || unread === undefined) return null;
  const [, digits] = /^(\d{1,16})(?: [A-Za-z]{3})?$/.exec(unread.said) ?? [];
  const taken = p?.amount ?? null;
  const isWhole = digits !== undefined && taken !== null && BigInt(digits) >= taken;
  return isWhole ? null : unread.said;
}
