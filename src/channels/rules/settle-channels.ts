// Links and transfers at rest: what a person must know is an item, and it closes itself when its cause is gone.
import { type LaneState } from '../../domain/model.js';
import { isPayableLink, type MorObjectRow, TRANSFERRED } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, openReviewOf, putObject, putPayment } from '../../domain/lane/change.js';
import { nextLook } from './looks.js';
import { settleDisputes, until } from '../../disputes/rules/settle-disputes.js';
import { TRANSFER_PATIENCE_MS } from '../../policy.js';

/** Money that came for the invoice itself is its customer's: no event of Document 2 names one. */
export function nameCustomers(s: LaneState): LaneState {
  const customerId = s.invoice?.customerId ?? null;
  if (customerId === null) return s;
  let state = s;
  for (const p of s.payments) if (p.customerId === '') state = putPayment(state, { ...p, customerId });
  return state;
}

export function settleChannels(s: LaneState, ctx: Ctx): LaneState {
  let state = settleDisputes(lookAgain(s, ctx), ctx);
  for (const o of state.objects) {
    if (o.kind === 'payment_link') state = settleLink(state, o, ctx);
    if (o.kind === 'proforma') state = settleTransfer(state, o, ctx);
  }
  return state;
}

/** Webhooks may be lost for good: what can change at the MoR is looked at now and then. */
function lookAgain(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const o of s.objects) {
    const at = o.readDueAt === null && o.morId !== null ? nextLook(o, ctx.now) : null;
    if (at !== null) state = putObject(state, { ...o, readDueAt: at });
  }
  return state;
}

/** A read says that the transfer came; how much of it, only the event says. Document 2 tries to deliver it for some hours. */
function settleTransfer(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  if (!TRANSFERRED.has(o.status)) return s;
  if (o.paymentRowId !== null) {
    return closeReviews(s, ctx, (r) => r.kind === 'conflicting_event' && r.subject === o.id, {
      by: null,
      resolution: 'cleared',
      note: 'the transfer is recorded',
    });
  }
  if (ctx.now.getTime() < o.updatedAt.getTime() + TRANSFER_PATIENCE_MS) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: o.id,
    summary: `proforma invoice ${o.number ?? o.morId ?? ''} is settled at the MoR, and no event said how much came`,
    proposal: 'Ask the MoR to send proforma_invoice.settled again, or for the amount, and mark the invoice by hand.',
  });
}

/** Paid another way while its link can still be paid: the customer may pay twice. */
function settleLink(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const expired = o.status === 'PAYABLE' && !isPayableLink(o, ctx.now);
  const row: MorObjectRow = expired ? { ...o, status: 'EXPIRED', updatedAt: ctx.now } : o;
  const state = expired ? putObject(s, row) : s;
  const paid = s.invoice?.platformStatus === 'paid' || s.invoice?.platformStatus === 'void';
  const subject = o.id;
  if (row.status === 'PAYABLE' && paid && row.detail.capturedAt === undefined) {
    return openReview(state, ctx, {
      kind: 'double_payment',
      subject,
      summary: `the invoice is ${s.invoice?.platformStatus ?? ''}, and payment link ${o.morId ?? o.id} can still be paid ${until(o)}`,
      proposal:
        'Tell the customer not to use the link. A payment on it would be a second one and is shown if it comes.',
    });
  }
  if (row.status === 'PAYABLE' || openReviewOf(state, 'double_payment', subject) === undefined) return state;
  return closeReviews(state, ctx, (r) => r.kind === 'double_payment' && r.subject === subject, {
    by: null,
    resolution: 'cleared',
    note: `the link is ${row.status}`,
  });
}
