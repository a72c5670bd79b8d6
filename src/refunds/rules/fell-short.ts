// A payment that a person chose to give back, of which a bank had taken a part: what was refunded is not all of it, and it waits on.
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { type SettleRule } from '../../engine/subject.js';
import { PARKING } from '../../engine/payment.js';
import { lostOf } from '../../domain/mor-object.js';
import { isSameFact } from '../../domain/fact.js';
import { ofKind } from '../../domain/item.js';
import { type Money } from '../../domain/money.js';
import { refundable } from '../../domain/status.js';
import { returnOf } from '../../returns/rules/return-items.js';

/** Refunded in full it is closed (payments/rules/mark.ts). Short of that nobody would be asked about it any more. */
export const settleFellShort: SettleRule = (s, ctx) =>
  s.payments.reduce((state, p) => {
    const item = shortOf(s, p);
    return item === undefined ? state : askAgain(state, p, item, ctx);
  }, s);

/** The item by which the refund was chosen, or that tells of what it fell short by; undefined: nothing is to be told. */
function shortOf(s: LaneState, p: PaymentRow): ReviewRow | undefined {
  if (p.mark !== 'parked' || p.amount === null || p.amountRefunded === 0n || p.amountRefunded >= p.amount)
    return undefined;
  const items = s.reviews.filter((r) => r.paymentRowId === p.id && PARKING.has(r.kind));
  // One that closed by itself since, as a signup's about its number does, decided nothing.
  const item = items.findLast((r) => r.resolution !== 'cleared');
  const others = items.some((r) => r.status === 'open' && !isShort(r));
  // One that is refused or fails brings the item back by itself (refund-answer.ts).
  const ends = s.refunds.filter((r) => r.paymentRowId === p.id).map((r) => r.status);
  const isOver = ends.every((status) => status === 'succeeded' || status === 'failed' || status === 'joined');
  const isAsked = item?.resolution === 'refund' || item?.status === 'open';
  return isOver && isAsked && !others ? item : undefined;
}

/** The same question, with what became of it. */
function askAgain(s: LaneState, p: PaymentRow, item: ReviewRow, ctx: Ctx): LaneState {
  const sum = (minor: bigint): Money => ({ minor, currency: p.currency });
  const left = returnOf(s, p.id) === undefined ? refundable(p, s.refunds, lostOf(p.id, s.objects)) : 0n;
  const fact = { ...item.fact, short: { refunded: sum(p.amountRefunded), left: sum(left) } };
  if (item.status === 'open' && isSameFact(item.fact, fact)) return s;
  const state = closeReviews(s, ctx, (r) => r.id === item.id, {
    by: null,
    resolution: 'cleared',
    note: 'another sum is left',
  });
  const { subject, actions } = item;
  const proposed = left === 0n ? 'dismiss' : actions.includes('refund') ? 'refund' : null;
  return openReview(state, ctx, { ...ofKind(item, fact), subject, paymentRowId: p.id, actions, proposed });
}

/** Its sums follow those of the payment itself. */
export function isShort({ fact }: Pick<ReviewRow, 'fact'>): boolean {
  return fact.short !== undefined;
}
