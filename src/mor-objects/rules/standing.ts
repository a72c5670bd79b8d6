// What can still be paid, or may be, although its invoice is settled another way: the customer may pay twice, so a person is told.
import { type DoubleFact } from '../../domain/facts/money.js';
import { type LaneState } from '../../domain/model.js';
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, openReviewOf } from '../../engine/change.js';

/** Tells a person of a proforma invoice or a link that stands beside its settled invoice, until it ends. `stands`: it can be paid. */
export function tellOfStanding(s: LaneState, o: MorObjectRow, stands: boolean, ctx: Ctx): LaneState {
  const danger = dangerOf(s, o, stands);
  if (danger !== null)
    return openReview(s, ctx, { kind: 'double_payment', subject: o.id, fact: danger, actions: ['retry', 'dismiss'] });
  // A payment on it was announced, or its answer is awaited: how it ends is not known yet.
  if (stands || o.status === 'REQUESTED' || openReviewOf(s, 'double_payment', o.id) === undefined) return s;
  const what = o.kind === 'proforma' ? 'proforma invoice' : 'link';
  return closeReviews(s, ctx, (r) => r.kind === 'double_payment' && r.subject === o.id, {
    by: null,
    resolution: 'cleared',
    note: `the ${what} is ${o.status}`,
  });
}

function dangerOf(s: LaneState, o: MorObjectRow, stands: boolean): DoubleFact | null {
  const what = o.kind === 'payment_link' ? 'payment_link' : 'proforma';
  const object = o.number ?? o.morId ?? o.id;
  if (o.detail.mayStand === true) return { code: 'may-stand', what, object, invoice: o.invoiceId };
  const status = s.invoice?.platformStatus;
  if ((status !== 'paid' && status !== 'void') || !stands || heardAt(o) !== null) return null;
  return { code: 'still-payable', what, object, status, until: o.deadline?.toISOString() ?? null };
}
