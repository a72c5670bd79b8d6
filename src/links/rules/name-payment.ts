// The MoR's id of the payment that a link brought, where a capture on the link named that and no charge.
import { type LaneState } from '../../domain/model.js';
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, putPayment } from '../../domain/lane/change.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';
import { tellRenamed } from '../../refunds/rules/misnamed-payment.js';

/** Names the payment that the link `o` brought. By who works the lane alone: only they can look whether another invoice has that name. */
export function nameByCapture(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const { capturedAs: paymentId } = o.detail;
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || paymentId === undefined || p.processorChargeId !== null || ctx.beside === true) return s;
  // The MoR's own word counts more than a person's.
  if (p.paymentId !== null && p.identifiedBy === null) return s;
  const isAnothers =
    ctx.paymentsElsewhere?.has(paymentId) === true ||
    s.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  return isAnothers ? s : tellRenamed(s, putPayment(s, { ...p, paymentId, identifiedBy: null }), ctx);
}

/** Whoever looked into the link since that capture found that it had taken nothing: what is paid on the link now is another payment. */
export function withoutRefuted(s: LaneState, o: MorObjectRow): MorObjectRow {
  if (o.paymentRowId !== null || !isLookedInto(s.reviews, [o.id], heardAt(o))) return o;
  const { capturedAs: _refuted, ...detail } = o.detail;
  return { ...o, detail };
}
