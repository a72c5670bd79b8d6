// More taken for an invoice than was due: a credit note, or another payment, came between our look at it and our mark.
import { type Item } from '../../domain/item.js';
import { type Money } from '../../domain/money.js';
import { type InvoiceRow, type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { effectName } from '../../domain/payment-name.js';
import { isSurplus, overpaid, type Overpaid, surplusPrefix, surplusRefunded } from '../../domain/surplus.js';

/** Told once per amount, however often it is reported: by the answer to the mark, by `invoice.overpaid`, by a read. */
export function settleSurplus(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  // Stripe may report the surplus of a payment before it answers the call that attaches it: who paid what is known after that.
  if (i === null || s.payments.some((p) => p.mark === 'attaching' || p.mark === 'paying')) return s;
  const paid = surplusOf(s);
  const item = paid === null ? null : itemOf(s, i, paid);
  const state = closeReviews(s, ctx, (r) => isSurplus(s, r) && r.subject !== item?.subject, {
    by: null,
    resolution: 'cleared',
    note: 'the surplus is gone, is being given back, or has changed',
  });
  return item === null ? state : openReview(state, ctx, item);
}

/** Null: a person has decided, or nothing is left to do. */
function itemOf(s: LaneState, i: InvoiceRow, { minor, by, credited, back, rest }: Surplus): Item | null {
  const amount = `${surplusPrefix(s)}${minor}`;
  const chosen = s.reviews.flatMap((r) => (`${r.subject}:`.startsWith(`${amount}:`) ? (r.resolution ?? []) : []));
  // It stays. A refund that they chose decides nothing by itself: it may be refused, or fail.
  if (chosen.includes('apply') || chosen.includes('dismiss')) return null;
  // Whoever chose to refund it was told to deduct it from the balance.
  if (rest <= 0n && (!credited || back === 0n || chosen.includes('refund'))) return null;
  const sum = (x: bigint): Money => ({ minor: x, currency: i.currency ?? '' });
  return {
    kind: 'amount_mismatch',
    subject: back === 0n ? amount : `${amount}:${back}`,
    paymentRowId: by.at(-1)?.id ?? null,
    fact: {
      code: 'overpaid',
      over: sum(minor),
      due: sum(i.amountDue ?? 0n),
      by: by.map((p) => ({ payment: effectName(p), amount: sum(p.amount ?? 0n) })),
      refunded: sum(back),
      left: sum(rest),
      credited,
    },
    // What was given back of it must be taken off the balance first.
    proposed: credited && back > 0n ? null : 'refund',
  };
}

/** What the refund of a surplus gives back; null: the item is of another kind. */
export function surplusToRefund(s: LaneState, r: ReviewRow): bigint | null {
  if (!isSurplus(s, r)) return null;
  const rest = surplusOf(s)?.rest ?? 0n;
  return rest > 0n ? rest : 0n;
}

/** `back`: what refunds gave back of it, as Stripe was told. `rest`: what was neither given back nor is on its way back. */
type Surplus = Overpaid & { readonly back: bigint; readonly rest: bigint };

function surplusOf(s: LaneState): Surplus | null {
  const paid = overpaid(s);
  if (paid === null) return null;
  const rest = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + onItsWay(s, p), 0n);
  const back = surplusRefunded(s.refunds);
  return { ...paid, back, rest };
}

/** Refunds of a payment that are not counted yet: one that is unknown may have been made. */
function onItsWay(s: LaneState, p: PaymentRow): bigint {
  return s.refunds.reduce((sum, r) => {
    const over = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === p.id && r.currency === p.currency && !over ? sum + r.amount : sum;
  }, 0n);
}
