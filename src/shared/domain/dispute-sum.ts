// The disputes of a payment, and the sum of a dispute. The MoR may write it in a form with two readings: "300" EUR may
// mean 300.00 or 3.00.
import { type Disputed } from './facts/parts.js';
import { type LaneRows } from './model.js';
import { type PaymentRow } from './payment-row.js';
import { showMoney } from './money.js';
import { type MorObjectRow, objectId } from './mor-object.js';

/**
 * Returns the MoR's text of a sum with two readings. Null: there is no such text, a later sum is clear, or the reading
 * does not matter, because both readings cover the whole payment.
 */
export function unreadSum(
  { amount, detail: { unread, amountAt = '' } }: Pick<MorObjectRow, 'amount' | 'detail'>,
  payment: Pick<PaymentRow, 'amount'> | null | undefined,
): string | null {
  if (unread === undefined || (amount !== null && unread.at <= amountAt)) return null;
  return amount === null && takesAll(unread.said, payment?.amount ?? null) ? null : unread.said;
}

/** True if the sum covers the whole payment in either reading. */
function takesAll(said: string, taken: bigint | null): boolean {
  const [number] = /^\d{1,16}(?=$| [A-Za-z]{3}$)/.exec(said) ?? [];
  return number !== undefined && taken !== null && BigInt(number) >= taken;
}

/** The sum of a dispute or an alert, from the MoR. If the MoR gave no sum, the amount of the payment. */
export function disputedOf({ payments }: Pick<LaneRows, 'payments'>, object: MorObjectRow): Disputed {
  const p = payments.find((x) => x.id === object.paymentRowId);
  const unread = unreadSum(object, p);
  if (unread !== null) return { amount: null, unread };
  if (object.amount !== null && object.currency !== null)
    return { amount: { minor: object.amount, currency: object.currency }, unread: null };
  const amount = p === undefined || p.amount === null ? null : { minor: p.amount, currency: p.currency };
  return { amount, unread: null };
}

export function showDisputed({ amount, unread }: Disputed): string {
  if (unread !== null) return `a sum written by the MoR as "${unread}"`;
  return amount === null ? 'a payment' : showMoney(amount);
}

/**
 * The disputes next to which a refund may pay the customer twice: those without a win or a loss, and a loss whose sum is
 * unclear, because the ledger does not have it. A dispute of an unknown payment may be about this one.
 */
export function undecidedDisputes(
  payment: Pick<PaymentRow, 'id' | 'amount'>,
  objects: readonly MorObjectRow[],
): readonly MorObjectRow[] {
  const isDecided = (object: MorObjectRow): boolean =>
    object.status === 'won' || (object.status === 'lost' && unreadSum(object, payment) === null);
  return objects.filter((o) => o.kind === 'dispute' && (o.paymentRowId ?? payment.id) === payment.id && !isDecided(o));
}

/** Warns of a refund next to these disputes, in words for a person. */
export function showUndecided(disputes: readonly MorObjectRow[]): string {
  const many = disputes.length > 1;
  return `${many ? 'Disputes' : 'Dispute'} ${disputes.map(objectId).join(', ')} of this payment ${many ? 'are' : 'is'} undecided: if the bank takes the money for the customer, a refund pays the customer a second time.`;
}
