// Takes one event into a lane: what it says is recorded; what is to be done about it, settle.ts decides.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import {
  addAttempt,
  addMessage,
  closeReviews,
  type Ctx,
  note,
  openReview,
  openReviewOf,
  putPayment,
  putRefund,
} from '../../domain/lane/change.js';
import { MISNAMED, misnamed, tellMisnamed } from '../../renewals/rules/misnamed-payment.js';
import { collect } from '../../ledger/rules/one-charge.js';
import { askAgain, ensureInvoice, takeEvent } from '../../domain/lane/facts.js';
import { contradicted, disproven } from '../../signups/rules/prove-charge.js';
import { amountSettled } from './settle.js';
import {
  type Applied,
  type InvoiceEvent,
  type LaneEvent,
  type PaymentEvent,
  type Verdict,
} from '../../domain/lane/event.js';
import { findPayment, withIds } from '../../domain/lane/payment.js';

const NAMED = 'the MoR named the amount';

const done = (reason: string | null = null): Verdict => ({ status: 'done', reason });
const ignored = (reason: string): Verdict => ({ status: 'ignored', reason });

/** Records one event. Pure; every event may come twice, late, early or never. */
export function applyEvent(s: LaneState, event: LaneEvent, ctx: Ctx): Applied {
  const applied = event.family === 'invoice' ? applyInvoice(s, event, ctx) : applyPayment(s, event, ctx);
  const { verdict } = applied;
  const text = verdict.reason === null ? event.type : `${event.type}: ${verdict.reason}`;
  return { verdict, state: note(applied.state, ctx, 'event', text, event.eventId) };
}

function applyInvoice(s: LaneState, e: InvoiceEvent, ctx: Ctx): Applied {
  let state = takeEvent(s, ctx, e.type === 'invoice.deleted' ? { ...e.facts, status: 'deleted' } : e.facts, e.at);
  // Older than what we know, by its second or by our clock: Stripe is asked what is so now.
  if (e.facts.amountOverpaid > 0n && state.invoice?.amountOverpaid !== e.facts.amountOverpaid)
    state = askAgain(state, ctx);
  const signup = e.facts.billingReason === SIGNUP_REASON;
  const relayed = state.messages.some((m) => m.kind === 'relay_event' && m.subject === e.eventId);
  if (e.type === 'invoice.created' && !signup && ctx.settings.relay && !relayed) {
    state = addMessage(state, ctx, {
      peer: 'relay',
      kind: 'relay_event',
      subject: e.eventId,
      wire: { method: 'POST', path: '', body: e.raw },
    });
  }
  if (e.type !== 'invoice.created') return { state, verdict: done() };
  if (signup) return { state, verdict: ignored('paid at signup, not a renewal (Document 3, rule 4)') };
  if (e.facts.amountDue === 0n) return { state, verdict: ignored('nothing is due') };
  const due = showMoney({ minor: e.facts.amountDue, currency: e.facts.currency });
  return { state, verdict: done(`a verdict of the MoR is expected for ${due}`) };
}

function applyPayment(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const { state } = ensureInvoice(s, ctx);
  switch (e.type) {
    case 'payment.succeeded':
      return applySucceeded(state, e, ctx);
    case 'payment.failed':
    case 'payment.requires_action':
      return applyNotPaid(state, e, ctx);
    case 'payment.refunded':
      return applyRefunded(state, e, ctx);
  }
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

function applySucceeded(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const p = withIds(s, e, ctx);
  const state = withAttempt(s, e, 'succeeded');
  if (p.succeededAt !== null) {
    if (p.amount === e.amount && p.currency === e.currency && p.customerId === e.customerId) {
      const told = amountSettled(putPayment(state, p), p, ctx, NAMED);
      return { state: told, verdict: done('this payment is already recorded') };
    }
    return {
      state: openReview(putPayment(state, p), ctx, {
        kind: 'conflicting_event',
        subject: e.eventId,
        paymentRowId: p.id,
        summary: `event ${e.eventId} says ${e.paymentId} was ${showMoney({ minor: e.amount, currency: e.currency })} of ${e.customerId}; recorded was ${shown(p)} of ${p.customerId}`,
        proposal: 'Ask the MoR which is right. What was recorded first stays in force.',
      }),
      verdict: done('differs from what is recorded: not applied'),
    };
  }
  const paid: PaymentRow = {
    ...p,
    amount: e.amount,
    currency: e.currency,
    customerId: e.customerId,
    status: 'succeeded',
    succeededAt: e.at,
    processorChargeId: e.processorChargeId ?? p.processorChargeId,
    reference: p.reference ?? e.processorChargeId,
    failureMessage: null,
    declineCode: null,
    // The MoR's own word proves a signup's charge, whatever stage its proof had reached.
    // A person who dismissed an unproven one could not know; money that was taken is never left aside.
    mark: p.mark === 'none' || p.mark === 'proving' || p.mark === 'closed' || unproven(s, p) ? 'waiting' : p.mark,
  };
  let booked = collect(putPayment(state, paid), paid, e.amount, ctx, e.eventId);
  booked = closeReviews(booked, ctx, (r) => r.kind === 'signup_unproven' && r.subject === p.id, {
    by: null,
    resolution: 'cleared',
    note: 'the MoR reported the payment',
  });
  booked = amountSettled(booked, paid, ctx, NAMED);
  return { state: booked, verdict: done(`${shown(paid)} was taken, payment ${e.paymentId}`) };
}

function unproven(s: LaneState, p: PaymentRow): boolean {
  return p.mark === 'parked' && openReviewOf(s, 'signup_unproven', p.id) !== undefined;
}

function shown(p: PaymentRow): string {
  return p.amount === null ? `an unknown amount ${p.currency}` : showMoney({ minor: p.amount, currency: p.currency });
}

function applyNotPaid(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
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
    const late = unproven ? 'late: an earlier try of the same intent' : 'late: the payment has succeeded';
    const took = putPayment(state, p);
    const told = outcome === 'failed' ? contradicted(took, findPayment(s, e), e, why, ctx) : took;
    return { state: told, verdict: done(`${late} (${why})`) };
  }
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
  return { state: putPayment(state, row), verdict: done(`the invoice is left open: ${why}`) };
}

