// Who may refund how much: a refund is asked for, checked and written down with its key and bytes.
import { type LaneState, type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { addMessage, type Ctx, note, putRefund } from '../../engine/change.js';
import { type Commanded, refuse, refuseInShadow } from '../../engine/commanded.js';
import { returnOf } from '../../returns/rules/return-items.js';
import { lostOf } from '../../domain/mor-object.js';
import { refundable } from '../../domain/status.js';
import { showMoney } from '../../domain/money.js';
import { newRefund, refundById } from './refund-names.js';
import { morKey } from '../../domain/mor-key.js';
import { carriedOut } from '../../engine/subject.js';

export type RefundRequest = {
  /** Null: all that remains. Smallest units. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Who asks: an API key's name. */
  readonly by: string;
};

/** Document 3 refunds by `pay_...` ids, which only its `payment.*` events name: how to name a payment without one. */
export const HOW_TO_NAME =
  "The MoR's id of this payment (pay_...) is not known here yet. Name it first: POST /v1/payments/{id}/identify, crossbill refund --payment-id, or the payment's page in the console; the MoR portal shows it. A payment that the MoR gives no such id is refunded in its portal.";

/**
 * Writes a refund down with its key and bytes; the amount is reserved from here on.
 * @param scope what makes this request one and no other, from names that survive a restored backup; null: nothing does, and the refund's
 *   own id makes its key
 */
export function requestRefund(
  s: LaneState,
  paymentRowId: string,
  req: RefundRequest,
  ctx: Ctx,
  scope: readonly string[] | null = null,
): Commanded<RefundRow> {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (ctx.settings.shadow === true) return refuseInShadow();
  if (p.paymentId === null) {
    return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  }
  if (p.succeededAt === null || p.amount === null) {
    return refuse(422, 'payment_not_refundable', 'This payment never succeeded: there is nothing to refund.');
  }
  if (returnOf(s, p.id) !== undefined) {
    const message =
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.';
    return refuse(422, 'payment_not_refundable', message);
  }
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : s.messages.find((m) => m.key === key);
  if (before !== undefined) {
    const made = refundById(s, before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount))
      return { ok: true, state: s, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key was used for another refund of this payment.');
  }
  const lost = lostOf(p.id, s.objects);
  const rest = refundable(p, s.refunds, lost);
  const byBank = `The bank took ${showMoney({ minor: lost, currency: p.currency })} of this payment: a dispute was lost.`;
  if (rest === 0n) {
    const why =
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment is refunded or being refunded.';
    return refuse(422, 'payment_not_refundable', why);
  }
  const amount = req.amount ?? rest;
  if (amount > rest) {
    const left = showMoney({ minor: rest, currency: p.currency });
    const why = `The amount exceeds what remains of this payment: ${left}.${lost > 0n ? ` ${byBank}` : ''}`;
    return refuse(400, 'invalid_request', why, 'amount');
  }
  const refund = newRefund(ctx, p, amount, req.reason, 'api');
  const wire = ctx.encodeMor({
    kind: 'create_refund',
    paymentId: p.paymentId,
    amountMinor: amount,
    reason: req.reason,
    metadata: req.metadata,
  });
  const call = {
    peer: 'mor',
    kind: 'create_refund',
    subject: refund.id,
    wire,
    ...(key === null ? {} : { key }),
  } as const;
  const state = addMessage(putRefund(s, refund), ctx, call);
  const said = `${req.by} asked for a refund of ${showMoney({ minor: amount, currency: p.currency })}`;
  return { ok: true, state: note(state, ctx, 'person', said, refund.id), value: refund };
}

/** Both ids of a payment, the MoR's and ours, are one scope: the key is made of the MoR's, which no restore changes. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** A refund chosen for a review item is the payment's first of that kind again after a restore; one more is asked for only when the last failed. */
export function reviewScope(s: LaneState, paymentId: string | null, kind: ReviewRow['kind']): readonly string[] {
  for (let n = 1; ; n++) {
    const scope = ['review', kind, String(n)];
    if (!s.messages.some((m) => m.key === refundKey(paymentId ?? '', scope))) return scope;
  }
}

/** Gives back what a person chose to give back for an item. @param amount smallest units; null: all that remains */
export function refundForReview(
  s: LaneState,
  r: ReviewRow,
  p: PaymentRow | undefined,
  amount: bigint | null,
  by: string,
  ctx: Ctx,
): Commanded<null> {
  if (p === undefined) return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
  const request = { amount, reason: 'requested_by_customer', metadata: null, by };
  const asked = requestRefund(s, p.id, request, ctx, reviewScope(s, p.paymentId, r.kind));
  return asked.ok ? carriedOut(asked.state) : asked;
}
