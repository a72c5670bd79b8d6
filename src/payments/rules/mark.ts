// The mark of a payment on its invoice: begun, held, withdrawn, or left to a person.
import { HOLDING, type InvoiceRow, type LaneState, type OutboxRow, type PaymentRow } from '../../domain/model.js';
import {
  addCall,
  closeReviews,
  type Ctx,
  note,
  openReview,
  putInvoice,
  putMessage,
  putPayment,
} from '../../engine/change.js';
import { moveMark } from '../../engine/moves.js';
import { showMoney } from '../../domain/money.js';
import { beforeTheMark, isShadowCall, isShadowed, settleShadowed } from './shadow.js';
import { observationsOf } from '../../engine/open-money.js';
import { decideMark, type Parking } from './decide-mark.js';
import { isFresh } from '../../engine/facts.js';
import { readInvoice } from '../../engine/read-invoice.js';
import { isPayable } from '../../domain/status.js';
import { DRAFT_FAILED_LOOK_EVERY_MS, DRAFT_LOOK_AFTER_MS, DRAFT_LOOK_EVERY_MS, STANDSTILL_MS } from '../../policy.js';
import { isCutOffSince, mayBeCutOff } from '../../engine/call.js';
import { closePayment, isCallOf, PARKING } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { type BillingCall } from '../../domain/ports/billing-platform.js';
import { type ErrandRule, type SettleRule } from '../../engine/subject.js';

/** The marks of all payments, the oldest first: the first payment is the one that pays the invoice. */
export const settleMarks: SettleRule = (s, ctx, lookAgain) => {
  let state = s;
  for (const p of byAge(s.payments)) state = settlePayment(state, p.id, ctx);
  const { invoice } = state;
  if (invoice !== null && state.payments.some((p) => p.mark === 'held')) lookAgain(invoice.holdUntil);
  return state;
};

/** A payment that waits for a person and was given back in full needs nothing more. */
export function closeRefunded(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const p of s.payments) {
    if (p.mark !== 'parked' || p.amount === null || p.succeededAt === null || p.amountRefunded < p.amount) continue;
    state = closePayment(state, p);
    state = closeReviews(state, ctx, (r) => r.paymentRowId === p.id && PARKING.has(r.kind), {
      by: null,
      resolution: 'cleared',
      note: 'the payment was refunded in full',
    });
  }
  return state;
}

/** What the money needs to be known first: whether a signup's charge is real, and what became of the invoice. */
export const moneyErrand: ErrandRule = (s, ctx, due) => {
  const i = s.invoice;
  for (const p of s.payments) {
    if (p.mark === 'proving' && p.processorChargeId !== null && due(p.proveDueAt)) {
      return { do: 'prove-charge', paymentRowId: p.id, chargeId: p.processorChargeId };
    }
    if (p.mark !== 'waiting' || i === null || isBesidePart(s, p) || !due(i.readDueAt)) continue;
    if (!isFresh(i, ctx.now)) return readInvoice(i.invoiceId);
    return { do: 'identify', paymentRowId: p.id, asked: identifyCall(s, p, ctx) };
  }
  return null;
};

function byAge(rows: readonly PaymentRow[]): readonly PaymentRow[] {
  return rows.toSorted((a, b) => a.recordedAt.getTime() - b.recordedAt.getTime() || (a.id < b.id ? -1 : 1));
}

/**
 * A part payment that a person let through: the next payment may settle its rest. It may have done so already, where Stripe shows more paid
 * than is known here: somebody marked it by hand, or a restored database forgot its mark.
 */
function isPart(s: LaneState, p: PaymentRow, i: InvoiceRow): boolean {
  if (p.mark !== 'confirmed' || !p.waived.includes('amount_mismatch')) return false;
  const known = s.payments.reduce((sum, x) => (x.mark === 'confirmed' ? sum + (x.amount ?? 0n) : sum), 0n);
  return i.platformStatus !== 'paid' || (i.amountPaid ?? 0n) > known;
}

