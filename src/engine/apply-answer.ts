// Takes in what came back from a stored call, or that nothing did: it is done, refused, or tried again under the same key.
import { type LaneState, type OutboxKind, type OutboxRow } from '../domain/model.js';
import { type BillingAnswer } from '../domain/ports/billing-platform.js';
import { type CallOutcome, LIST_TOO_LONG, said } from '../domain/ports/call.js';
import { type Ctx, messageKey, note, putMessage, retryAt } from './change.js';
import { type Answer, type AnswerTo } from './call.js';
import { isPayable } from '../domain/status.js';
import { FAILED_TRIES_SHOWN, KEY_LIFE_MS } from '../policy.js';
import { type Subjects } from './decider.js';

/** A stored call was sent and answered, or not. */
export function applyAnswer(
  subjects: Subjects,
  s: LaneState,
  messageId: string,
  outcome: CallOutcome<Answer>,
  ctx: Ctx,
): LaneState {
  const m = s.messages.find((x) => x.id === messageId);
  if (m === undefined || m.status !== 'pending') return s;
  const tried: OutboxRow = {
    ...m,
    attempts: m.attempts + 1,
    firstTriedAt: m.firstTriedAt ?? ctx.now,
    lastStatus: outcome.status,
    lastRequestId: outcome.requestId,
    lastCode: outcome.ok ? null : outcome.code,
    lastMessage: outcome.ok ? null : outcome.message,
  };
  const detail = {
    call: m.kind,
    key: m.key,
    attempt: tried.attempts,
    status: outcome.status,
    requestId: outcome.requestId,
  };
  if (outcome.ok) {
    const state = putMessage(s, { ...tried, status: 'done', answeredAt: ctx.now });
    const told = note(state, ctx, 'call', `${m.kind} done`, m.id, detail);
    return answered(subjects, told, tried, outcome.value.kind, outcome.value, ctx);
  }
  const noted =
    tried.attempts > FAILED_TRIES_SHOWN && outcome.kind !== 'refused'
      ? s
      : note(s, ctx, 'call', `${m.kind}: ${said(outcome)}`, m.id, detail);
  if (outcome.kind === 'refused') {
    const state = putMessage(noted, { ...tried, status: 'refused', answeredAt: ctx.now });
    return subjects.calls[m.kind].refused(state, tried, outcome, ctx);
  }
  const replaying = outcome.replayed && outcome.status !== null && outcome.status >= 500;
  const nextTryAt = retryAt(ctx, tried.attempts, outcome.retryAfterMs, outcome.kind === 'stopped');
  const state = putMessage(noted, { ...tried, nextTryAt, replaying });
  return subjects.calls[m.kind].silent?.(state, m, outcome, ctx) ?? state;
}

/**
 * Looked whether a call had its effect. Done: as if answered. Surely absent: a next key is written down before anything is sent
 * again, unless it is the first try or the invoice cannot take it any more.
 */
export function applyProbe(
  subjects: Subjects,
  s: LaneState,
  messageId: string,
  outcome: CallOutcome<{ readonly done: true; readonly answer: BillingAnswer } | { readonly done: false }>,
  ctx: Ctx,
): LaneState {
  const m = s.messages.find((x) => x.id === messageId);
  if (m === undefined || m.status !== 'pending') return s;
  const rule = subjects.calls[m.kind];
  const looked = putMessage(s, { ...m, firstTriedAt: ctx.now });
  if (!outcome.ok && outcome.code === LIST_TOO_LONG && rule.untraceable !== undefined) {
    // The invoice's own payments were gone through first, and a look before the first try is for nothing else.
    if (isFirstTry(m, ctx)) return looked;
    return rule.untraceable(putMessage(s, { ...m, status: 'refused', answeredAt: ctx.now }), m, outcome.message, ctx);
  }
  if (!outcome.ok)
    return putMessage(s, {
      ...m,
      nextTryAt: retryAt(ctx, m.attempts + 1, outcome.retryAfterMs),
      attempts: m.attempts + 1,
    });
  if (outcome.value.done) return applyAnswer(subjects, s, messageId, { ...outcome, value: outcome.value.answer }, ctx);
  const withdrawn = isPayable(s.invoice) ? null : (rule.withdrawn?.(s, m, ctx) ?? null);
  if (withdrawn !== null) {
    const dropped = putMessage(withdrawn, { ...m, status: 'cancelled', answeredAt: ctx.now });
    return note(
      dropped,
      ctx,
      'decision',
      `${m.kind} withdrawn: it had no effect, and the invoice can no longer be paid`,
      m.id,
    );
  }
  // Its key is new, or as good as new: the same key even if the look was a moment too early.
  if (isFirstTry(m, ctx)) return looked;
  const generation = m.generation + 1;
  const fresh: OutboxRow = {
    ...m,
    generation,
    key: messageKey(m.kind, m.subject, generation),
    attempts: 0,
    firstTriedAt: ctx.now,
    replaying: false,
    nextTryAt: ctx.now,
    createdAt: ctx.now,
  };
  return note(
    putMessage(s, fresh),
    ctx,
    'decision',
    `${m.kind} had no effect under its key; next key ${fresh.key}`,
    m.id,
  );
}

/** Nobody is known to have sent it, or to have looked for its effect, and its key cannot be forgotten yet. */
export function isFirstTry(m: OutboxRow, ctx: Ctx): boolean {
  return m.firstTriedAt === null && !m.replaying && ctx.now.getTime() - m.createdAt.getTime() < KEY_LIFE_MS;
}

/** Whoever the call is of takes its answer in. */
function answered<K extends OutboxKind>(
  subjects: Subjects,
  s: LaneState,
  m: OutboxRow,
  kind: K,
  a: AnswerTo<K>,
  ctx: Ctx,
): LaneState {
  return subjects.calls[kind].answered(s, m, a, ctx);
}
