// The MoR's verdicts on a payment, and items for too much or too little money after the mark.
import { type Mutable } from '../../../shared/domain/row.js';
import { idsIn, type MorServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { amountIn, timeNamed } from '../../../shared/domain/events/payload-fields.js';
import { type LaneRows, type PaymentRow, type ReviewRow, moveMark } from '../../../shared/domain/model.js';
import { type Money, sameMoney, showMoney } from '../../../shared/domain/money.js';
import { has } from '../../../shared/domain/mor-object.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { isPayable } from '../../../shared/domain/status.js';
import { isSurplus, overpaid, type Overpaid, surplusRefunded } from '../../../shared/domain/surplus.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type PaymentEvent, type EventOutcome } from '../../../engine/event.js';
import { declareItems, itemRule } from '../../../engine/items.js';
import { inBooks, takePayment, accept, collect, settleAmount } from '../../books/rules/payment-rows.js';

type Payment = Mutable<PaymentRow>;

/** Records the verdict "succeeded". The event also proves a signup's charge, and reopens a dismissed payment. */
export function applySucceeded(lane: Lane, e: PaymentEvent): EventOutcome {
  noteAttempt(lane, e, 'succeeded');
  const p = takePayment(lane, e);
  if (p.succeededAt !== null) return applySucceededAgain(lane, p, e);
  const { verdictAt, declineCode } = p;
  // The reference of a signup may be an earlier, failed charge of the same payment intent. Then keep the reference.
  const isOfCharge = p.reference === null || p.reference === p.processorChargeId;
  Object.assign(p, {
    amount: e.amount,
    currency: e.currency,
    customerId: e.customerId,
    status: 'succeeded',
    succeededAt: e.at,
    processorChargeId: e.processorChargeId ?? p.processorChargeId,
    reference: isOfCharge ? (e.processorChargeId ?? p.reference) : p.reference,
    failureMessage: null,
    declineCode: null,
  });
  if (!collect(lane, p, e.eventId)) return done('not booked: the ledger has its charge for another invoice');
  moveMark(p, 'waiting');
  settleAmount(lane, p, AMOUNT_NAMED);
  reviewIfRefusedSince(lane, p, verdictAt, declineCode);
  return done(`${showMoney({ minor: e.amount, currency: e.currency })} was taken, payment ${e.paymentId}`);
}

const AMOUNT_NAMED = 'the MoR has reported the amount of this payment';

function applySucceededAgain(lane: Lane, p: Payment, e: PaymentEvent): EventOutcome {
  const isSameCharge = e.processorChargeId === null || p.processorChargeId === e.processorChargeId;
  if (p.amount === e.amount && p.currency === e.currency && p.customerId === e.customerId && isSameCharge) {
    settleAmount(lane, p, AMOUNT_NAMED);
    return done('this payment is already recorded');
  }
  const stated = {
    source: 'event',
    id: e.eventId,
    payment: e.paymentId,
    charge: e.processorChargeId,
    customer: e.customerId,
    money: { minor: e.amount, currency: e.currency },
    at: e.at.toISOString(),
  } as const;
  const observations = [stated, { ...inBooks(p), customer: p.customerId }] as const;
  const fact = { code: 'success-differs', payment: e.paymentId, observations } as const;
  lane.openReview({ kind: 'conflicting_event', subject: e.eventId, paymentRowId: p.id, fact });
  return done('differs from the record: not applied');
}

/**
 * Records the MoR's refusal of a charge, or its request for authentication by the customer. A late failure never undoes
 * a success. `tryAgain` plans the next try or the next link for an unpaid invoice (retries/).
 */
export function applyNotPaid(
  lane: Lane,
  e: PaymentEvent,
  tryAgain: (lane: Lane, e: PaymentEvent) => void,
): EventOutcome {
  const outcome = e.type === 'payment.failed' ? 'failed' : 'requires_action';
  noteAttempt(lane, e, outcome);
  const p = takePayment(lane, e);
  const { failureMessage, declineCode } = e;
  const why = declineCode ?? outcome; // `message` is free text, so the journal leaves it out
  // The event is younger than the browser's report of the charge, so the event is about this charge, no earlier try.
  if (p.mark === 'proving' && outcome === 'failed' && e.at.getTime() > p.recordedAt.getTime()) {
    Object.assign(p, { status: 'failed', verdictAt: e.at, failureMessage, declineCode, proveDueAt: null });
    moveMark(p, 'parked');
    return done(`the charge of the signup failed (${why})`);
  }
  const isNews = p.verdictAt === null || isLater(e, p.verdictAt);
  if (p.mark !== 'none' || lane.findRefunds(p).length > 0) {
    const isUntaken = p.succeededAt === null && p.mark !== 'none';
    // keep the time of the refusal: the event of the success may still arrive, even after the event of a refund
    if (p.succeededAt === null && isNews) p.verdictAt = e.at;
    reviewIfRefusedSince(lane, p, e.at, declineCode);
    return done(`late: ${isUntaken ? 'an earlier attempt of the same intent' : 'the payment has succeeded'} (${why})`);
  }
  if (isNews) Object.assign(p, { amount: e.amount, status: outcome, verdictAt: e.at, failureMessage, declineCode });
  tryAgain(lane, e);
  return done(`the invoice is left open: ${why}`);
}

/** If two verdicts have the same second, `failed` is the later one, because authentication comes before a decline. */
function isLater(e: PaymentEvent, before: Date): boolean {
  return e.at.getTime() === before.getTime() ? e.type === 'payment.failed' : e.at.getTime() > before.getTime();
}

function noteAttempt(lane: Lane, e: PaymentEvent, outcome: 'succeeded' | 'failed' | 'requires_action'): void {
  const { eventId, invoiceId, paymentId, amount, currency, failureMessage, declineCode, at } = e;
  if (lane.attempts.some((a) => a.eventId === eventId)) return;
  const { processorPaymentIntentId } = e;
  const money = { amount, currency, failureMessage, declineCode, processorPaymentIntentId };
  lane.add('attempts', { eventId, invoiceId, paymentId, outcome, ...money, at });
}

/**
 * Opens an item if the MoR first took the payment and then refused it, in either order of the events. The bank may have
 * returned a debit: the MoR has no event for a return.
 */
function reviewIfRefusedSince(lane: Lane, p: Payment, refusedAt: Date | null, reason: string | null): void {
  if (p.succeededAt === null || refusedAt === null || refusedAt.getTime() <= p.succeededAt.getTime()) return;
  const [takenAt, at] = [p.succeededAt.toISOString(), refusedAt.toISOString()];
  const payment = p.origin === 'signup' ? null : effectName(p);
  const fact = { code: 'refused-after', payment, charge: p.processorChargeId, takenAt, refusedAt: at, reason } as const;
  lane.openReview({ kind: 'conflicting_event', subject: p.id, paymentRowId: p.id, fact });
}

/**
 * Records `payment.captured` for a payment's charge. The event brings the MoR's payment id. If the event has the same
 * amount, it also proves a signup's charge.
 */
export function learnFromCapture(lane: Lane, e: MorServiceEvent, paymentId: string | null): void {
  const ids = new Set(idsIn(e.data));
  const p = lane.payments.find((x) => has(ids, x.processorChargeId));
  if (p === undefined) return;
  // The MoR's id replaces an id entered by a person.
  const isOpen = paymentId !== null && (p.paymentId === null || p.identifiedBy !== null);
  if (isOpen && !lane.payments.some((x) => x.id !== p.id && x.paymentId === paymentId))
    Object.assign(p, { paymentId, identifiedBy: null });
  const amount = amountIn(e.data);
  // True if a person dismissed the unproven charge. This capture now proves the charge after all.
  const isGivenUp = p.mark === 'closed' && p.succeededAt === null && p.origin === 'signup' && !isRefusedSince(p, e);
  if ((p.mark !== 'proving' && !isGivenUp) || p.amount === null || amount === null) return;
  if (sameMoney(amount, { minor: p.amount, currency: p.currency })) accept(lane, p, 'the MoR captured it');
}

/** True if the MoR reported a failure after the time of this capture. The later report counts. */
function isRefusedSince({ verdictAt }: Payment, e: MorServiceEvent): boolean {
  const at = timeNamed(e.data, 'capturedAt') ?? e.createdAt;
  return verdictAt !== null && at !== null && at.getTime() < verdictAt.getTime();
}

/**
 * If the merchant's backend reported another amount than the signup requested (core/signups/rules/signup.ts), asks a
 * person. Returns true until the person has decided: Crossbill makes no mark before. A refund by the person may fail,
 * because the MoR refuses to refund more than it took. Then the person decides again.
 */
export function reviewAmount(lane: Lane, p: Payment): boolean {
  const item = lane.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === p.signupId);
  if (item === undefined || (item.status !== 'open' && item.resolution !== 'refund')) return false;
  if (item.fact.code !== 'completed-otherwise') return false;
  const { subject, fact } = item;
  const r = lane.findRefunds(p).findLast((x) => x.status === 'failed');
  const refund = r && { amount: { minor: r.amount, currency: r.currency }, said: r.failure?.message ?? null };
  moveMark(p, 'parked');
  lane.openReview({
    kind: 'amount_mismatch',
    subject,
    paymentRowId: p.id,
    fact: { ...fact, failed: refund ?? fact.failed },
  });
  return true;
}

