// The MoR's id of the payment that a link brought, as a capture on the link named it.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { idOn, ownIdOf } from '../../domain/lane/link-charges.js';
import { type Ctx, putPayment } from '../../domain/lane/change.js';
import { tellRenamed } from '../../refunds/rules/misnamed-payment.js';

/** Names the payment that the link `o` brought. By who works the lane alone: only they can look whether another invoice has that name. */
export function nameByCapture(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === o.paymentRowId && x.origin === 'payment_link' && x.reference === o.morId);
  const paymentId = p === undefined ? null : idOn(o, p.processorChargeId);
  if (p === undefined || paymentId === null || ctx.beside === true) return s;
  // The MoR's own word counts more than a person's.
  if (ownIdOf(p) !== null) return s;
  const isAnothers =
    ctx.paymentsElsewhere?.has(paymentId) === true ||
    s.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  return isAnothers ? s : tellRenamed(s, putPayment(s, { ...p, paymentId, identifiedBy: null }), ctx);
}
