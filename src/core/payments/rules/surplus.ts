// More or less money than the amount due: the item for the surplus, its refund, and the rest that is still due.
import { type Lane } from '../../../engine/lane.js';
import { moveMark, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type Mutable } from '../../../shared/domain/row.js';
import { itemRule, declareItems } from '../../../engine/items.js';
import { isPayable } from '../../../shared/domain/status.js';
import { type Money } from '../../../shared/domain/money.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { isSurplus, type Overpaid, overpaid, surplusRefunded } from '../../../shared/domain/surplus.js';

type Payment = Mutable<PaymentRow>;

/**
 * If the merchant's backend reported another amount than the signup requested (core/signups/rules/signup.ts), asks a
 * person. Returns true until the person has decided: Crossbill makes no mark before. A refund by the person may fail,
 * because the MoR refuses to refund more than it took. Then the person decides again.
 */
export function reviewAmount(lane: Lane, payment: Payment): boolean {
  const item = lane.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === payment.signupId);
  if (item === undefined || (item.status !== 'open' && item.resolution !== 'refund')) return false;
  if (item.fact.code !== 'completed-otherwise') return false;
  const { subject, fact } = item;
  const r = lane.findRefunds(payment).findLast((x) => x.status === 'failed');
  const refund = r && { amount: { minor: r.amount, currency: r.currency }, said: r.failure?.message ?? null };
  moveMark(payment, 'parked');
  lane.openReview({
    kind: 'amount_mismatch',
    subject,
    paymentRowId: payment.id,
    fact: { ...fact, failed: refund ?? fact.failed },
  });
  return true;
}

/**
 * Items for an amount still due after the mark, because the invoice changed. No item opens if a person accepted the
 * payment as a part payment.
 */
export const leftItems = itemRule({ 'rest-due': 'nothing more is due, or a refund is under way' }, function* (lane) {
  const { invoice: i, payments, refunds, reviews } = lane;
  if (i === null || !isPayable(i) || i.amountRemaining === 0n) return;
  for (const p of payments) {
    const isPart = p.waived.includes('amount_mismatch') && !p.waived.includes('surplus');
    const isGoingBack = refunds.some((r) => r.paymentRowId === p.id && r.status !== 'failed');
    if (p.mark !== 'confirmed' || isPart || isGoingBack) continue;
    // If a person asked for a new read, Crossbill waits for the result before it opens the item.
    const isOpen = reviews.some((r) => r.status === 'open' && r.topic === 'rest-due' && r.subject === p.id);
    if (i.readAt === null && !isOpen) continue;
    const due: Money = { minor: i.amountRemaining ?? 0n, currency: p.currency };
    const fact = { code: 'rest-due', status: i.platformStatus, due } as const;
    yield { kind: 'amount_mismatch', about: p, fact, actions: ['refund', 'retry', 'dismiss'] };
  }
});

/**
 * Opens items for payments beyond the amount due. Waits until Stripe has replied to each mark: only then Crossbill
 * knows every payment on the invoice.
 */
export function declareSurplus(lane: Lane): void {
  const isBeingMarked = lane.payments.some((p) => p.mark === 'attaching' || p.mark === 'paying');
  if (!isBeingMarked) declareItems(lane, surplusItems);
}

const surplusItems = itemRule({ overpaid: 'the surplus is gone, or its refund is under way' }, function* (lane) {
  const i = lane.invoice;
  const paid = findSurplus(lane);
  if (i === null || paid === null) return;
  const { minor, by, credited, back, rest: remaining } = paid;
  const chosen = lane.reviews.flatMap((r) =>
    r.fact.code === 'overpaid' && r.fact.over.minor === minor ? (r.resolution ?? []) : [],
  );
  // After `apply` or `dismiss` the merchant keeps the surplus. A chosen refund is not final: the MoR may refuse it, or
  // it may fail.
  if (chosen.includes('apply') || chosen.includes('dismiss')) return;
  // If a person chose the refund in an item, this item already asked the person to correct the customer's balance.
  if (remaining <= 0n && (!credited || back === 0n || chosen.includes('refund'))) return;
  const sum = (amount: bigint): Money => ({ minor: amount, currency: i.currency ?? '' });
  yield {
    kind: 'amount_mismatch',
    about: { id: i.invoiceId },
    paymentRowId: by.at(-1)?.id ?? null,
    fact: {
      code: 'overpaid',
      over: sum(minor),
      due: sum(i.amountDue ?? 0n),
      by: by.map((p) => ({ payment: effectName(p), amount: sum(p.amount ?? 0n) })),
      refunded: sum(back),
      left: sum(remaining),
      credited,
    },
    // propose no refund yet: the person first corrects the customer's balance
    proposed: credited && back > 0n ? null : 'refund',
  };
});

/** The amount of a surplus to refund. Null if the item is not about a surplus. */
export function surplusToRefund(lane: LaneRows, item: ReviewRow): bigint | null {
  if (!isSurplus(item)) return null;
  const remaining = findSurplus(lane)?.rest ?? 0n;
  return remaining > 0n ? remaining : 0n;
}

/** `back`: the refunded part of the surplus. `rest`: the part with neither a finished nor an unfinished refund. */
function findSurplus(lane: LaneRows): (Overpaid & { readonly back: bigint; readonly rest: bigint }) | null {
  const paid = overpaid(lane);
  if (paid === null) return null;
  const remaining = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + findOnItsWay(lane, p), 0n);
  return { ...paid, back: surplusRefunded(lane.refunds), rest: remaining };
}

/** The sum of a payment's unfinished refunds. The MoR may have paid any of them. */
function findOnItsWay(lane: LaneRows, payment: PaymentRow): bigint {
  return lane.refunds.reduce((sum, r) => {
    const isOver = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === payment.id && r.currency === payment.currency && !isOver ? sum + r.amount : sum;
  }, 0n);
}
