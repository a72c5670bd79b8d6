// The MoR's verdicts on a payment.
import { type Mutable } from '../../../shared/domain/row.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { type Lane } from '../../../engine/lane.js';
import { type PaymentEvent, type EventOutcome, done } from '../../../engine/event.js';
import { takePayment } from '../../books/rules/payment-rows.js';
import { collect, settleAmount, inBooks, accept } from '../../books/rules/collect.js';
import { showMoney, sameMoney } from '../../../shared/domain/money.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type MorServiceEvent, idsIn } from '../../../shared/domain/events/mor-service-event.js';
import { has } from '../../../shared/domain/mor-object.js';
import { amountIn, timeNamed } from '../../../shared/domain/events/payload-fields.js';

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
