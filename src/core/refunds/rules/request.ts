// Checks and stores our refund request; the workers send it.
import { type Lane } from '../../../engine/lane.js';
import { type Result, refuse, type Refusal } from '../../../engine/commanded.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../shared/domain/refund-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { HOW_TO_NAME } from '../../../shared/domain/payment-name.js';
import { returnOf, lostOf, objectId } from '../../../shared/domain/mor-object.js';
import { showMoney } from '../../../shared/domain/money.js';
import { refundable } from '../../../shared/domain/status.js';
import { findWaiting, logWaiting, newRefund } from './refund.js';
import { undecidedDisputes, showUndecided } from '../../../shared/domain/dispute-sum.js';
import { morKey } from '../../../shared/domain/mor-key.js';

export type RefundRequest = {
  /** The amount in smallest units. Null: the rest of the payment. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** The name of the API key or of the person. */
  readonly by: string;
  /** True: refuse a refund equal to one that still waits. The caller has no key, so it may be a repeat. */
  readonly unlessWaiting?: boolean;
  /** True: a person or the merchant's backend knows of the payment's open dispute, and wants the refund. */
  readonly despiteDispute?: boolean;
};

/**
 * Stores a refund with its key and bytes, and reserves its amount.
 * @param scope makes the key unique to this request, and is the same after a restored backup. Null: the refund's own id
 * makes the key unique
 */
export function requestRefund(
  lane: Lane,
  paymentRowId: string,
  req: RefundRequest,
  scope: readonly string[] | null = null,
): Result<RefundRow> {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.paymentId === null) return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  if (p.succeededAt === null || p.amount === null)
    return refuseRefund('This payment never succeeded: there is nothing to refund.');
  if (returnOf(lane, p.id) !== undefined)
    return refuseRefund(
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.',
    );
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : lane.calls.find((m) => m.key === key);
  if (before !== undefined) {
    const made = refundById(lane, before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount)) return { ok: true, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key belongs to another refund: use a new key.');
  }
  const show = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const lost = lostOf(p.id, lane.objects);
  const remaining = refundable(p, lane.refunds, lost);
  const waiting = req.unlessWaiting === true ? findWaiting(lane.findRefunds(p), req.amount, remaining) : undefined;
  if (waiting !== undefined) return refuse(409, REFUND_WAITING, logWaiting(waiting));
  const byBank = lost > 0n ? `The bank took ${show(lost)} of this payment: a dispute was lost.` : '';
  if (remaining === 0n)
    return refuseRefund(
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment is refunded or being refunded.',
    );
  const disputes = undecidedDisputes(p, lane.objects);
  if (disputes.length > 0 && req.despiteDispute !== true)
    return refuse(409, PAYMENT_DISPUTED, `${showUndecided(disputes)} ${HOW_TO_REFUND_DESPITE}`);
  const amount = req.amount ?? remaining;
  if (amount > remaining) {
    const why = `The amount exceeds the rest of this payment. Refund at most ${show(remaining)}. ${byBank}`;
    return refuse(400, 'invalid_request', why.trim(), 'amount');
  }
  const refund = lane.add('refunds', newRefund(lane.ctx, p, { amount, reason: req.reason, origin: 'api' }));
  const { reason, metadata } = req;
  const kind = 'create_refund' as const;
  const wire = lane.ctx.encodeMor({ kind, paymentId: p.paymentId, amountMinor: amount, reason, metadata });
  lane.request({ peer: 'mor', kind, subject: refund.id, wire, ...(key === null ? {} : { key }) });
  const despite = disputes.length > 0 ? `, despite dispute ${disputes.map(objectId).join(', ')}` : '';
  lane.log('person', `${req.by} asked for a refund of ${show(amount)}${despite}`, refund);
  return { ok: true, value: refund };
}

export const PAYMENT_DISPUTED = 'payment_disputed';

const HOW_TO_REFUND_DESPITE =
  'Answer the dispute first. If you want the refund despite it, request it for the payment: in the console, with `crossbill refund --despite-dispute`, or with `despite_dispute` in the API.';

export const REFUND_WAITING = 'refund_waiting';

function refuseRefund(why: string): Refusal {
  return refuse(422, 'payment_not_refundable', why);
}

/** The key contains the MoR's payment id, even if a caller used ours: a restore does not change the MoR's id. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** Finds a refund by our id: the refund's own row, or the row of the same refund after a join. */
export function refundById({ refunds }: LaneRows, id: string): RefundRow | undefined {
  return refunds.find((r) => r.askedAs === id) ?? refunds.find((r) => r.id === id);
}

/**
 * Refunds a payment because a person chose so in an item.
 * @param amount in smallest units; null: the rest of the payment
 */
export function refundForItem(
  lane: Lane,
  { kind }: Pick<ReviewRow, 'kind'>,
  payment: PaymentRow | undefined,
  { amount, by }: { readonly amount: bigint | null; readonly by: string },
): Refusal | null {
  if (payment === undefined)
    return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
  // The key contains the number `count`. Only after a failed refund does the next choice get the next number. After a
  // restored backup `count` starts at 1 again, so the same choice gets its old key.
  const scopeOf = (count: number): readonly string[] => ['review', kind, String(count)];
  const isUsed = (count: number): boolean =>
    lane.calls.some((m) => m.key === refundKey(payment.paymentId ?? '', scopeOf(count)));
  let n = 1;
  while (isUsed(n)) n++;
  const request = { amount, reason: 'requested_by_customer', metadata: null, by };
  const asked = requestRefund(lane, payment.id, request, scopeOf(n));
  return asked.ok ? null : asked;
}
