// What can still be paid, or may be, although its invoice is settled another way: the customer may pay twice, so a person is told.
import { type LaneState } from '../../domain/model.js';
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, openReviewOf } from '../../engine/change.js';
import { nameOf, until } from './mor-object.js';

/** Tells a person of a proforma invoice or a link that stands beside its settled invoice, until it ends. `stands`: it can be paid. */
export function tellOfStanding(s: LaneState, o: MorObjectRow, stands: boolean, ctx: Ctx): LaneState {
  const danger = dangerOf(s, o, stands);
  if (danger !== null) return openReview(s, ctx, { kind: 'double_payment', subject: o.id, ...danger });
  // A payment on it was announced, or its answer is awaited: how it ends is not known yet.
  if (stands || o.status === 'REQUESTED' || openReviewOf(s, 'double_payment', o.id) === undefined) return s;
  const what = o.kind === 'proforma' ? 'proforma invoice' : 'link';
  return closeReviews(s, ctx, (r) => r.kind === 'double_payment' && r.subject === o.id, {
    by: null,
    resolution: 'cleared',
    note: `the ${what} is ${o.status}`,
  });
}

type Danger = { readonly summary: string; readonly proposal: string };

function dangerOf(s: LaneState, o: MorObjectRow, stands: boolean): Danger | null {
  const isLink = o.kind === 'payment_link';
  if (o.detail.mayStand === true) {
    const summary = `${nameOf(o)} was asked for without an answer, and then taken back: the MoR may have made it`;
    const proposal = isLink
      ? "Nobody was given its address. Do not send it if the MoR's portal shows it; a payment on it would be shown here. Dismiss this after that."
      : `Look in the MoR's portal for a proforma invoice whose reference begins with ${o.invoiceId}, and cancel it. Dismiss this after that.`;
    return { summary, proposal };
  }
  const status = s.invoice?.platformStatus;
  if ((status !== 'paid' && status !== 'void') || !stands || heardAt(o) !== null) return null;
  if (isLink)
    return {
      summary: `the invoice is ${status}, and payment link ${o.morId ?? o.id} can still be paid ${until(o)}`,
      proposal: 'Tell the customer not to use the link. A payment on it would be a second one; it would be shown here.',
    };
  return {
    summary: `the invoice is ${status}, and ${nameOf(o)} still asks for a transfer ${until(o)}`,
    proposal:
      "Cancel it in the MoR's portal, or tell the customer not to pay it. A transfer for it would be a second payment; it would be shown here.",
  };
}