/** A part that a person let through is on its way to the invoice: whether what came beside it is the rest shows once it is there. */
function isBesidePart(s: LaneState, p: PaymentRow): boolean {
  return s.payments.some(
    (x) =>
      x.id !== p.id &&
      HOLDING.has(x.mark) &&
      x.mark !== 'confirmed' &&
      x.waived.includes('amount_mismatch') &&
      !isShadowed(s, x), // whoever marks it then, nothing is under way here
  );
}

function settlePayment(s: LaneState, id: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === id);
  const i = s.invoice;
  if (p === undefined || i === null) return s;
  if (p.mark === 'held' && (i.platformStatus !== 'draft' || isDue(i.holdUntil, ctx.now))) {
    return settlePayment(putPayment(s, moveMark(p, 'waiting')), id, ctx);
  }
  if (isShadowed(s, p)) return settleShadowed(s, p, ctx);
  if (STEPS[p.mark] !== undefined) return withdrawIfPointless(s, p, ctx);
  if (p.mark !== 'waiting' || p.amount === null || isBesidePart(s, p)) return s;
  const asked = askedOfAmount(s, p, ctx);
  if (asked !== null) return asked;

  const holder = s.payments.find((x) => x.id !== p.id && HOLDING.has(x.mark) && !isPart(s, x, i));
  const stuck = s.reviews.some(
    (r) => r.kind === 'finalization_failed' && (r.status === 'open' || r.resolution === 'dismiss'),
  );
  const shadow = ctx.settings.shadow === true;
  const seen = shadow && holder === undefined ? beforeTheMark(i) : i;
  const d = decideMark({ ...p, amount: p.amount }, seen, holder, isFresh(i, ctx.now), ctx.settings, stuck);
  const known = p.paymentId ?? p.id;
  switch (d.do) {
    case 'read':
    case 'identify':
      return s; // moneyErrand asks for it
    case 'hold': {
      const held = putPayment(s, moveMark(p, 'held'));
      const until = stuck
        ? new Date(ctx.now.getTime() + DRAFT_FAILED_LOOK_EVERY_MS)
        : holdUntil(i.finalizesAt, ctx.now);
      const said = `payment ${known} is held: ${d.why}`;
      return note(putInvoice(held, { ...i, holdUntil: until }), ctx, 'decision', said, p.id);
    }
    case 'finalize': {
      if (shadow) return wouldFinalize(s, p, i, ctx);
      const called = addCall(s, ctx, { kind: 'finalize_invoice', invoiceId: i.invoiceId }, i.invoiceId);
      return note(
        putPayment(called, moveMark(p, 'finalizing')),
        ctx,
        'decision',
        `finalize now, to mark payment ${known}`,
        p.id,
      );
    }
    case 'attach': {
      const recordId = p.paymentRecordId ?? '';
      const called = addCall(
        s,
        ctx,
        { kind: 'attach_payment', invoiceId: i.invoiceId, paymentRecordId: recordId },
        effectName(p),
        p.id,
      );
      return note(
        putPayment(called, { ...moveMark(p, 'attaching'), markMode: 'payment_record' }),
        ctx,
        'decision',
        `attach ${recordId}, reported earlier`,
        p.id,
      );
    }
    case 'mark':
      return startMark(s, p, p.amount, d.mode, ctx);
    case 'park': {
      const parked = putPayment(s, moveMark(p, 'parked'));
      return openReview(parked, ctx, { ...withObserved(s, d.item), subject: p.id, paymentRowId: p.id });
    }
  }
}

/**
 * Its backend said another amount than the signup asked for (complete-signup.ts): a person first, and again when they chose a refund
 * that was not made. A MoR that took less refuses to give back what was asked for. Null: nobody has to be asked.
 */
function askedOfAmount(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState | null {
  const item = s.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === p.signupId);
  if (item === undefined || (item.status !== 'open' && item.resolution !== 'refund')) return null;
  if (item.fact.code !== 'completed-otherwise') return null;
  const { subject, fact } = item;
  const refund = s.refunds.findLast((r) => r.paymentRowId === p.id && r.status === 'failed');
  const failed =
    refund === undefined
      ? fact.failed
      : { amount: { minor: refund.amount, currency: refund.currency }, said: refund.failure?.message ?? null };
  const parked = putPayment(s, moveMark(p, 'parked'));
  return openReview(parked, ctx, { kind: 'amount_mismatch', subject, paymentRowId: p.id, fact: { ...fact, failed } });
}

