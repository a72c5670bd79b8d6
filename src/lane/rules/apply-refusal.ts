// Takes in a refusal: what the peer will surely not do becomes another look, or an item for a person.
import { type LaneState, type OutboxRow, type RefundRow } from '../../domain/model.js';
import { type CallFailure } from '../../domain/ports/call.js';
import { paymentOf, said } from '../../domain/lane/answer-parts.js';
import { refundOf } from '../../refunds/rules/settle-refunds.js';
import { applyChannelRefusal } from '../../channels/rules/channel-answer.js';
import { applyTaxRefused } from '../../tax/rules/tax-answer.js';
import { type Ctx, note, openReview, putInvoice, putPayment, putRefund } from '../../domain/lane/change.js';
import { moveMark } from '../../domain/lane/moves.js';
import { PARKING } from '../../domain/lane/payment.js';
import { MARK_TRIES } from '../../policy.js';

/** A payment that was to be given back and was not waits for a person again: it is looked at afresh, and its item comes back. */
export function decideAnew(s: LaneState, paymentRowId: string): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  const asked = s.reviews.some((r) => r.status === 'open' && r.paymentRowId === paymentRowId && PARKING.has(r.kind));
  if (p?.mark !== 'parked' || asked || s.invoice === null) return s;
  return putInvoice(putPayment(s, moveMark(p, 'waiting')), { ...s.invoice, readAt: null });
}

/** A stored call was refused for good. */
export function applyRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const failed = (state: LaneState, over: { paymentRowId?: string; refundId?: string }, proposal: string): LaneState =>
    openReview(state, ctx, {
      kind: 'effect_failed',
      subject: `${m.kind}:${m.subject}`,
      summary: `${m.kind} was refused: ${said(f)}`,
      proposal,
      ...over,
    });
  switch (m.kind) {
    case 'finalize_invoice':
      return finalizeRefused(s, m, f, ctx);
    case 'report_payment':
    case 'attach_payment':
    case 'set_reference':
    case 'pay_out_of_band': {
      const p = paymentOf(s, m);
      if (p === undefined) return s;
      const markTries = p.markTries + 1;
      const i = s.invoice;
      if (m.kind !== 'report_payment' && markTries < MARK_TRIES && i !== null) {
        const again = putPayment(s, { ...moveMark(p, 'waiting'), markTries });
        return putInvoice(again, { ...i, readAt: null }); // look again: it may be void or paid by now
      }
      const parked = putPayment(s, { ...moveMark(p, 'parked'), markTries });
      return failed(
        parked,
        { paymentRowId: p.id },
        'Mend what the answer names, then retry; or mark the invoice by hand and dismiss this.',
      );
    }
    case 'report_refund':
    case 'issue_credit_note': {
      const r = refundOf(s, m);
      if (r === undefined) return s;
      const parked = putRefund(s, { ...r, mirror: 'parked' });
      return failed(
        parked,
        { refundId: r.id, paymentRowId: r.paymentRowId },
        'The money was given back; only Stripe does not show it. Mend what the answer names and retry, or credit it by hand and dismiss this.',
      );
    }
    case 'create_refund':
      return refundRefused(s, m, f, ctx);
    case 'create_proforma':
    case 'create_payment_link': {
      const state = applyChannelRefusal(s, m, f, ctx);
      const o = state.objects.find((x) => x.id === m.subject);
      if (o?.detail.automatic !== true) return state; // whoever asked is told
      return failed(
        state,
        {},
        'No link was made for this renewal by itself. Mend what the answer names (the RECOVERY_LINK settings, or the arrangement at the MoR) and retry, or make one on request.',
      );
    }
    case 'calculate_tax':
    case 'commit_tax':
    case 'refund_tax':
      return applyTaxRefused(s, m, f, ctx);
    case 'relay_event':
      return failed(
        s,
        {},
        'The MoR did not take this event from us. Find out why, then retry; it may not charge this renewal.',
      );
  }
}

/** The payment waits: as soon as the invoice is final, it is marked. */
function finalizeRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  const i = s.invoice;
  if (p === undefined || i === null) return s;
  const state = putPayment(putInvoice(s, { ...i, finalizationError: said(f), readAt: null }), moveMark(p, 'waiting'));
  return openReview(state, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    paymentRowId: p.id,
    summary: `Stripe refused to finalize the invoice: ${said(f)}`,
    proposal: 'Mend on Stripe what it names and finalize the invoice; the payment that waits is then marked by itself.',
  });
}

/** A first try that was refused gave nothing back, and its amount is free again; the refusal of a repeat says less. */
function refundRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const r = refundOf(s, m);
  if (r === undefined || (r.status !== 'requested' && r.status !== 'unknown')) return s;
  // 409: its key is in use, or was used before. A try whose record a crash lost may be under way: nothing is freed on that.
  if (r.status === 'requested' && f.status !== 409) {
    const freed = putRefund(s, {
      ...r,
      status: 'failed',
      failure: { status: f.status, code: f.code, message: f.message },
    });
    return decideAnew(f.code === 'payment_not_found' ? nameless(freed, r.paymentRowId, ctx) : freed, r.paymentRowId);
  }
  if (f.code === 'idempotency_conflict') {
    // Another body under the same key, as after a restore: it is never sent under another one.
    const message =
      'The MoR has another request under the same Idempotency-Key, perhaps from before a backup was restored. Nothing was sent under another key.';
    const refused: RefundRow = { ...r, status: 'unknown', failure: { status: f.status, code: f.code, message } };
    return openReview(putRefund(s, refused), ctx, {
      kind: 'refund_stuck',
      subject: r.id,
      paymentRowId: r.paymentRowId,
      refundId: r.id,
      summary: `refund ${r.id} was refused: the MoR knows its key with another body (${said(f)})`,
      proposal:
        'Ask the MoR what it gave back under this key; its payment.refunded is taken in as it is. The amount stays reserved: if the MoR gave nothing back for this request, `apply` with a note frees it.',
    });
  }
  // A refusal of the repeat does not say what became of the first try.
  return openReview(putRefund(s, { ...r, status: 'unknown' }), ctx, {
    kind: 'refund_stuck',
    subject: r.id,
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    summary: `the first try of refund ${r.id} was not answered and its repeat was refused: ${said(f)}`,
    proposal:
      'Ask the MoR whether the money was given back. Its webhook settles this by itself; until then the amount stays reserved. If the MoR says that nothing was given back, `apply` with a note frees it.',
  });
}

/** A name that a person gave and the MoR does not know is taken back, so that the right one can be given. */
function nameless(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined || p.identifiedBy === null) return s;
  const said = `the MoR knows no payment ${p.paymentId ?? ''}, as ${p.identifiedBy} had named this one: it has no name again`;
  return note(putPayment(s, { ...p, paymentId: null, identifiedBy: null }), ctx, 'decision', said, p.id);
}
