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
import { inBooks, accept, collect, settleAmount } from '../../books/rules/collect.js';
import { takePayment } from '../../books/rules/payment-rows.js';

type Payment = Mutable<PaymentRow>;

/** Records the verdict "succeeded". The event also proves a signup's charge, and reopens a dismissed payment. */
export function applySucceeded(lane: Lane, event: PaymentEvent): EventOutcome {
  noteAttempt(lane, event, 'succeeded');
  const p = takePayment(lane, event);
  if (p.succeededAt !== null) return applySucceededAgain(lane, p, event);
  const { verdictAt, declineCode } = p;
  // The reference of a signup may be an earlier, failed charge of the same payment intent. Then keep the reference.
  const isOfCharge = p.reference === null || p.reference === p.processorChargeId;
  Object.assign(p, {
    amount: event.amount,
    currency: event.currency,
    customerId: event.customerId,
    status: 'succeeded',
    succeededAt: event.at,
    processorChargeId: event.processorChargeId ?? p.processorChargeId,
    reference: isOfCharge ? (event.processorChargeId ?? p.reference) : p.reference,
    failureMessage: null,
    declineCode: null,
  });
  if (!collect(lane, p, event.eventId)) return done('not booked: the ledger has its charge for another invoice');
  moveMark(p, 'waiting');
  settleAmount(lane, p, AMOUNT_NAMED);
  reviewIfRefusedSince(lane, p, verdictAt, declineCode);
  return done(`${showMoney({ minor: event.amount, currency: event.currency })} was taken, payment ${event.paymentId}`);
}

const AMOUNT_NAMED = 'the MoR has reported the amount of this payment';

function applySucceededAgain(lane: Lane, payment: Payment, event: PaymentEvent): EventOutcome {
  const isSameCharge = event.processorChargeId === null || payment.processorChargeId === event.processorChargeId;
  if (
    payment.amount === event.amount &&
    payment.currency === event.currency &&
    payment.customerId === event.customerId &&
    isSameCharge
  ) {
    settleAmount(lane, payment, AMOUNT_NAMED);
    return done('this payment is already recorded');
  }
  const stated = {
    source: 'event',
    id: event.eventId,
    payment: event.paymentId,
    charge: event.processorChargeId,
    customer: event.customerId,
    money: { minor: event.amount, currency: event.currency },
    at: event.at.toISOString(),
  } as const;
  const observations = [stated, { ...inBooks(payment), customer: payment.customerId }] as const;
  const fact = { code: 'success-differs', payment: event.paymentId, observations } as const;
  lane.openReview({ kind: 'conflicting_event', subject: event.eventId, paymentRowId: payment.id, fact });
  return done('differs from the record: not applied');
}

/**
 * Records the MoR's refusal of a charge, or its request for authentication by the customer. A late failure never undoes
 * a success. `tryAgain` plans the next try or the next link for an unpaid invoice (retries/).
 */
export function applyNotPaid(
  lane: Lane,
  event: PaymentEvent,
  tryAgain: (lane: Lane, event: PaymentEvent) => void,
): EventOutcome {
  const outcome = event.type === 'payment.failed' ? 'failed' : 'requires_action';
  noteAttempt(lane, event, outcome);
  const p = takePayment(lane, event);
  const { failureMessage, declineCode } = event;
  const why = declineCode ?? outcome; // `message` is free text, so the journal leaves it out
  // The event is younger than the browser's report of the charge, so the event is about this charge, no earlier try.
  if (p.mark === 'proving' && outcome === 'failed' && event.at.getTime() > p.recordedAt.getTime()) {
    Object.assign(p, { status: 'failed', verdictAt: event.at, failureMessage, declineCode, proveDueAt: null });
    moveMark(p, 'parked');
    return done(`the charge of the signup failed (${why})`);
  }
  const isNews = p.verdictAt === null || isLater(event, p.verdictAt);
  if (p.mark !== 'none' || lane.findRefunds(p).length > 0) {
    const isUntaken = p.succeededAt === null && p.mark !== 'none';
    // keep the time of the refusal: the event of the success may still arrive, even after the event of a refund
    if (p.succeededAt === null && isNews) p.verdictAt = event.at;
    reviewIfRefusedSince(lane, p, event.at, declineCode);
    return done(`late: ${isUntaken ? 'an earlier attempt of the same intent' : 'the payment has succeeded'} (${why})`);
  }
  if (isNews)
    Object.assign(p, { amount: event.amount, status: outcome, verdictAt: event.at, failureMessage, declineCode });
  tryAgain(lane, event);
  return done(`the invoice is left open: ${why}`);
}

/** If two verdicts have the same second, `failed` is the later one, because authentication comes before a decline. */
function isLater(event: PaymentEvent, before: Date): boolean {
  return event.at.getTime() === before.getTime()
    ? event.type === 'payment.failed'
    : event.at.getTime() > before.getTime();
}

