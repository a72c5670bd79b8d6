// Records the MoR's reply to our refund request. The event of the same refund may have arrived before.
import { type Lane } from '../../../engine/lane.js';
import { type RefundReply } from '../../../shared/domain/ports/payment-gateway.js';
import { moveRefund } from '../../../shared/domain/refund-row.js';
import { paymentName } from '../../../shared/domain/payment-name.js';
import { type Refund, isNameless, newRefund, requestOf } from './refund.js';

/**
 * Records the MoR's refund (Document 3, "Refund") from the reply to our request. The refund's webhook may have arrived
 * before the reply.
 */
export function applyReply(lane: Lane, refund: Refund, reply: RefundReply): void {
  const p = lane.findPayment(refund.paymentRowId);
  if (p === undefined) return;
  const others = lane.findRefunds(p).filter((x) => x.id !== refund.id);
  const known =
    others.find((x) => x.morRefundId === reply.morRefundId) ??
    others.find((x) => reply.processorRefundId !== null && x.processorRefundId === reply.processorRefundId);
  if (reply.amountMinor !== refund.amount || reply.currency !== refund.currency || reply.paymentId !== p.paymentId) {
    if (refund.status === 'requested') moveRefund(refund, 'unknown');
    if (known === undefined && reply.paymentId === p.paymentId) refund.morRefundId ??= reply.morRefundId;
    const asked = { minor: refund.amount, currency: refund.currency };
    const answered = { minor: reply.amountMinor, currency: reply.currency };
    const fact = {
      code: 'answer-differs',
      payment: paymentName(p),
      asked,
      answered,
      answeredFor: reply.paymentId,
    } as const;
    return lane.openReview({ kind: 'refund_gap', subject: refund.id, paymentRowId: p.id, refundId: refund.id, fact });
  }
  const reported = known ?? (isNameless(refund, reply.amountMinor) ? findReported(others, reply) : undefined);
  if (reported !== undefined) return join(lane, refund, reported, reply);
  const isOther = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && one !== other;
  const isAnother =
    isOther(refund.morRefundId, reply.morRefundId) || isOther(refund.processorRefundId, reply.processorRefundId);
  // If `isAnother`, Crossbill sent two requests for the same amount, and gave the event of the second refund to row
  // `refund`. So the reply to `refund` belongs to the row of the second request.
  const twin = (): Refund =>
    others.find((x) => isNameless(x, refund.amount)) ??
    lane.add('refunds', newRefund(lane.ctx, p, { amount: refund.amount, reason: refund.reason, origin: 'api' }));
  settleBy(lane, isAnother ? twin() : refund, reply);
}

function settleBy(lane: Lane, refund: Refund, reply: RefundReply): void {
  const isSettled = refund.status === 'succeeded';
  const status = (['succeeded', 'pending', 'failed'] as const).find((known) => known === reply.status) ?? null;
  if (!isSettled) moveRefund(refund, status ?? 'pending', { morStatus: status === null ? reply.status : null });
  refund.morRefundId = reply.morRefundId;
  refund.processorRefundId ??= reply.processorRefundId;
  if (reply.status === 'succeeded') refund.succeededAt ??= reply.createdAt ?? lane.now;
  const failure = { status: null, code: 'refund_failed', message: 'the MoR reported a failure' };
  refund.failure = reply.status === 'failed' && !isSettled ? failure : null;
}

/**
 * Finds the row of a refund's event that arrived before the reply to our request. Document 3 demands no id in an event,
 * so Crossbill compares times: the event is never older than the refund. If several events fit, Crossbill takes the
 * oldest, because the younger events may belong to later replies.
 */
function findReported(others: readonly Refund[], reply: RefundReply): Refund | undefined {
  // event times are whole seconds
  const madeSec = reply.createdAt === null ? null : Math.floor(reply.createdAt.getTime() / 1_000);
  if (madeSec === null) return undefined;
  const isNew = (refund: Refund): boolean =>
    refund.origin === 'event' &&
    refund.askedAs === null &&
    refund.morRefundId === null &&
    refund.processorRefundId === null;
  const at = (refund: Refund): number => refund.succeededAt?.getTime() ?? -1;
  return others
    .filter(
      (r) => isNew(r) && r.amount === reply.amountMinor && r.currency === reply.currency && madeSec <= at(r) / 1_000,
    )
    .toSorted((x, y) => at(x) - at(y))[0];
}

/**
 * Joins two rows of the same refund: `known` from the refund's event, and `refund` from our request. After a restored backup
 * Crossbill may repeat a request under its old key, and the event may arrive before the reply. After the join only
 * `known` counts: the id of `refund` leads to `known`, and `refund` reserves no amount (docs/decisions/0008).
 */
function join(lane: Lane, refund: Refund, known: Refund, reply: RefundReply): void {
  // True if Crossbill gave the event to another request of ours, and this other request has no reply yet. Only the
  // reply shows the right refund for the event.
  const awaits = requestOf(lane, known.id)?.status === 'pending';
  const same = isNameless(refund, known.amount) && known.currency === refund.currency;
  if (!same || awaits || known.status !== 'succeeded' || known.askedAs !== null) return;
  const own = lane.refunds.filter((x) => x.paymentRowId === refund.paymentRowId);
  const isHeld = own.some((x) => x.processorRefundId === reply.processorRefundId);
  moveRefund(refund, 'joined');
  known.morRefundId ??= reply.morRefundId;
  if (!isHeld) known.processorRefundId ??= reply.processorRefundId;
  known.reason ??= refund.reason;
  Object.assign(known, { origin: 'api', askedAs: refund.id, askedOf: refund.askedOf });
  lane.log('decision', `${refund.id} and the recorded refund ${known.morRefundId} are the same refund`, known);
}
