// The items about a payment of another amount than its invoice has due, and about a paid invoice.
import { type KindAndFact } from '../../../shared/domain/fact.js';
import { type Item } from '../../../shared/domain/item.js';
import { type InvoiceRow, type PaymentRow } from '../../../shared/domain/model.js';
import { type Money } from '../../../shared/domain/money.js';
import { type Seen } from '../../../shared/domain/facts/parts.js';
import { whyNothingDue } from '../../../shared/domain/nothing-due.js';
import { type DecisionSettings } from '../../../shared/domain/settings.js';
import { type Lane } from '../../../engine/lane.js';

/** The item about a parked payment; its fact gives the reason. */
export type Parking = KindAndFact & Pick<Item, 'actions' | 'proposed'>;

/** The item about a payment of another amount than is due. A payment of the draft's amount is a part of a grown invoice. */
export function ofAmount(
  p: Pick<PaymentRow, 'currency'> & { readonly amount: bigint },
  { amountRemaining, draftedDue }: InvoiceRow,
  { markMode: marking }: DecisionSettings,
): Parking {
  const kind = 'amount_mismatch';
  const sum = (minor: bigint): Money => ({ minor, currency: p.currency });
  const [taken, due] = [sum(p.amount), sum(amountRemaining ?? 0n)];
  if (p.amount !== draftedDue || due.minor <= p.amount)
    return { kind, fact: { code: 'amount-differs', taken, due, marking } };
  const fact = { code: 'amount-grew', drafted: sum(draftedDue), due, taken, marking } as const;
  return marking === 'out_of_band'
    ? { kind, fact, actions: ['refund', 'retry', 'dismiss'], proposed: null }
    : { kind, fact, proposed: 'apply' };
}

/** The item about a payment for an invoice that Stripe shows as paid, without our mark. */
export function ofPaid(
  i: InvoiceRow,
  taken: Money,
  record: string | null,
  observations: readonly Seen[],
): Parking & { readonly kind: 'double_payment' } {
  const kind = 'double_payment';
  const why = whyNothingDue(i);
  if (why === null) return { kind, fact: { code: 'paid-otherwise', taken, record, observations } };
  return { kind, fact: { code: 'nothing-due', taken, why, record, observations }, proposed: 'refund' };
}

/** If the draft's amount arrives after its payment `p`, the item about the payment says that the invoice grew. */
export function noteGrowth(lane: Lane, p: PaymentRow): void {
  const { invoice: i } = lane;
  const r = lane.reviews.find(
    (x) => x.status === 'open' && x.paymentRowId === p.id && x.fact.code === 'amount-differs',
  );
  if (r?.fact.code !== 'amount-differs' || i === null || p.amount === null) return;
  const item = ofAmount({ ...p, amount: p.amount }, { ...i, amountRemaining: r.fact.due.minor }, lane.settings);
  if (item.fact.code === 'amount-grew') lane.updateItem(r, { ...item, subject: r.subject });
}
