// Records a refund reported by the MoR, in an event or in the reply to our request. Both lead to one row, in either
// order.
import { type ConflictFact } from '../../../shared/domain/facts/conflict.js';
import {
  type LaneRows,
  type CallRow,
  type PaymentRow,
  REFUND,
  type RefundRow,
  moveRefund,
} from '../../../shared/domain/model.js';
import { showMoney } from '../../../shared/domain/money.js';
import { paymentName } from '../../../shared/domain/payment-name.js';
import { type Mutable, newRow } from '../../../shared/domain/row.js';
import { type RefundReply } from '../../../shared/domain/ports/payment-gateway.js';
import { type Ctx } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { done, type PaymentEvent, type EventOutcome } from '../../../engine/event.js';
import { saysNothing, takePayment } from '../../books/rules/payment-rows.js';

type Refund = Mutable<RefundRow>;

export function newRefund(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  payment: PaymentRow,
  {
    amount,
    reason,
    origin,
  }: { readonly amount: bigint; readonly reason: string | null; readonly origin: RefundRow['origin'] },
): RefundRow {
  return newRow(REFUND, {
    id: ctx.newId('ref'),
    paymentRowId: payment.id,
    invoiceId: payment.invoiceId,
    amount,
    currency: payment.currency,
    status: 'requested',
    reason,
    origin,
    askedOf: origin === 'api' ? payment.paymentId : null,
    counted: false,
    mirror: 'none',
    createdAt: ctx.now,
  });
}

/** True for our own refund of this amount without a reply and without an id. */
export function isNameless(refund: RefundRow, amount: bigint): boolean {
  return (
    refund.origin === 'api' &&
    isWaiting(refund) &&
    refund.morRefundId === null &&
    refund.processorRefundId === null &&
    refund.amount === amount
  );
}

/** True until the MoR has answered our request. */
export function isWaiting({ status }: RefundRow): boolean {
  return status === 'requested' || status === 'unknown';
}

/**
 * Finds our own refund of this amount that the MoR has not answered.
 * @param amount smallest units; null: the rest of the payment
 */
export function findWaiting<R extends RefundRow>(
  of: readonly R[],
  amount: bigint | null,
  remaining: bigint,
): R | undefined {
  const wanted = amount ?? remaining;
  return of.find((r) => r.origin === 'api' && isWaiting(r) && (wanted === 0n || r.amount === wanted));
}

export function logWaiting({ id, amount, currency, status }: RefundRow): string {
  const how = status === 'requested' ? 'stored and not sent yet' : 'sent, and the MoR has not answered';
  return `Refund ${id} of ${showMoney({ minor: amount, currency })} of this payment is ${how}.`;
}

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

/** Finds the request for our refund. A refund has only one request, even if Crossbill sends it several times. */
export function requestOf<M extends CallRow>(
  { calls }: { readonly calls: readonly M[] },
  refundId: string,
): M | undefined {
  return calls.find((m) => m.kind === 'create_refund' && m.subject === refundId);
}

/** True if the refund request used a payment id from a person, and the MoR later gave the payment another id. */
export function isRenamed(payment: PaymentRow | undefined, refund: RefundRow | undefined): boolean {
  const [asked, now] = [refund?.askedOf ?? null, payment?.paymentId ?? null];
  return asked !== null && now !== null && asked !== now;
}

/** Items for refunds under a wrong payment id from a person: the MoR refunded another payment. */
export const renamedRefunds = itemRule(
  { 'payment-renamed': 'the MoR refunded nothing under that id' },
  function* (lane) {
    const { payments, refunds } = lane;
    for (const p of payments) {
      const made = refunds.filter(
        (r) => r.paymentRowId === p.id && isRenamed(p, r) && r.status !== 'failed' && r.status !== 'joined',
      );
      for (const from of new Set(made.flatMap((r) => r.askedOf ?? []))) {
        const minor = made.reduce((sum, r) => (r.askedOf === from ? sum + r.amount : sum), 0n);
        const fact = {
          code: 'payment-renamed',
          from,
          to: paymentName(p),
          amount: { minor, currency: p.currency },
        } as const;
        yield { kind: 'conflicting_event', about: p, subject: `${p.id}:${from}`, fact };
      }
    }
  },
);