/** Of two payments for one invoice a person sees all that speaks of money. */
function withObserved(s: LaneState, item: Parking): Parking {
  const { fact } = item;
  if (fact.code !== 'paid-twice' && fact.code !== 'paid-otherwise') return item;
  return { ...item, kind: 'double_payment', fact: { ...fact, observations: observationsOf(s) } };
}

/** In shadow mode the draft stays one until somebody else, or Stripe's own hour, makes it final: the payment waits for that. */
function wouldFinalize(s: LaneState, p: PaymentRow, i: InvoiceRow, ctx: Ctx): LaneState {
  const written = s.messages.some((m) => m.kind === 'finalize_invoice' && isShadowCall(m));
  const called = written ? s : addCall(s, ctx, { kind: 'finalize_invoice', invoiceId: i.invoiceId }, i.invoiceId);
  const held = putPayment(called, moveMark(p, 'held'));
  return putInvoice(held, { ...i, holdUntil: holdUntil(i.finalizesAt, ctx.now) });
}

function startMark(
  s: LaneState,
  p: PaymentRow,
  amount: bigint,
  mode: 'payment_record' | 'out_of_band',
  ctx: Ctx,
): LaneState {
  const { invoiceId } = p;
  const reference = p.reference ?? p.processorChargeId ?? effectName(p);
  const paymentId = effectName(p);
  if (mode === 'out_of_band') {
    const called = addCall(s, ctx, { kind: 'set_reference', invoiceId, paymentId, reference }, paymentId, p.id);
    const moved = putPayment(called, { ...moveMark(p, 'referencing'), markMode: mode });
    return note(moved, ctx, 'decision', `mark paid out of band, reference ${reference}`, p.id);
  }
  // Once a person said whose money it is, the customer that Stripe knows is the invoice's.
  const owner = s.invoice?.customerId ?? p.customerId;
  const called = addCall(s, ctx, reportOf({ ...p, customerId: owner }, amount, ctx.now), paymentId, p.id);
  const moved = putPayment(called, { ...moveMark(p, 'reporting'), markMode: mode });
  return note(moved, ctx, 'decision', `mark paid with a payment record, reference ${reference}`, p.id);
}

/** The report of a payment to Stripe. Its times are the payment's own, so the bytes never change. */
export function reportOf(p: PaymentRow, amount: bigint, now: Date): BillingCall {
  const at = p.succeededAt ?? now;
  return {
    kind: 'report_payment',
    invoiceId: p.invoiceId,
    customerId: p.customerId,
    paymentId: effectName(p),
    amount: { minor: amount, currency: p.currency },
    reference: p.reference ?? p.processorChargeId ?? effectName(p),
    initiatedAt: at,
    guaranteedAt: at,
    presence: p.origin === 'signup' ? 'on_session' : 'off_session',
  };
}

/** The call of each stage of a mark. */
const STEPS: Partial<Record<PaymentRow['mark'], OutboxRow['kind']>> = {
  reporting: 'report_payment',
  attaching: 'attach_payment',
  referencing: 'set_reference',
  paying: 'pay_out_of_band',
};

/**
 * A step that had no effect is taken back when a fresh read shows that it would do something else than was decided: it is decided anew. By who
 * works the lane alone: seen from beside it may be under way, and the answer to what was taken back would go unheard.
 */
function withdrawIfPointless(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  if (ctx.beside === true) return s;
  const i = s.invoice;
  const kind = STEPS[p.mark];
  const m = s.messages.find((x) => x.kind === kind && isCallOf(x, p) && x.status === 'pending');
  if (i === null || !isFresh(i, ctx.now) || m === undefined) return s;
  const why = pointless(p, i, m, ctx);
  if (why === null) return s;
  const state = putMessage(s, { ...m, status: 'cancelled', answeredAt: ctx.now });
  return note(putPayment(state, moveMark(p, 'waiting')), ctx, 'decision', `${why}: not marked`, p.id);
}

