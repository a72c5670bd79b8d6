// A rest that is still due after the mark: the invoice changed while it was being marked.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Ctx, openReview } from '../../domain/lane/change.js';
import { type SettleRule } from '../../domain/lane/subject.js';
import { showMoney } from '../../domain/money.js';

/** A person is told, unless they let a part through themselves. */
export function tellRest(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.platformStatus === 'paid' || i.amountRemaining === 0n || p.waived.includes('amount_mismatch'))
    return s;
  return openReview(s, ctx, {
    kind: 'amount_mismatch',
    subject: p.id,
    paymentRowId: p.id,
    summary: `the payment is attached, and the invoice is still ${i.platformStatus} with ${showMoney({ minor: i.amountRemaining ?? 0n, currency: p.currency })} due`,
    proposal: 'The invoice changed while it was being marked. Collect the rest, or credit it on Stripe.',
  });
}

/** A person chose to look again (mark-review.ts), which asks for a read: after it, what is still due is told again. */
export const settleRest: SettleRule = (s, ctx) => {
  const i = s.invoice;
  if (i === null || i.readAt === null || (i.platformStatus !== 'open' && i.platformStatus !== 'uncollectible'))
    return s;
  return s.payments.reduce((state, p) => {
    const last = s.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === p.id);
    return p.mark === 'confirmed' && last?.resolution === 'retry' ? tellRest(state, p, ctx) : state;
  }, s);
};
