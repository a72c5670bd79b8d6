// Small questions that answers and refusals both ask: whom a stored call is about, and what was said.
import { type LaneState, type OutboxRow, type PaymentRow } from '../domain/model.js';
import { type EffectFact } from '../domain/facts/effect.js';
import { type Refused } from '../domain/facts/parts.js';
import { type CallFailure, said } from '../domain/ports/call.js';
import { isCallOf } from './payment.js';
import { type Ctx, openReview } from './change.js';
import { CUT_OFF_AFTER_MS } from '../policy.js';

/** The payment that a stored call is about. */
export function paymentOf(s: Pick<LaneState, 'payments'>, m: OutboxRow): PaymentRow | undefined {
  if (m.kind === 'finalize_invoice') return s.payments.find((p) => p.mark === 'finalizing');
  return s.payments.find((p) => isCallOf(m, p));
}

/** So long after it was due, a call may have been sent before by a process that died in it: that try is not on record. */
export function mayBeCutOff({ nextTryAt }: OutboxRow, ctx: Ctx): boolean {
  return isCutOffSince(nextTryAt, ctx);
}

/** So long ago that a process may have sent it since, and died in it. */
export function isCutOffSince(at: Date, { now }: Ctx): boolean {
  return now.getTime() - at.getTime() >= CUT_OFF_AFTER_MS;
}

/** Never followed. It (303) may come after something that was done. */
export function isRedirect({ status }: CallFailure): boolean {
  return status !== null && status >= 300 && status < 400;
}

/** What a refusal says, for the fact of an item. */
export function refusalOf(m: OutboxRow, f: CallFailure): Refused {
  return { call: m.kind, status: f.status, error: f.code, said: said(f) };
}

/** A call was refused for good: the item that tells a person. */
export function callFailed(
  s: LaneState,
  m: OutboxRow,
  fact: EffectFact,
  about: { readonly paymentRowId?: string; readonly refundId?: string },
  ctx: Ctx,
): LaneState {
  return openReview(s, ctx, { kind: 'effect_failed', subject: `${m.kind}:${m.subject}`, fact, ...about });
}
