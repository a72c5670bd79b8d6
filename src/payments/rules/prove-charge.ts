// The proof of a signup's charge, which a browser named: what the MoR's look-up and its events say of it, and when it is asked next.
import { type UnprovenFact } from '../../domain/facts/late.js';
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type CallOutcome, said } from '../../domain/ports/call.js';
import { type ChargeState } from '../../domain/ports/payment-gateway.js';
import { closeReviews, type Ctx, note, openReview, openReviewOf, putPayment, retryAt } from '../../engine/change.js';
import { moveMark } from '../../engine/moves.js';
import {
  DAY_MS,
  FAILED_READS_SHOWN,
  PROVE_DOUBLINGS,
  PROVE_FIRST_PAUSE_MS,
  PROVE_LONGEST_PAUSE_MS,
  PROVE_PATIENCE_MS,
} from '../../policy.js';
import { collect } from '../../ledger/rules/one-charge.js';
import { carriedOut, type ReviewRule } from '../../engine/subject.js';
import { closePayment } from '../../engine/payment.js';

/** The MoR said what it knows of a signup's charge. Only that it charged it is a proof. */
export function applyProof(s: LaneState, paymentRowId: string, outcome: CallOutcome<ChargeState>, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined || p.mark !== 'proving') return s;
  const asked: PaymentRow = { ...p, proveAttempts: p.proveAttempts + 1 };
  if (!outcome.ok) return notTold(s, asked, outcome, ctx);
  switch (outcome.value) {
    case 'charged':
      return proven(s, p, ctx, 'the MoR charged it');
    case 'pending':
      return onItsWay(s, asked, ctx);
    case 'unknown':
      return notKnown(s, asked, ctx);
  }
}

function notTold(
  s: LaneState,
  p: PaymentRow,
  failure: Extract<CallOutcome<never>, { ok: false }>,
  ctx: Ctx,
): LaneState {
  const proveDueAt = retryAt(
    ctx,
    Math.min(p.proveAttempts, PROVE_DOUBLINGS),
    failure.retryAfterMs,
    failure.kind === 'stopped',
  );
  return brief(putPayment(s, { ...p, proveDueAt }), p, `asking the MoR for the charge failed: ${said(failure)}`, ctx);
}

function onItsWay(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  const since = p.pendingSince ?? ctx.now;
  const age = ctx.now.getTime() - since.getTime();
  if (age >= ctx.settings.bankDebitAlarmAfterDays * DAY_MS) {
    const fact = { code: 'debit-unsettled', charge: p.processorChargeId, since: since.toISOString() } as const;
    return unproven(s, p, fact, ctx);
  }
  const pause = Math.min(PROVE_LONGEST_PAUSE_MS, Math.max(PROVE_FIRST_PAUSE_MS, age / 2));
  const state = putPayment(s, { ...p, pendingSince: since, proveDueAt: new Date(ctx.now.getTime() + pause) });
  if (p.pendingSince !== null) return state;
  const text = `the MoR knows charge ${p.processorChargeId ?? ''} but has not settled it; the invoice is marked when it has`;
  return note(state, ctx, 'call', text, p.id);
}

function notKnown(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  if (ctx.now.getTime() - p.recordedAt.getTime() < PROVE_PATIENCE_MS) {
    const proveDueAt = retryAt(ctx, Math.min(p.proveAttempts, PROVE_DOUBLINGS), null);
    return brief(putPayment(s, { ...p, proveDueAt }), p, 'the MoR does not know the charge yet', ctx);
  }
  const knownSince = p.pendingSince?.toISOString() ?? null;
  return unproven(s, p, { code: 'charge-unknown', charge: p.processorChargeId, knownSince }, ctx);
}

function brief(s: LaneState, p: PaymentRow, text: string, ctx: Ctx): LaneState {
  return p.proveAttempts > FAILED_READS_SHOWN ? s : note(s, ctx, 'call', text, p.id);
}

/** The proof ended without one: a person decides, and nothing was written to Stripe. */
function unproven(s: LaneState, p: PaymentRow, fact: UnprovenFact, ctx: Ctx): LaneState {
  const parked = putPayment(s, { ...moveMark(p, 'parked'), proveDueAt: null });
  return openReview(parked, ctx, { kind: 'signup_unproven', subject: p.id, paymentRowId: p.id, fact });
}

/** The MoR's own event says that the charge being proven failed. `p` has what the event says. */
export function disproven(s: LaneState, p: PaymentRow, why: string, ctx: Ctx): LaneState {
  const fact = { code: 'charge-failed', charge: p.processorChargeId, reason: why } as const;
  return unproven(s, { ...p, status: 'failed' }, fact, ctx);
}

/** A signup's charge was proven: from here on it is a payment like any other. */
export function proven(s: LaneState, p: PaymentRow, ctx: Ctx, how: string): LaneState {
  if (p.amount === null) return s;
  const at = p.succeededAt ?? ctx.now;
  const row: PaymentRow = { ...moveMark(p, 'waiting'), status: 'succeeded', succeededAt: at, proveDueAt: null };
  let state = putPayment(s, row);
  if (p.succeededAt === null) state = collect(state, row, p.amount, ctx, null);
  return note(state, ctx, 'decision', `charge ${p.processorChargeId ?? ''} is proven: ${how}`, p.id);
}

/** What a signup's backend said wrongly of its amount (complete-signup.ts) was said rightly since, or the MoR itself named the amount. */
export function amountSettled(s: LaneState, p: PaymentRow, ctx: Ctx, how: string): LaneState {
  const item = p.signupId === null ? undefined : openReviewOf(s, 'amount_mismatch', p.signupId);
  if (item === undefined) return s;
  const closed = closeReviews(s, ctx, (r) => r.id === item.id, { by: null, resolution: 'cleared', note: how });
  return p.mark === 'parked' && p.succeededAt !== null ? putPayment(closed, moveMark(p, 'waiting')) : closed;
}

/** The proof of a charge that ended without one is settled as a person says. */
export const unprovenReview: ReviewRule = (s, r, choice, ctx) => {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  if (p === undefined) return carriedOut(s);
  if (choice.resolution === 'apply') return carriedOut(proven(s, p, ctx, `${choice.by} vouches for it`));
  if (choice.resolution === 'dismiss') return carriedOut(p.mark === 'parked' ? closePayment(s, p) : s);
  // As for the first time: money that is still on its way is waited for as long again.
  const again = { ...moveMark(p, 'proving'), status: 'processing', proveDueAt: ctx.now, pendingSince: null } as const;
  return carriedOut(putPayment(s, again));
};
