// A request for a refund: checked, then stored with its key and bytes. The workers send it.
import { type LaneRows, type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { showMoney } from '../../domain/money.js';
import { morKey } from '../../domain/mor-key.js';
import { lostOf, returnOf } from '../../domain/mor-object.js';
import { refundable } from '../../domain/status.js';
import { type Refusal, refuse, refuseInShadow, type Result } from '../../engine/commanded.js';
import { type Lane } from '../../engine/draft.js';
import { newRefund } from './refund.js';

export type RefundRequest = {
  /** Smallest units; null: the rest of the payment. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** The API key's name. */
  readonly by: string;
};

/** Document 3 refunds by `pay_...` ids, and only its `payment.*` events name them: how to name a payment without one. */
export const HOW_TO_NAME =
  "The MoR's id of this payment (pay_...) is not known here yet. Name it first: POST /v1/payments/{id}/identify, crossbill refund --payment-id, or the payment's page in the console; the MoR portal shows it. A payment that the MoR gives no such id is refunded in its portal.";

/**
 * Stores a refund with its key and bytes; its amount is reserved from here on.
 * @param scope names of this request alone, the same after a restored backup; null: the refund's own id makes its key
 */
export function requestRefund(
  lane: Lane,
  paymentRowId: string,
  req: RefundRequest,
  scope: readonly string[] | null = null,
): Result<RefundRow> {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (lane.settings.shadow === true) return refuseInShadow();
  if (p.paymentId === null) return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  if (p.succeededAt === null || p.amount === null)
    return refuseRefund('This payment never succeeded: there is nothing to refund.');
  if (returnOf(lane, p.id) !== undefined)
    return refuseRefund(
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.',
    );
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : lane.messages.find((m) => m.key === key);
  if (before !== undefined) {
    const made = refundById(lane, before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount)) return { ok: true, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key was used for another refund of this payment.');
  }
  const show = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const lost = lostOf(p.id, lane.objects);
  const rest = refundable(p, lane.refunds, lost);
  const byBank = lost > 0n ? `The bank took ${show(lost)} of this payment: a dispute was lost.` : '';
  if (rest === 0n)
    return refuseRefund(
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment is refunded or being refunded.',
    );
  const amount = req.amount ?? rest;
  if (amount > rest) {
    const why = `The amount exceeds what remains of this payment: ${show(rest)}. ${byBank}`;
    return refuse(400, 'invalid_request', why.trim(), 'amount');
  }
  const refund = lane.add('refunds', newRefund(lane.ctx, p, amount, req.reason, 'api'));
  const { reason, metadata } = req;
  const kind = 'create_refund' as const;
  const wire = lane.ctx.encodeMor({ kind, paymentId: p.paymentId, amountMinor: amount, reason, metadata });
  lane.request({ peer: 'mor', kind, subject: refund.id, wire, ...(key === null ? {} : { key }) });
  lane.say('person', `${req.by} asked for a refund of ${show(amount)}`, refund);
  return { ok: true, value: refund };
}

function refuseRefund(why: string): Refusal {
  return refuse(422, 'payment_not_refundable', why);
}

/** Both ids of a payment, the MoR's and ours, are one scope: the MoR's makes the key, since no restore changes it. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** The refund under this id of ours: its own row, or the row in its place. */
export function refundById({ refunds }: LaneRows, id: string): RefundRow | undefined {
  return refunds.find((r) => r.askedAs === id) ?? refunds.find((r) => r.id === id);
}

/** Refunds a payment by a person's choice for an item. @param amount smallest units; null: the rest of the payment */
export function refundForItem(
  lane: Lane,
  { kind }: Pick<ReviewRow, 'kind'>,
  p: PaymentRow | undefined,
  amount: bigint | null,
  by: string,
): Refusal | null {
  if (p === undefined) return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
  // After a restore it is the payment's first of its kind again. A further one follows a failed one only.
  const scopeOf = (n: number): readonly string[] => ['review', kind, String(n)];
  const isUsed = (n: number): boolean => lane.messages.some((m) => m.key === refundKey(p.paymentId ?? '', scopeOf(n)));
  let n = 1;
  while (isUsed(n)) n++;
  const request = { amount, reason: 'requested_by_customer', metadata: null, by };
  const asked = requestRefund(lane, p.id, request, scopeOf(n));
  return asked.ok ? null : asked;
}
