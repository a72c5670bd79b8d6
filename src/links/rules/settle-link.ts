// A link that can still be paid when its invoice is paid already: the customer may pay twice.
import { type LaneState } from '../../domain/model.js';
import { isPayableLink, type MorObjectRow } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, openReviewOf, putObject } from '../../domain/lane/change.js';
import { type LookAgain, type SettleRule } from '../../domain/lane/subject.js';
import { until } from '../../channels/rules/mor-object.js';

export const settleLinks: SettleRule = (s, ctx, lookAgain) =>
  s.objects.reduce((state, o) => (o.kind === 'payment_link' ? settleLink(state, o, ctx, lookAgain) : state), s);

/** Paid another way while its link can still be paid: the customer may pay twice. */
function settleLink(s: LaneState, o: MorObjectRow, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const expired = o.status === 'PAYABLE' && !isPayableLink(o, ctx.now);
  const row: MorObjectRow = expired ? { ...o, status: 'EXPIRED', updatedAt: ctx.now } : o;
  const state = expired ? putObject(s, row) : s;
  const paid = s.invoice?.platformStatus === 'paid' || s.invoice?.platformStatus === 'void';
  const subject = o.id;
  if (row.status === 'PAYABLE') lookAgain(row.deadline);
  if (row.status === 'PAYABLE' && paid && row.detail.capturedAt === undefined) {
    return openReview(state, ctx, {
      kind: 'double_payment',
      subject,
      summary: `the invoice is ${s.invoice?.platformStatus ?? ''}, and payment link ${o.morId ?? o.id} can still be paid ${until(o)}`,
      proposal: 'Tell the customer not to use the link. A payment on it would be a second one; it would be shown here.',
    });
  }
  if (row.status === 'PAYABLE' || openReviewOf(state, 'double_payment', subject) === undefined) return state;
  return closeReviews(state, ctx, (r) => r.kind === 'double_payment' && r.subject === subject, {
    by: null,
    resolution: 'cleared',
    note: `the link is ${row.status}`,
  });
}