function noteAttempt(lane: Lane, event: PaymentEvent, outcome: 'succeeded' | 'failed' | 'requires_action'): void {
  const { eventId, invoiceId, paymentId, amount, currency, failureMessage, declineCode, at } = event;
  if (lane.attempts.some((a) => a.eventId === eventId)) return;
  const { processorPaymentIntentId } = event;
  const money = { amount, currency, failureMessage, declineCode, processorPaymentIntentId };
  lane.add('attempts', { eventId, invoiceId, paymentId, outcome, ...money, at });
}

/**
 * Opens an item if the MoR first took the payment and then refused it, in either order of the events. The bank may have
 * returned a debit: the MoR has no event for a return.
 */
function reviewIfRefusedSince(lane: Lane, paymentRow: Payment, refusedAt: Date | null, reason: string | null): void {
  if (paymentRow.succeededAt === null || refusedAt === null || refusedAt.getTime() <= paymentRow.succeededAt.getTime())
    return;
  const [takenAt, at] = [paymentRow.succeededAt.toISOString(), refusedAt.toISOString()];
  const payment = paymentRow.origin === 'signup' ? null : effectName(paymentRow);
  const fact = {
    code: 'refused-after',
    payment,
    charge: paymentRow.processorChargeId,
    takenAt,
    refusedAt: at,
    reason,
  } as const;
  lane.openReview({ kind: 'conflicting_event', subject: paymentRow.id, paymentRowId: paymentRow.id, fact });
}

/**
 * Records `payment.captured` for a payment's charge. The event brings the MoR's payment id. If the event has the same
 * amount, it also proves a signup's charge.
 */
export function learnFromCapture(lane: Lane, event: MorServiceEvent, paymentId: string | null): void {
  const ids = new Set(idsIn(event.data));
  const p = lane.payments.find((x) => has(ids, x.processorChargeId));
  if (p === undefined) return;
  // The MoR's id replaces an id entered by a person.
  const isOpen = paymentId !== null && (p.paymentId === null || p.identifiedBy !== null);
  if (isOpen && !lane.payments.some((x) => x.id !== p.id && x.paymentId === paymentId))
    Object.assign(p, { paymentId, identifiedBy: null });
  const amount = amountIn(event.data);
  // True if a person dismissed the unproven charge. This capture now proves the charge after all.
  const isGivenUp = p.mark === 'closed' && p.succeededAt === null && p.origin === 'signup' && !isRefusedSince(p, event);
  if ((p.mark !== 'proving' && !isGivenUp) || p.amount === null || amount === null) return;
  if (sameMoney(amount, { minor: p.amount, currency: p.currency }))
    accept(lane, p, 'the MoR captured it', findCapturedAt(event));
}

/** When the MoR took the money, in its own words, or else when it wrote the event. */
const findCapturedAt = (event: MorServiceEvent): Date | null => timeNamed(event.data, 'capturedAt') ?? event.createdAt;

/** True if the MoR reported a failure after the time of this capture. The later report counts. */
function isRefusedSince({ verdictAt }: Payment, event: MorServiceEvent): boolean {
  const at = findCapturedAt(event);
  return verdictAt !== null && at !== null && at.getTime() < verdictAt.getTime();
}

/**
 * If the merchant's backend reported another amount than the signup requested (core/signups/rules/signup.ts), asks a
 * person. Returns true until the person has decided: Crossbill makes no mark before. A refund by the person may fail,
 * because the MoR refuses to refund more than it took. Then the person decides again.
 */
export function reviewAmount(lane: Lane, payment: Payment): boolean {
  const item = lane.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === payment.signupId);
  if (item === undefined || (item.status !== 'open' && item.resolution !== 'refund')) return false;
  if (item.fact.code !== 'completed-otherwise') return false;
  const { subject, fact } = item;
  const r = lane.findRefunds(payment).findLast((x) => x.status === 'failed');
  const refund = r && { amount: { minor: r.amount, currency: r.currency }, said: r.failure?.message ?? null };
  moveMark(payment, 'parked');
  lane.openReview({
    kind: 'amount_mismatch',
    subject,
    paymentRowId: payment.id,
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
  const sum = (amount: bigint): Money => ({ minor: amount, currency: i.currency ?? '' });
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
export function surplusToRefund(lane: LaneRows, item: ReviewRow): bigint | null {
  if (!isSurplus(item)) return null;
  const remaining = findSurplus(lane)?.rest ?? 0n;
  return remaining > 0n ? remaining : 0n;
}

/** `back`: the refunded part of the surplus. `rest`: the part with neither a finished nor an unfinished refund. */
function findSurplus(lane: LaneRows): (Overpaid & { readonly back: bigint; readonly rest: bigint }) | null {
  const paid = overpaid(lane);
  if (paid === null) return null;
  const remaining = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + findOnItsWay(lane, p), 0n);
  return { ...paid, back: surplusRefunded(lane.refunds), rest: remaining };
}

/** The sum of a payment's unfinished refunds. The MoR may have paid any of them. */
function findOnItsWay(lane: LaneRows, payment: PaymentRow): bigint {
  return lane.refunds.reduce((sum, r) => {
    const isOver = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === payment.id && r.currency === payment.currency && !isOver ? sum + r.amount : sum;
  }, 0n);
}