/**
 * Items for an amount still due after the mark, because the invoice changed. No item opens if a person accepted the
 * payment as a part payment.
 */
export const leftItems = itemRule({ 'rest-due': 'nothing more is due, or a refund is under way' }, function* (lane) {
  const { invoice: i, payments, refunds, reviews } = lane;
  if (i === null || !isPayable(i) || i.amountRemaining === 0n) return;
  for (const p of payments) {
    const isPart = p.waived.includes('amount_mismatch') && !p.waived.includes('surplus');
    const isGoingBack = refunds.some((r) => r.paymentRowId === p.id && r.status !== 'failed');
    if (p.mark !== 'confirmed' || isPart || isGoingBack) continue;
    // If a person asked for a new read, Crossbill waits for the result before it opens the item.
    const isOpen = reviews.some((r) => r.status === 'open' && r.topic === 'rest-due' && r.subject === p.id);
    if (i.readAt === null && !isOpen) continue;
    const due: Money = { minor: i.amountRemaining ?? 0n, currency: p.currency };
    const fact = { code: 'rest-due', status: i.platformStatus, due } as const;
    yield { kind: 'amount_mismatch', about: p, fact, actions: ['refund', 'retry', 'dismiss'] };
  }
});

/**
 * Opens items for payments beyond the amount due. Waits until Stripe has replied to each mark: only then Crossbill
 * knows every payment on the invoice.
 */