/** Null: it is still what was decided, or it was tried and may have been heard. */
function pointless(p: PaymentRow, i: InvoiceRow, m: OutboxRow, ctx: Ctx): string | null {
  const { kind, attempts } = m;
  const isEnd = kind === 'attach_payment' || kind === 'pay_out_of_band';
  // Whether an end was carried out is looked for before it is sent (mark-answer.ts).
  if (!isPayable(i)) return attempts === 0 && !isEnd ? `the invoice is now ${i.platformStatus}` : null;
  if (isWhatWasDecided(p, i) || (isEnd && standsStillUntil(p, i, m, ctx) !== null)) return null;
  const outOfBand = p.markMode === 'out_of_band';
  // Out of band all of it counts as paid, and an invoice that can be paid shows that no try was carried out.
  const due = showMoney({ minor: i.amountRemaining ?? 0n, currency: p.currency });
  // A try that a crash cut off may have been carried out: a report would be made twice, and an end is looked for first (errands.ts). A look of
  // long ago says nothing: a try after it may have been cut off as well.
  const isLookedFor = isEnd && m.firstTriedAt !== null && !isCutOffSince(m.firstTriedAt, ctx);
  const isUntried = attempts === 0 && (isLookedFor || !mayBeCutOff(m, ctx));
  return isUntried || outOfBand ? `${due} is due now` : null;
}

function isWhatWasDecided(p: PaymentRow, i: InvoiceRow): boolean {
  return i.amountRemaining === p.amount || (p.waived.includes('amount_mismatch') && p.markMode !== 'out_of_band');
}

/**
 * Another amount is due than `m`, the end of a mark, was decided for, and a process that stood still may yet carry it out: until then it is
 * neither taken back nor looked for. Null: nobody can.
 */
export function standsStillUntil(p: PaymentRow, i: InvoiceRow, m: OutboxRow, ctx: Ctx): Date | null {
  if (!isPayable(i) || isWhatWasDecided(p, i) || !mayBeCutOff(m, ctx)) return null;
  const until = new Date(m.nextTryAt.getTime() + STANDSTILL_MS);
  return until > ctx.now ? until : null;
}

function holdUntil(finalizesAt: Date | null, now: Date): Date {
  // The net under `invoice.finalized`: a minute after the draft should be final, then as long again as it is late, else in a quarter of an hour.
  if (finalizesAt === null) return new Date(now.getTime() + DRAFT_LOOK_EVERY_MS);
  const late = Math.max(now.getTime() - finalizesAt.getTime(), DRAFT_LOOK_AFTER_MS);
  const next = now.getTime() + Math.min(late, DRAFT_LOOK_EVERY_MS);
  return new Date(Math.max(next, finalizesAt.getTime() + DRAFT_LOOK_AFTER_MS));
}

function isDue(at: Date | null, now: Date): boolean {
  return at !== null && at.getTime() <= now.getTime();
}

/** What this payment's own mark on an invoice that is paid would have been. */
function identifyCall(s: LaneState, p: PaymentRow, ctx: Ctx): BillingCall {
  const { invoiceId, paymentRecordId } = p;
  if (paymentRecordId !== null) return { kind: 'attach_payment', invoiceId, paymentRecordId };
  // The reference is there; was it paid out of band, or did Stripe collect it after all?
  if (p.markMode === 'out_of_band') return { kind: 'pay_out_of_band', invoiceId };
  if (ctx.settings.markMode === 'out_of_band') {
    // The reference as it was written: the payment may have got another name since.
    const written = s.messages.findLast((m) => m.kind === 'set_reference' && isCallOf(m, p))?.asked ?? null;
    if (written !== null) return written;
    const paymentId = effectName(p);
    return { kind: 'set_reference', invoiceId, paymentId, reference: p.reference ?? p.processorChargeId ?? paymentId };
  }
  return reportOf(p, p.amount ?? 0n, ctx.now);
}
