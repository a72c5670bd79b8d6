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
  p: PaymentRow,
  {
    amount,
    reason,
    origin,
  }: { readonly amount: bigint; readonly reason: string | null; readonly origin: RefundRow['origin'] },
): RefundRow {
  return newRow(REFUND, {
    id: ctx.newId('ref'),
    paymentRowId: p.id,
    invoiceId: p.invoiceId,
    amount,
    currency: p.currency,
    status: 'requested',
    reason,
    origin,
    askedOf: origin === 'api' ? p.paymentId : null,
    counted: false,
    mirror: 'none',
    createdAt: ctx.now,
  });
}

/** True for our own refund of this amount without a reply and without an id. */
export function isNameless(r: RefundRow, amount: bigint): boolean {
  return (
    r.origin === 'api' && isWaiting(r) && r.morRefundId === null && r.processorRefundId === null && r.amount === amount
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
export function applyRefunded(lane: Lane, e: PaymentEvent): EventOutcome {
  const other = findMisnamed(lane, e);
  if (other !== undefined) return tellMisnamed(lane, e, other);
  const p = takePayment(lane, e);
  applyTotals(p, e);
  const known = findRefund(lane, p, e);
  if (known !== undefined && (known.status === 'succeeded' || !isSameMoney(known, e) || isNamedOtherwise(known, e)))
    return applyAgain(lane, p, known, e);
  const made = {
    ...newRefund(lane.ctx, p, { amount: e.amount, reason: e.reason, origin: 'event' }),
    currency: e.currency,
  };
  const r = known ?? lane.add('refunds', made);
  const reported = {
    failure: null,
    reason: r.reason ?? e.reason,
    totalAfter: e.amountRefundedTotal,
    succeededAt: e.at,
  };
  moveRefund(r, 'succeeded', reported);
  fillIds(r, e);
  const what = showMoney({ minor: e.amount, currency: e.currency });
  return done(`${what} was refunded, refund ${r.morRefundId ?? r.processorRefundId ?? r.id}`);
}

/** Records a further event about a known refund. The event adds ids and a total, or contradicts the row. */
function applyAgain(lane: Lane, p: PaymentRow, r: Refund, e: PaymentEvent): EventOutcome {
  const total = e.amountRefundedTotal;
  const other = isNamedOtherwise(r, e) ? r.morRefundId : null;
  const isSameTotal = r.totalAfter === null || total === null || r.totalAfter === total;
  fillIds(r, e);
  if (isSameMoney(r, e) && isSameTotal && other === null) {
    r.totalAfter ??= total;
    return done('this refund is already recorded');
  }
  const about = { subject: e.eventId, paymentRowId: p.id, refundId: r.id };
  lane.openReview({ kind: 'conflicting_event', ...about, fact: howItDiffers(e, other) });
  return done('differs from the record: not applied');
}

/**
 * Records the running total, the sum refunded so far. The MoR can refund only a payment that it took, so the event also
 * proves the payment. If Crossbill knew only a refused try of the payment, the payment's amount is now unknown.
 */
function applyTotals(p: Mutable<PaymentRow>, e: PaymentEvent): void {
  // True for a closed payment without money: its charge has no proof, or the ledger has its charge for another invoice.
  const isLetGo = saysNothing(p);
  const isEarly = p.succeededAt === null && p.mark === 'none' && !isLetGo;
  if (isEarly) Object.assign(p, { amount: null, failureMessage: null, declineCode: null });
  const total = e.amountRefundedTotal;
  if (total !== null && total > (p.refundedTotal ?? -1n)) p.refundedTotal = total;
  // The status `refunded` is final, even if two refund events arrive in the wrong order.
  if (p.succeededAt === null && p.status !== 'refunded' && !isLetGo) p.status = e.status;
}

function howItDiffers(e: PaymentEvent, other: string | null): ConflictFact {
  const { eventId: event, refundId, processorRefundId: processorRefund } = e;
  if (other === null) return { code: 'refund-differs', event, refund: refundId ?? processorRefund };
  const amount = { minor: e.amount, currency: e.currency };
  return { code: 'refund-named-otherwise', event, refund: refundId, amount, processorRefund, other };
}

function isSameMoney(r: RefundRow, e: PaymentEvent): boolean {
  return r.amount === e.amount && r.currency === e.currency;
}

/**
 * True if the event has the row's processor id, but another MoR id. Two MoR ids mean two refunds, so the processor id
 * is wrong in the event or in the row.
 */
function isNamedOtherwise(r: RefundRow, e: PaymentEvent): boolean {
  return r.morRefundId !== null && e.refundId !== null && r.morRefundId !== e.refundId;
}

function fillIds(r: Refund, e: PaymentEvent): void {
  r.morRefundId ??= e.refundId;
  r.processorRefundId ??= e.processorRefundId;
}

/**
 * Finds the refund of an event by either id. If no refund has such an id, finds our own refund with the same amount and
 * no id: the webhook may arrive before the reply to our request. (If the event is about another refund, the reply adds
 * a second row, and the sums are right.)
 */
function findRefund(lane: Lane, p: PaymentRow, e: PaymentEvent): Refund | undefined {
  const own = lane.findRefunds(p);
  const alike = own.filter((r) => isSameMoney(r, e));
  const isSameTotal = (r: RefundRow): boolean => r.totalAfter !== null && r.totalAfter === e.amountRefundedTotal;
  if (e.refundId === null && e.processorRefundId === null) {
    // Document 3 makes both ids optional. An event without ids belongs to the refund with the same running total. If no
    // refund has this total, the event belongs to our own refund without an event so far.
    return alike.find(isSameTotal) ?? alike.find(awaitsEvent);
  }
  return (
    own.find((r) => e.refundId !== null && r.morRefundId === e.refundId) ??
    own.find((r) => e.processorRefundId !== null && r.processorRefundId === e.processorRefundId) ??
    alike.find((r) => isNameless(r, e.amount)) ??
    alike.find((r) => r.morRefundId === null && r.processorRefundId === null && isSameTotal(r))
  );
}

/** True for our own refund while its event is missing. The event of a `joined` refund is in another row. */
function awaitsEvent(r: RefundRow): boolean {
  const over = r.status === 'failed' || r.status === 'joined' || r.askedAs !== null;
  return r.origin === 'api' && !over && r.totalAfter === null;
}

/** Finds the payment with the event's payment id, if a person entered this id and the event has another charge id. */
function findMisnamed(lane: LaneRows, e: PaymentEvent): PaymentRow | undefined {
  const charge = e.processorChargeId;
  const isOther = (p: PaymentRow): boolean =>
    charge !== null && p.processorChargeId !== null && p.processorChargeId !== charge;
  return lane.payments.find((p) => p.paymentId === e.paymentId && p.identifiedBy !== null && isOther(p));
}

/**
 * Opens an item: a person gave payment `p` the id of another payment, so the MoR refunded the wrong customer. Only
 * people can correct the mistake.
 */
function tellMisnamed(lane: Lane, e: PaymentEvent, p: PaymentRow): EventOutcome {
  const { paymentId: payment, processorChargeId: charge, customerId: customer } = e;
  const said = { payment, charge, customer, amount: { minor: e.amount, currency: e.currency } };
  const own = { by: p.identifiedBy ?? '', ownCharge: p.processorChargeId };
  const fact = { code: 'payment-misnamed', ...own, ...said } as const;
  lane.openReview({ kind: 'conflicting_event', subject: e.eventId, paymentRowId: p.id, fact });
  return done('a person entered this payment id for another payment: not applied');
}

/**
 * Records the MoR's refund (Document 3, "Refund") from the reply to our request. The refund's webhook may have arrived
 * before the reply.
 */
export function applyReply(lane: Lane, r: Refund, a: RefundReply): void {
  const p = lane.findPayment(r.paymentRowId);
  if (p === undefined) return;
  const others = lane.findRefunds(p).filter((x) => x.id !== r.id);
  const known =
    others.find((x) => x.morRefundId === a.morRefundId) ??
    others.find((x) => a.processorRefundId !== null && x.processorRefundId === a.processorRefundId);
  if (a.amountMinor !== r.amount || a.currency !== r.currency || a.paymentId !== p.paymentId) {
    if (r.status === 'requested') moveRefund(r, 'unknown');
    if (known === undefined && a.paymentId === p.paymentId) r.morRefundId ??= a.morRefundId;
    const asked = { minor: r.amount, currency: r.currency };
    const answered = { minor: a.amountMinor, currency: a.currency };
    const fact = {
      code: 'answer-differs',
      payment: paymentName(p),
      asked,
      answered,
      answeredFor: a.paymentId,
    } as const;
    return lane.openReview({ kind: 'refund_gap', subject: r.id, paymentRowId: p.id, refundId: r.id, fact });
  }
  const reported = known ?? (isNameless(r, a.amountMinor) ? findReported(others, a) : undefined);
  if (reported !== undefined) return join(lane, r, reported, a);
  const isOther = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && one !== other;
  const isAnother = isOther(r.morRefundId, a.morRefundId) || isOther(r.processorRefundId, a.processorRefundId);
  // If `isAnother`, Crossbill sent two requests for the same amount, and gave the event of the second refund to row
  // `r`. So the reply to `r` belongs to the row of the second request.
  const twin = (): Refund =>
    others.find((x) => isNameless(x, r.amount)) ??
    lane.add('refunds', newRefund(lane.ctx, p, { amount: r.amount, reason: r.reason, origin: 'api' }));
  settleBy(lane, isAnother ? twin() : r, a);
}

function settleBy(lane: Lane, r: Refund, a: RefundReply): void {
  const isSettled = r.status === 'succeeded';
  const status = (['succeeded', 'pending', 'failed'] as const).find((known) => known === a.status) ?? null;
  if (!isSettled) moveRefund(r, status ?? 'pending', { morStatus: status === null ? a.status : null });
  r.morRefundId = a.morRefundId;
  r.processorRefundId ??= a.processorRefundId;
  if (a.status === 'succeeded') r.succeededAt ??= a.createdAt ?? lane.now;
  const failure = { status: null, code: 'refund_failed', message: 'the MoR reported a failure' };
  r.failure = a.status === 'failed' && !isSettled ? failure : null;
}

/**
 * Finds the row of a refund's event that arrived before the reply to our request. Document 3 demands no id in an event,
 * so Crossbill compares times: the event is never older than the refund. If several events fit, Crossbill takes the
 * oldest, because the younger events may belong to later replies.
 */
function findReported(others: readonly Refund[], a: RefundReply): Refund | undefined {
  // event times are whole seconds
  const madeSec = a.createdAt === null ? null : Math.floor(a.createdAt.getTime() / 1_000);
  if (madeSec === null) return undefined;
  const isNew = (r: Refund): boolean =>
    r.origin === 'event' && r.askedAs === null && r.morRefundId === null && r.processorRefundId === null;
  const at = (r: Refund): number => r.succeededAt?.getTime() ?? -1;
  return others
    .filter((r) => isNew(r) && r.amount === a.amountMinor && r.currency === a.currency && madeSec <= at(r) / 1_000)
    .toSorted((x, y) => at(x) - at(y))[0];
}

/**
 * Joins two rows of the same refund: `known` from the refund's event, and `r` from our request. After a restored backup
 * Crossbill may repeat a request under its old key, and the event may arrive before the reply. After the join only
 * `known` counts: the id of `r` leads to `known`, and `r` reserves no amount (docs/decisions/0008).
 */
function join(lane: Lane, r: Refund, known: Refund, a: RefundReply): void {
  // True if Crossbill gave the event to another request of ours, and this other request has no reply yet. Only the
  // reply shows the right refund for the event.
  const awaits = requestOf(lane, known.id)?.status === 'pending';
  const same = isNameless(r, known.amount) && known.currency === r.currency;
  if (!same || awaits || known.status !== 'succeeded' || known.askedAs !== null) return;
  const own = lane.refunds.filter((x) => x.paymentRowId === r.paymentRowId);
  const isHeld = own.some((x) => x.processorRefundId === a.processorRefundId);
  moveRefund(r, 'joined');
  known.morRefundId ??= a.morRefundId;
  if (!isHeld) known.processorRefundId ??= a.processorRefundId;
  known.reason ??= r.reason;
  Object.assign(known, { origin: 'api', askedAs: r.id, askedOf: r.askedOf });
  lane.log('decision', `${r.id} and the recorded refund ${known.morRefundId} are the same refund`, known);
}

/** Finds the request for our refund. A refund has only one request, even if Crossbill sends it several times. */
export function requestOf<M extends CallRow>(
  { calls }: { readonly calls: readonly M[] },
  refundId: string,
): M | undefined {
  return calls.find((m) => m.kind === 'create_refund' && m.subject === refundId);
}

/** True if the refund request used a payment id from a person, and the MoR later gave the payment another id. */
export function isRenamed(p: PaymentRow | undefined, r: RefundRow | undefined): boolean {
  const [asked, now] = [r?.askedOf ?? null, p?.paymentId ?? null];
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
