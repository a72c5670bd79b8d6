// Money that was given back of a payment whose charge a person said had paid another invoice: the books of neither show it.
import { type LaneState, type RefundRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { type SettleRule } from '../../engine/subject.js';
import { saysNothing } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';

/** The lane of that other invoice hears nothing of it. Once the MoR names a charge of this payment's own, the refund is booked here. */
export const settleGivenBackElsewhere: SettleRule = (s, ctx) =>
  s.refunds.reduce((state, r) => (r.status === 'succeeded' ? settle(state, r, ctx) : state), s);

function settle(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  if (p === undefined) return s;
  const subject = `${r.id}:elsewhere`;
  if (!saysNothing(p)) {
    if (p.succeededAt === null) return s;
    return closeReviews(s, ctx, (x) => x.kind === 'conflicting_event' && x.subject === subject, {
      by: null,
      resolution: 'cleared',
      note: 'the MoR named a charge of its own for the payment: the refund is in the ledger',
    });
  }
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject,
    paymentRowId: p.id,
    refundId: r.id,
    fact: {
      code: 'refunded-elsewhere',
      amount: { minor: r.amount, currency: r.currency },
      payment: effectName(p),
    },
  });
}