/** Of two verdicts in the same second `failed` is taken as the later one: authentication comes before a decline. */
function later(e: PaymentEvent, p: PaymentRow): boolean {
  const before = p.verdictAt?.getTime() ?? 0;
  if (e.at.getTime() !== before) return e.at.getTime() > before;
  return e.type === 'payment.failed';
}

function applyRefunded(s: LaneState, e: PaymentEvent, ctx: Ctx): Applied {
  const other = misnamed(s, e);
  if (other !== undefined) return { state: tellMisnamed(s, e, other, ctx), verdict: done(MISNAMED) };
  const before = withIds(s, e, ctx);
  // What was given back was taken before, though nobody told us how much: an earlier refusal says nothing of it any more.
  const overtook = before.succeededAt === null && before.mark === 'none';
  const p = overtook ? { ...before, amount: null, failureMessage: null, declineCode: null } : before;
  const total = e.amountRefundedTotal;
  const withTotal: PaymentRow = {
    ...p,
    refundedTotal:
      total === null ? p.refundedTotal : p.refundedTotal === null || total > p.refundedTotal ? total : p.refundedTotal,
    // `refunded` is the end, whichever of two refunds is heard of last.
    status: p.succeededAt === null && p.status !== 'refunded' ? e.status : p.status,
  };
  const state = putPayment(s, withTotal);
  const known = findRefund(state, withTotal, e);
  const sameMoney = known?.amount === e.amount && known.currency === e.currency;
  if (known !== undefined && (known.status === 'succeeded' || !sameMoney)) {
    const same = sameMoney && (known.totalAfter === null || total === null || known.totalAfter === total);
    const filled = { ...known, ...refundIds(known, e), totalAfter: known.totalAfter ?? (same ? total : null) };
    if (same) return { state: putRefund(state, filled), verdict: done('this refund is already recorded') };
    return {
      state: openReview(putRefund(state, filled), ctx, {
        kind: 'conflicting_event',
        subject: e.eventId,
        paymentRowId: p.id,
        refundId: known.id,
        summary: `event ${e.eventId} gives refund ${e.refundId ?? e.processorRefundId ?? ''} another amount or total than recorded`,
        proposal: 'Ask the MoR which is right. What was recorded first stays in force.',
      }),
      verdict: done('differs from what is recorded: not applied'),
    };
  }
  const row: RefundRow = {
    ...(known ?? { ...newRefund(ctx, withTotal, e.amount, e.reason, 'event'), currency: e.currency }),
    ...refundIds(known, e),
    status: 'succeeded',
    failure: null,
    reason: known?.reason ?? e.reason,
    totalAfter: total,
    succeededAt: e.at,
  };
  const what = showMoney({ minor: e.amount, currency: e.currency });
  return {
    state: putRefund(state, row),
    verdict: done(`${what} was given back, refund ${row.morRefundId ?? row.processorRefundId ?? row.id}`),
  };
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
    return (
      alike.find(sameTotal) ?? alike.find((r) => r.origin === 'api' && r.status !== 'failed' && r.totalAfter === null)
    );
  }
  return (
    own.find((r) => e.refundId !== null && r.morRefundId === e.refundId) ??
    own.find((r) => e.processorRefundId !== null && r.processorRefundId === e.processorRefundId) ??
    alike.find((r) => isNameless(r, e.amount)) ??
    alike.find((r) => r.morRefundId === null && r.processorRefundId === null && sameTotal(r))
  );
}

/** A refund of ours that waits for its answer and has no id yet. */
export function isNameless(r: RefundRow, amount: bigint): boolean {
  const waits = r.status === 'requested' || r.status === 'unknown';
  return r.origin === 'api' && waits && r.morRefundId === null && r.processorRefundId === null && r.amount === amount;
}

export function newRefund(
  ctx: Ctx,
  p: PaymentRow,
  amount: bigint,
  reason: string | null,
  origin: RefundRow['origin'],
): RefundRow {
  return {
    id: ctx.newId('ref'),
    paymentRowId: p.id,
    invoiceId: p.invoiceId,
    morRefundId: null,
    processorRefundId: null,
    amount,
    currency: p.currency,
    status: 'requested',
    reason,
    origin,
    counted: false,
    totalAfter: null,
    mirror: 'none',
    creditNoteId: null,
    failure: null,
    createdAt: ctx.now,
    succeededAt: null,
  };
}