export function declareSurplus(lane: Lane): void {
  const isBeingMarked = lane.payments.some((p) => p.mark === 'attaching' || p.mark === 'paying');
  if (!isBeingMarked) declareItems(lane, surplusItems);
}

const surplusItems = itemRule({ overpaid: 'the surplus is gone, or its refund is under way' }, function* (lane) {
  const i = lane.invoice;
  const paid = findSurplus(lane);
  if (i === null || paid === null) return;
  const { minor, by, credited, back, rest: remaining } = paid;
  const chosen = lane.reviews.flatMap((r) =>
    r.fact.code === 'overpaid' && r.fact.over.minor === minor ? (r.resolution ?? []) : [],
  );
  // After `apply` or `dismiss` the merchant keeps the surplus. A chosen refund is not final: the MoR may refuse it, or
  // it may fail.
  if (chosen.includes('apply') || chosen.includes('dismiss')) return;
  // If a person chose the refund in an item, this item already asked the person to correct the customer's balance.
  if (remaining <= 0n && (!credited || back === 0n || chosen.includes('refund'))) return;
  const sum = (x: bigint): Money => ({ minor: x, currency: i.currency ?? '' });
  yield {
    kind: 'amount_mismatch',
    about: { id: i.invoiceId },
    paymentRowId: by.at(-1)?.id ?? null,
    fact: {
      code: 'overpaid',
      over: sum(minor),
      due: sum(i.amountDue ?? 0n),
      by: by.map((p) => ({ payment: effectName(p), amount: sum(p.amount ?? 0n) })),
      refunded: sum(back),
      left: sum(remaining),
      credited,
    },
    // propose no refund yet: the person first corrects the customer's balance
    proposed: credited && back > 0n ? null : 'refund',
  };
});

/** The amount of a surplus to refund. Null if the item is not about a surplus. */
export function surplusToRefund(s: LaneRows, r: ReviewRow): bigint | null {
  if (!isSurplus(r)) return null;
  const remaining = findSurplus(s)?.rest ?? 0n;
  return remaining > 0n ? remaining : 0n;
}

/** `back`: the refunded part of the surplus. `rest`: the part with neither a finished nor an unfinished refund. */
function findSurplus(s: LaneRows): (Overpaid & { readonly back: bigint; readonly rest: bigint }) | null {
  const paid = overpaid(s);
  if (paid === null) return null;
  const remaining = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + findOnItsWay(s, p), 0n);
  return { ...paid, back: surplusRefunded(s.refunds), rest: remaining };
}

/** The sum of a payment's unfinished refunds. The MoR may have paid any of them. */
function findOnItsWay(s: LaneRows, p: PaymentRow): bigint {
  return s.refunds.reduce((sum, r) => {
    const isOver = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === p.id && r.currency === p.currency && !isOver ? sum + r.amount : sum;
  }, 0n);
}
