// Records `payment.refunded`: the event of a refund, ours or made elsewhere.
import { type Lane } from '../../../engine/lane.js';
import { type PaymentEvent, type EventOutcome, done } from '../../../engine/event.js';
import { takePayment } from '../../books/rules/payment-rows.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { moveRefund, type RefundRow } from '../../../shared/domain/refund-row.js';
import { showMoney } from '../../../shared/domain/money.js';
import { newRefund, type Refund, isNameless } from './refund.js';
import { type Mutable } from '../../../shared/domain/row.js';
import { saysNothing } from '../../books/rules/payment-state.js';
import { type ConflictFact } from '../../../shared/domain/facts/conflict.js';

/** Records `payment.refunded`: the MoR refunded a payment. */
export function applyRefunded(lane: Lane, event: PaymentEvent): EventOutcome {
  const other = findMisnamed(lane, event);
  if (other !== undefined) return tellMisnamed(lane, event, other);
  const p = takePayment(lane, event);
  applyTotals(p, event);
  const known = findRefund(lane, p, event);
  if (
    known !== undefined &&
    (known.status === 'succeeded' || !isSameMoney(known, event) || isNamedOtherwise(known, event))
  )
    return applyAgain(lane, p, known, event);
  const made = {
    ...newRefund(lane.ctx, p, { amount: event.amount, reason: event.reason, origin: 'event' }),
    currency: event.currency,
  };
  const r = known ?? lane.add('refunds', made);
  const reported = {
    failure: null,
    reason: r.reason ?? event.reason,
    totalAfter: event.amountRefundedTotal,
    succeededAt: event.at,
  };
  moveRefund(r, 'succeeded', reported);
  fillIds(r, event);
  const what = showMoney({ minor: event.amount, currency: event.currency });
  return done(`${what} was refunded, refund ${r.morRefundId ?? r.processorRefundId ?? r.id}`);
}

/** Records a further event about a known refund. The event adds ids and a total, or contradicts the row. */
function applyAgain(lane: Lane, payment: PaymentRow, refund: Refund, event: PaymentEvent): EventOutcome {
  const total = event.amountRefundedTotal;
  const other = isNamedOtherwise(refund, event) ? refund.morRefundId : null;
  const isSameTotal = refund.totalAfter === null || total === null || refund.totalAfter === total;
  fillIds(refund, event);
  if (isSameMoney(refund, event) && isSameTotal && other === null) {
    refund.totalAfter ??= total;
    return done('this refund is already recorded');
  }
  const about = { subject: event.eventId, paymentRowId: payment.id, refundId: refund.id };
  lane.openReview({ kind: 'conflicting_event', ...about, fact: howItDiffers(event, other) });
  return done('differs from the record: not applied');
}

/**
 * Records the running total, the sum refunded so far. The MoR can refund only a payment that it took, so the event also
 * proves the payment. If Crossbill knew only a refused try of the payment, the payment's amount is now unknown.
 */
function applyTotals(payment: Mutable<PaymentRow>, event: PaymentEvent): void {
  // True for a closed payment without money: its charge has no proof, or the ledger has its charge for another invoice.
  const isLetGo = saysNothing(payment);
  const isEarly = payment.succeededAt === null && payment.mark === 'none' && !isLetGo;
  if (isEarly) Object.assign(payment, { amount: null, failureMessage: null, declineCode: null });
  const total = event.amountRefundedTotal;
  if (total !== null && total > (payment.refundedTotal ?? -1n)) payment.refundedTotal = total;
  // The status `refunded` is final, even if two refund events arrive in the wrong order.
  if (payment.succeededAt === null && payment.status !== 'refunded' && !isLetGo) payment.status = event.status;
}

function howItDiffers(eventRow: PaymentEvent, other: string | null): ConflictFact {
  const { eventId: event, refundId, processorRefundId: processorRefund } = eventRow;
  if (other === null) return { code: 'refund-differs', event, refund: refundId ?? processorRefund };
  const amount = { minor: eventRow.amount, currency: eventRow.currency };
  return { code: 'refund-named-otherwise', event, refund: refundId, amount, processorRefund, other };
}

function isSameMoney(refund: RefundRow, event: PaymentEvent): boolean {
  return refund.amount === event.amount && refund.currency === event.currency;
}

/**
 * True if the event has the row's processor id, but another MoR id. Two MoR ids mean two refunds, so the processor id
 * is wrong in the event or in the row.
 */
function isNamedOtherwise(refund: RefundRow, event: PaymentEvent): boolean {
  return refund.morRefundId !== null && event.refundId !== null && refund.morRefundId !== event.refundId;
}

function fillIds(refund: Refund, event: PaymentEvent): void {
  refund.morRefundId ??= event.refundId;
  refund.processorRefundId ??= event.processorRefundId;
}

/**
 * Finds the refund of an event by either id. If no refund has such an id, finds our own refund with the same amount and
 * no id: the webhook may arrive before the reply to our request. (If the event is about another refund, the reply adds
 * a second row, and the sums are right.)
 */
function findRefund(lane: Lane, payment: PaymentRow, event: PaymentEvent): Refund | undefined {
  const own = lane.findRefunds(payment);
  const alike = own.filter((r) => isSameMoney(r, event));
  const isSameTotal = (refund: RefundRow): boolean =>
    refund.totalAfter !== null && refund.totalAfter === event.amountRefundedTotal;
  if (event.refundId === null && event.processorRefundId === null) {
    // Document 3 makes both ids optional. An event without ids belongs to the refund with the same running total. If no
    // refund has this total, the event belongs to our own refund without an event so far.
    return alike.find(isSameTotal) ?? alike.find(awaitsEvent);
  }
  return (
    own.find((r) => event.refundId !== null && r.morRefundId === event.refundId) ??
    own.find((r) => event.processorRefundId !== null && r.processorRefundId === event.processorRefundId) ??
    alike.find((r) => isNameless(r, event.amount)) ??
    alike.find((r) => r.morRefundId === null && r.processorRefundId === null && isSameTotal(r))
  );
}

/** True for our own refund while its event is missing. The event of a `joined` refund is in another row. */
function awaitsEvent(refund: RefundRow): boolean {
  const over = refund.status === 'failed' || refund.status === 'joined' || refund.askedAs !== null;
  return refund.origin === 'api' && !over && refund.totalAfter === null;
}

/** Finds the payment with the event's payment id, if a person entered this id and the event has another charge id. */
function findMisnamed(lane: LaneRows, event: PaymentEvent): PaymentRow | undefined {
  const charge = event.processorChargeId;
  const isOther = (payment: PaymentRow): boolean =>
    charge !== null && payment.processorChargeId !== null && payment.processorChargeId !== charge;
  return lane.payments.find((p) => p.paymentId === event.paymentId && p.identifiedBy !== null && isOther(p));
}

/**
 * Opens an item: a person gave payment `paymentRow` the id of another payment, so the MoR refunded the wrong customer. Only
 * people can correct the mistake.
 */
function tellMisnamed(lane: Lane, event: PaymentEvent, paymentRow: PaymentRow): EventOutcome {
  const { paymentId: payment, processorChargeId: charge, customerId: customer } = event;
  const said = { payment, charge, customer, amount: { minor: event.amount, currency: event.currency } };
  const own = { by: paymentRow.identifiedBy ?? '', ownCharge: paymentRow.processorChargeId };
  const fact = { code: 'payment-misnamed', ...own, ...said } as const;
  lane.openReview({ kind: 'conflicting_event', subject: event.eventId, paymentRowId: paymentRow.id, fact });
  return done('a person entered this payment id for another payment: not applied');
}
