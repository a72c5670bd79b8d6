// The MoR's verdicts on a payment: it succeeded, it failed, or the customer must act.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Applied, done, type PaymentEvent } from '../../engine/event.js';
import { addAttempt, closeReviews, type Ctx, openReview, openReviewOf, putPayment } from '../../engine/change.js';
import { findPayment, inBooks, saysNothing, withIds } from '../../engine/payment.js';
import { amountSettled, disproven } from './prove-charge.js';
import { showMoney } from '../../domain/money.js';
import { moveMark } from '../../engine/moves.js';
import { collect, tellOwnCharge } from '../../ledger/rules/one-charge.js';
import { takeRefusal } from '../../retries/rules/refusal.js';
import { decide } from '../../engine/adapter.js';
import { CLOCKS_APART_MS } from '../../policy.js';
import { refusedSince } from './late-failure.js';
import { isOfSharedCharge } from '../../engine/open-money.js';

const NAMED = 'the MoR named the amount';

export function applySucceeded(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const p = withIds(s, e, ctx);
  const state = withAttempt(s, e, 'succeeded');
  if (p.succeededAt !== null) {
    const otherCharge = e.processorChargeId !== null && p.processorChargeId !== e.processorChargeId;
    if (p.amount === e.amount && p.currency === e.currency && p.customerId === e.customerId && !otherCharge) {
      const told = amountSettled(putPayment(state, p), p, ctx, NAMED);
      return { state: told, verdict: done('this payment is already recorded') };
    }
    return {
      state: openReview(putPayment(state, p), ctx, {
        kind: 'conflicting_event',
        subject: e.eventId,
        paymentRowId: p.id,
        fact: {
          code: 'success-differs',
          payment: e.paymentId,
          observations: [
            {
              source: 'event',
              id: e.eventId,
              payment: e.paymentId,
              charge: e.processorChargeId,
              customer: e.customerId,
              money: { minor: e.amount, currency: e.currency },
              at: e.at.toISOString(),
            },
            { ...inBooks(p), customer: p.customerId },
          ],
        },
      }),
      verdict: done('differs from the record: not applied'),
    };
  }
  // The MoR's own word proves a signup's charge, whatever stage its proof had reached.
  // A person who dismissed an unproven one could not know; money that was taken is never left aside.
  const waits = p.mark === 'none' || p.mark === 'proving' || p.mark === 'closed' || unproven(s, p);
  // A signup's reference may be a charge of the same intent that failed before this one.
  const isOfCharge = p.reference === null || p.reference === p.processorChargeId;
  const paid: PaymentRow = {
    ...(waits ? moveMark(p, 'waiting') : p),
    amount: e.amount,
    currency: e.currency,
    customerId: e.customerId,
    status: 'succeeded',
    succeededAt: e.at,
    processorChargeId: e.processorChargeId ?? p.processorChargeId,
    reference: isOfCharge ? (e.processorChargeId ?? p.reference) : p.reference,
    failureMessage: null,
    declineCode: null,
  };
  let booked = collect(putPayment(state, paid), paid, e.amount, ctx, e.eventId);
  if (findPayment(booked, e)?.mark === 'none') {
    // Said again of a payment that was let go: a refusal since then stands.
    const again = p.mark === 'none' ? putPayment(booked, p) : booked;
    return { state: again, verdict: done('its charge is booked for another invoice, as a person was told') };
  }
  booked = tellOwnCharge(booked, paid, ctx);
  booked = closeReviews(booked, ctx, (r) => r.kind === 'signup_unproven' && r.subject === p.id, {
    by: null,
    resolution: 'cleared',
    note: 'the MoR reported the payment',
  });
  booked = amountSettled(booked, paid, ctx, NAMED);
  booked = refusedSince(booked, paid, p, ctx);
  return { state: booked, verdict: done(`${shown(paid)} was taken, payment ${e.paymentId}`) };
}

export function applyNotPaid(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const outcome = e.type === 'payment.failed' ? 'failed' : 'requires_action';
  const p = withIds(s, e, ctx);
  const state = withAttempt(s, e, outcome);
  const why = e.declineCode ?? outcome; // the message is free text, and the journal only grows: it stays with the attempt
  // A late failure never undoes a success, nor says it anything of a charge of its intent that was named since.
  if (p.mark === 'proving' && outcome === 'failed' && e.at.getTime() > p.recordedAt.getTime()) {
    // Said after the browser named the charge: it is this one that failed, no earlier try.
    const { failureMessage, declineCode } = e;
    const failed = disproven(state, { ...p, verdictAt: e.at, failureMessage, declineCode }, why, ctx);
    return { state: failed, verdict: done(`the charge of the signup failed (${why})`) };
  }
  if (p.mark !== 'none' || s.refunds.some((r) => r.paymentRowId === p.id)) {
    const unproven = p.succeededAt === null && p.mark !== 'none';
    const late = unproven ? 'late: an earlier attempt of the same intent' : 'late: the payment has succeeded';
    // Kept for the success that is still to come, behind a refund that overtook it.
    const verdict = p.succeededAt === null && !saysNothing(p) && (p.verdictAt === null || later(e, p));
    const took = putPayment(state, verdict ? { ...p, verdictAt: e.at } : p);
    const told = refusedSince(took, findPayment(s, e), { verdictAt: e.at, declineCode: e.declineCode }, ctx);
    return { state: told, verdict: done(`${late} (${why})`) };
  }
  if (isOfBefore(s, e)) return { state, verdict: done(`late: an earlier try (${why})`) };
  const newest = p.verdictAt === null || later(e, p);
  const row: PaymentRow = newest
    ? {
        ...p,
        amount: e.amount,
        status: outcome,
        verdictAt: e.at,
        failureMessage: e.failureMessage,
        declineCode: e.declineCode,
      }
    : p;
  const refused = decide(putPayment(state, row), ctx, (lane) => takeRefusal(lane, e));
  return { state: refused, verdict: done(`the invoice is left open: ${why}`) };
}

/** Refused before a success whose charge a person let go as another invoice's, or near it by clocks that are apart: no news of the invoice. */
function isOfBefore(s: LaneState, e: PaymentEvent): boolean {
  const dismissed = s.reviews.filter((r) => isOfSharedCharge(r) && r.resolution === 'dismiss');
  return dismissed.some((r) => e.at.getTime() < r.createdAt.getTime() + CLOCKS_APART_MS);
}

function unproven(s: LaneState, p: PaymentRow): boolean {
  return p.mark === 'parked' && openReviewOf(s, 'signup_unproven', p.id) !== undefined;
}

function shown(p: PaymentRow): string {
  return p.amount === null ? `an unknown amount ${p.currency}` : showMoney({ minor: p.amount, currency: p.currency });
}

/** Of two verdicts in the same second `failed` is taken as the later one: authentication comes before a decline. */
function later(e: PaymentEvent, p: PaymentRow): boolean {
  const before = p.verdictAt?.getTime() ?? 0;
  if (e.at.getTime() !== before) return e.at.getTime() > before;
  return e.type === 'payment.failed';
}

function withAttempt(s: LaneState, e: PaymentEvent, outcome: 'succeeded' | 'failed' | 'requires_action'): LaneState {
  return addAttempt(s, {
    eventId: e.eventId,
    invoiceId: e.invoiceId,
    paymentId: e.paymentId,
    outcome,
    amount: e.amount,
    currency: e.currency,
    failureMessage: e.failureMessage,
    declineCode: e.declineCode,
    processorPaymentIntentId: e.processorPaymentIntentId,
    at: e.at,
  });
}
