// The items about a payment of another amount than its invoice has due, and about a paid invoice.
import { type KindAndFact } from '../../../shared/domain/fact.js';
import { type Item } from '../../../shared/domain/item.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type Money } from '../../../shared/domain/money.js';
import { type Seen } from '../../../shared/domain/facts/parts.js';
import { whyNothingDue } from '../../../shared/domain/nothing-due.js';
import { type DecisionSettings } from '../../../shared/domain/settings.js';
import { type Lane } from '../../../engine/lane.js';

/** The item about a parked payment; its fact gives the reason. */
export type Parking = KindAndFact & Pick<Item, 'actions' | 'proposed'>;

/** The item about a payment of another amount than is due. A payment of the draft's amount is a part of a grown invoice. */
export function ofAmount(
  payment: Pick<PaymentRow, 'currency'> & { readonly amount: bigint },
  { amountRemaining, draftedDue }: InvoiceRow,
  { markMode: marking }: DecisionSettings,
): Parking {
  const kind = 'amount_mismatch';
  const sum = (minor: bigint): Money => ({ minor, currency: payment.currency });
  const [taken, due] = [sum(payment.amount), sum(amountRemaining ?? 0n)];
  if (payment.amount !== draftedDue || due.minor <= payment.amount)
    return { kind, fact: { code: 'amount-differs', taken, due, marking } };
  const fact = { code: 'amount-grew', drafted: sum(draftedDue), due, taken, marking } as const;
  return marking === 'out_of_band'
    ? { kind, fact, actions: ['refund', 'retry', 'dismiss'], proposed: null }
    : { kind, fact, proposed: 'apply' };
}

/** The item about a payment for an invoice that Stripe shows as paid, without our mark. */
export function ofPaid(
  invoice: InvoiceRow,
  taken: Money,
  record: string | null,
  observations: readonly Seen[],
): Parking & { readonly kind: 'double_payment' } {
  const kind = 'double_payment';
  const why = whyNothingDue(invoice);
  if (why === null) return { kind, fact: { code: 'paid-otherwise', taken, record, observations } };
  return { kind, fact: { code: 'nothing-due', taken, why, record, observations }, proposed: 'refund' };
}

/** If the draft's amount arrives after its payment `payment`, the item about the payment says that the invoice grew. */
export function noteGrowth(lane: Lane, payment: PaymentRow): void {
  const { invoice: i } = lane;
  const r = lane.reviews.find(
    (x) => x.status === 'open' && x.paymentRowId === payment.id && x.fact.code === 'amount-differs',
  );
  if (r?.fact.code !== 'amount-differs' || i === null || payment.amount === null) return;
  const item = ofAmount(
    { ...payment, amount: payment.amount },
    { ...i, amountRemaining: r.fact.due.minor },
    lane.settings,
  );
  if (item.fact.code === 'amount-grew') lane.updateItem(r, { ...item, subject: r.subject });
}
