// The MoR says that money was given back (`payment.refunded`).
import { type ConflictFact } from '../../domain/facts/conflict.js';
import { type LaneState, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { type Applied, done, type PaymentEvent } from '../../engine/event.js';
import { type Ctx, openReview, putPayment, putRefund } from '../../engine/change.js';
import { saysNothing, withIds } from '../../engine/payment.js';
import { moveRefund } from '../../engine/moves.js';
import { isNameless, newRefund } from './refund-names.js';
import { showMoney } from '../../domain/money.js';
import { MISNAMED, misnamed, tellMisnamed } from './misnamed-payment.js';

export function applyRefunded(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const other = misnamed(s, e);
  if (other !== undefined) return { state: tellMisnamed(s, e, other, ctx), verdict: done(MISNAMED) };
  const before = withIds(s, e, ctx);
  // What was given back was taken before, though nobody told us how much: an earlier refusal says nothing of it any more. Of one whose
  // charge is another invoice's, nothing was taken here.
  const isLetGo = saysNothing(before);
  const overtook = before.succeededAt === null && before.mark === 'none' && !isLetGo;
  const p = overtook ? { ...before, amount: null, failureMessage: null, declineCode: null } : before;
  const total = e.amountRefundedTotal;
  const withTotal: PaymentRow = {
    ...p,
    refundedTotal:
      total === null ? p.refundedTotal : p.refundedTotal === null || total > p.refundedTotal ? total : p.refundedTotal,
    // `refunded` is the end, whichever of two refunds arrives last.
    status: p.succeededAt === null && p.status !== 'refunded' && !isLetGo ? e.status : p.status,
  };
  const state = putPayment(s, withTotal);
  const known = findRefund(state, withTotal, e);
  const sameMoney = known?.amount === e.amount && known.currency === e.currency;
  // Found by the processor's id alone: two ids of the MoR's are two refunds, and one of the two is said with the other's id.
  const otherName = known !== undefined && isNamedOtherwise(known, e) ? known.morRefundId : null;
  if (known !== undefined && (known.status === 'succeeded' || !sameMoney || otherName !== null)) {
    const sameTotal = known.totalAfter === null || total === null || known.totalAfter === total;
    const same = sameMoney && sameTotal && otherName === null;
    const filled = { ...known, ...refundIds(known, e), totalAfter: known.totalAfter ?? (same ? total : null) };
    if (same) return { state: putRefund(state, filled), verdict: done('this refund is already recorded') };
    return {
      state: openReview(putRefund(state, filled), ctx, {
        kind: 'conflicting_event',
        subject: e.eventId,
        paymentRowId: p.id,
        refundId: known.id,
        fact: howItDiffers(e, otherName),
      }),
      verdict: done('differs from the record: not applied'),
    };
  }
  const row: RefundRow = {
    ...moveRefund(
      known ?? { ...newRefund(ctx, withTotal, e.amount, e.reason, 'event'), currency: e.currency },
      'succeeded',
    ),
    ...refundIds(known, e),
    failure: null,
    reason: known?.reason ?? e.reason,
    totalAfter: total,
    succeededAt: e.at,
  };
  const what = showMoney({ minor: e.amount, currency: e.currency });
  return {
    state: putRefund(state, row),
    verdict: done(`${what} was refunded, refund ${row.morRefundId ?? row.processorRefundId ?? row.id}`),
  };
}

function howItDiffers(e: PaymentEvent, other: string | null): ConflictFact {
  const { eventId: event, refundId, processorRefundId: processorRefund } = e;
  if (other === null) return { code: 'refund-differs', event, refund: refundId ?? processorRefund };
  const amount = { minor: e.amount, currency: e.currency };
  return { code: 'refund-named-otherwise', event, refund: refundId, amount, processorRefund, other };
}

function isNamedOtherwise(r: RefundRow, e: PaymentEvent): boolean {
  return r.morRefundId !== null && e.refundId !== null && r.morRefundId !== e.refundId;
}

function refundIds(r: RefundRow | undefined, e: PaymentEvent): Pick<RefundRow, 'morRefundId' | 'processorRefundId'> {
  return {
    morRefundId: r?.morRefundId ?? e.refundId,
    processorRefundId: r?.processorRefundId ?? e.processorRefundId,
  };
}

/**
 * The refund an event is about: by either id; else one of ours of the same amount that has no id yet, since the webhook may come
 * before the answer to our own request. (If that was another refund, the answer brings a second row: the sums are right.)
 */
function findRefund(s: LaneState, p: PaymentRow, e: PaymentEvent): RefundRow | undefined {
  const own = s.refunds.filter((r) => r.paymentRowId === p.id);
  const alike = own.filter((r) => r.amount === e.amount && r.currency === e.currency);
  const sameTotal = (r: RefundRow): boolean => r.totalAfter !== null && r.totalAfter === e.amountRefundedTotal;
  if (e.refundId === null && e.processorRefundId === null) {
    // Document 3 makes both ids optional: the running total tells it from another, or it is the one of ours not yet announced.
    return alike.find(sameTotal) ?? alike.find(awaitsEvent);
  }
  return (
    own.find((r) => e.refundId !== null && r.morRefundId === e.refundId) ??
    own.find((r) => e.processorRefundId !== null && r.processorRefundId === e.processorRefundId) ??
    alike.find((r) => isNameless(r, e.amount)) ??
    alike.find((r) => r.morRefundId === null && r.processorRefundId === null && sameTotal(r))
  );
}

/** One of ours whose event has not come. That of a row that a request was joined to came before the request. */
function awaitsEvent(r: RefundRow): boolean {
  const over = r.status === 'failed' || r.status === 'joined' || r.askedAs !== null;
  return r.origin === 'api' && !over && r.totalAfter === null;
}
