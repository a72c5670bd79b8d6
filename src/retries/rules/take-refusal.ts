// The MoR refused a renewal, or Stripe asks for another attempt: what is remembered of it. What follows, settle-retries.ts decides.
import { type LaneState } from '../../domain/model.js';
import { type Refusal, type Retry, type RetryTrail } from '../../domain/retry.js';
import { type PaymentEvent } from '../../engine/event.js';
import { type Ctx } from '../../engine/change.js';
import { kindOfRefusal } from './decline-kinds.js';
import { CLOCKS_APART_MS } from '../../policy.js';
import { putTrail } from './trail.js';

/**
 * The newest refusal counts, by the MoR's clock, in whatever order they come; it answers a retry that was awaited. A payment that was
 * known before the retry is an earlier try, and says nothing of it: the retry's own debit may still be on its way, and whoever took this
 * for its answer would charge beside it. Retries bring payments of their own (docs/retries.md, "What is proven").
 */
export function takeRefusal(s: LaneState, e: PaymentEvent, ctx: Ctx): LaneState {
  if (s.invoice === null) return s;
  const outcome = e.type === 'payment.failed' ? 'failed' : 'requires_action';
  const refusal: Refusal = {
    at: e.at.toISOString(),
    heardAt: ctx.now.toISOString(),
    eventId: e.eventId,
    outcome,
    kind: kindOfRefusal(outcome, e.declineCode),
    code: e.declineCode,
  };
  const trail = s.invoice.retries;
  if (trail === null) return putTrail(s, { refusal, retries: [], waitingSince: null, askedAt: null, ended: null });
  if (refusal.at < trail.refusal.at || isOfEarlierTry(s, trail, e)) return s;
  const newest = isLater(refusal, trail.refusal);
  return putTrail(s, {
    ...trail,
    refusal: newest ? refusal : trail.refusal,
    waitingSince: null,
    askedAt: newest ? null : trail.askedAt,
  });
}

/**
 * Its payment was recorded before the last charge was ordered; or the MoR made it well before, and an earlier charge is unanswered: it was
 * delivered late. Without an earlier one it is the answer: after a restored backup a retry is ordered again that the MoR has answered.
 */
function isOfEarlierTry(s: LaneState, trail: RetryTrail, e: PaymentEvent): boolean {
  const charge = trail.retries.findLast((r) => r.means === 'charge' && !r.withdrawn);
  if (charge === undefined) return false;
  const orderedAt = Date.parse(charge.at);
  const p = s.payments.find((x) => x.paymentId === e.paymentId);
  if (p !== undefined && p.recordedAt.getTime() < orderedAt) return true;
  const isUnanswered = (r: Retry): boolean => r.means === 'charge' && !r.withdrawn && r.at > trail.refusal.at;
  return orderedAt - e.at.getTime() >= CLOCKS_APART_MS && trail.retries.some((r) => r !== charge && isUnanswered(r));
}

/** Of two in one second `failed` is the later, as for the payment; then the ids decide, so that the order of arrival does not. */
function isLater(a: Refusal, b: Refusal): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.outcome !== b.outcome) return a.outcome === 'failed';
  return a.eventId > b.eventId;
}

/**
 * Stripe asks for another attempt (`invoice.payment_attempt_required`): its own schedule is one cause of a retry. `at`: by its own clock, since
 * one that is delivered late may speak of the charge that was refused.
 */
export function takeAttemptAsked(s: LaneState, at: Date): LaneState {
  const trail = s.invoice?.retries;
  const askedAt = at.toISOString();
  return trail && askedAt > (trail.askedAt ?? '') ? putTrail(s, { ...trail, askedAt }) : s;
}
