// More taken for an invoice than was due: a credit note, or another payment, came between our look at it and our mark.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../domain/lane/change.js';
import { effectName } from '../../domain/lane/payment.js';
import { isSurplus, overpaid, type Overpaid, surplusPrefix } from '../../domain/lane/surplus.js';

/** Told once per amount, however often it is reported: by the answer to the mark, by `invoice.overpaid`, by a read. */
export function settleSurplus(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  // Stripe may report the surplus of a payment before it answers the call that attaches it: who paid what is known after that.
  if (i === null || s.payments.some((p) => p.mark === 'attaching' || p.mark === 'paying')) return s;
  const told = surplusOf(s);
  const subject = told === null ? null : `${surplusPrefix(s)}${told.minor}`;
  const state = closeReviews(s, ctx, (r) => isSurplus(s, r) && r.subject !== subject, {
    by: null,
    resolution: 'cleared',
    note: 'the surplus is gone, is being given back, or has changed',
  });
  if (told === null || subject === null || state.reviews.some((r) => r.subject === subject && isDecided(r)))
    return state;
  const show = (minor: bigint): string => showMoney({ minor, currency: i.currency ?? '' });
  const paid = told.by.map((p) => `${show(p.amount ?? 0n)} (payment ${effectName(p)})`).join(' and ');
  const surplus = show(told.minor);
  return openReview(state, ctx, {
    kind: 'amount_mismatch',
    subject,
    paymentRowId: told.by.at(-1)?.id ?? null,
    summary: `the invoice is overpaid by ${surplus}: ${paid === '' ? 'the MoR took nothing for it' : `${paid} was taken`}, ${show(i.amountDue ?? 0n)} was due`,
    proposal: told.credited
      ? `Refund ${surplus} and deduct it from the customer's balance on Stripe, or apply this: Stripe keeps it as the customer's credit.`
      : `Refund ${surplus}, or apply this and credit the customer: Stripe shows only what was due as paid.`,
  });
}

/** What the refund of a surplus gives back; null: the item is of another kind. */
export function surplusToRefund(s: LaneState, r: ReviewRow): bigint | null {
  return isSurplus(s, r) ? (surplusOf(s)?.rest ?? 0n) : null;
}

/** A person has said that it stays. A refund that they chose decides nothing by itself: it may be refused, or fail. */
function isDecided(r: ReviewRow): boolean {
  return r.resolution === 'apply' || r.resolution === 'dismiss';
}

/** `rest`: what of it was not given back since and is not on its way back. */
function surplusOf(s: LaneState): (Overpaid & { readonly rest: bigint }) | null {
  const paid = overpaid(s);
  if (paid === null) return null;
  const rest = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + onItsWay(s, p), 0n);
  return rest > 0n ? { ...paid, rest } : null;
}

/** Refunds of a payment that are not counted yet: one that is unknown may have been made. */
function onItsWay(s: LaneState, p: PaymentRow): bigint {
  return s.refunds.reduce((sum, r) => {
    const over = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === p.id && r.currency === p.currency && !over ? sum + r.amount : sum;
  }, 0n);
}
