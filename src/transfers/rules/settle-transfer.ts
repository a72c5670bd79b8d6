// A transfer that came, and no event said how much.
import { type LaneState } from '../../domain/model.js';
import { isLiveProforma, type MorObjectRow, TRANSFERRED } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { type LookAgain, type SettleRule } from '../../engine/subject.js';
import { tellOfStanding } from '../../mor-objects/rules/standing.js';
import { onObject } from '../../mor-objects/rules/mor-object.js';
import { TRANSFER_PATIENCE_MS } from '../../policy.js';

export const settleTransfers: SettleRule = (s, ctx, lookAgain) =>
  s.objects.reduce((state, o) => {
    if (o.kind !== 'proforma') return state;
    const stands = o.morId !== null && isLiveProforma(o) && o.status !== 'REQUESTED' && !TRANSFERRED.has(o.status);
    return settleTransfer(tellOfStanding(state, o, stands, ctx), o, ctx, lookAgain);
  }, s);

/** A read says that the transfer came; how much of it, only the event says. Document 2 tries to deliver it for some hours. */
function settleTransfer(s: LaneState, o: MorObjectRow, ctx: Ctx, lookAgain: LookAgain): LaneState {
  if (!TRANSFERRED.has(o.status)) return s;
  if (o.paymentRowId !== null) {
    return closeReviews(s, ctx, (r) => r.kind === 'conflicting_event' && r.subject === o.id, {
      by: null,
      resolution: 'cleared',
      note: 'the transfer is recorded',
    });
  }
  const late = new Date(o.updatedAt.getTime() + TRANSFER_PATIENCE_MS);
  lookAgain(late);
  if (ctx.now.getTime() < late.getTime()) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: o.id,
    fact: { code: 'transfer-unheard', ...onObject(o) },
  });
}
