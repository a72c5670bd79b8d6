// Takes in what came back from a stored call, or that nothing did: it is done, refused, or tried again under the same key.
import { type OutboxKind, type OutboxRow } from '../domain/model.js';
import { type BillingAnswer } from '../domain/ports/billing-platform.js';
import { type CallOutcome, LIST_TOO_LONG, said } from '../domain/ports/call.js';
import { isPayable } from '../domain/status.js';
import { FAILED_TRIES_SHOWN, KEY_LIFE_MS } from '../policy.js';
import { type Answer, type AnswerTo, callOf } from './call.js';
import { messageKey, retryAt } from './context.js';
import { type Subjects } from './decider.js';
import { type Draft, type Lane } from './draft.js';

/** The call, if it still waits for its answer. */
function findPending(lane: Lane, id: string): Draft<OutboxRow> | undefined {
  return lane.messages.find((m) => m.id === id && m.status === 'pending');
}

/** A stored call was sent and answered, or not. */
export function applyAnswer(subjects: Subjects, lane: Lane, id: string, outcome: CallOutcome<Answer>): void {
  const m = findPending(lane, id);
  if (m === undefined) return;
  const before = { ...m };
  Object.assign(m, {
    attempts: m.attempts + 1,
    firstTriedAt: m.firstTriedAt ?? lane.now,
    lastStatus: outcome.status,
    lastRequestId: outcome.requestId,
    lastCode: outcome.ok ? null : outcome.code,
    lastMessage: outcome.ok ? null : outcome.message,
  });
  const tried = { ...m }; // as its rules see it: nobody has answered it yet
  const { status, requestId } = outcome;
  const detail = { call: m.kind, key: m.key, attempt: m.attempts, status, requestId };
  if (outcome.ok) {
    Object.assign(m, { status: 'done', answeredAt: lane.now });
    lane.say('call', `${m.kind} done`, m, detail);
    return replied(subjects, lane, tried, outcome.value.kind, outcome.value);
  }
  const rule = subjects.calls[m.kind];
  if (m.attempts <= FAILED_TRIES_SHOWN || outcome.kind === 'refused')
    lane.say('call', `${m.kind}: ${said(outcome)}`, m, detail);
  if (outcome.kind === 'refused') {
    Object.assign(m, { status: 'refused', answeredAt: lane.now });
    return rule.refused(lane, callOf(lane, tried), outcome);
  }
  m.replaying = outcome.replayed && outcome.status !== null && outcome.status >= 500;
  m.nextTryAt = retryAt(lane.ctx, m.attempts, outcome.retryAfterMs, outcome.kind === 'stopped');
  rule.silent?.(lane, callOf(lane, before), outcome);
}

/**
 * Looked whether a call had its effect. Done: as if answered. Surely absent: a next key is written down before anything is sent
 * again, unless it is the first try or the invoice cannot take it any more.
 */
export function applyProbe(
  subjects: Subjects,
  lane: Lane,
  id: string,
  outcome: CallOutcome<{ readonly done: true; readonly answer: BillingAnswer } | { readonly done: false }>,
): void {
  const m = findPending(lane, id);
  if (m === undefined) return;
  const before = { ...m };
  const call = callOf(lane, before);
  const rule = subjects.calls[m.kind];
  if (!outcome.ok && outcome.code === LIST_TOO_LONG && rule.untraceable !== undefined) {
    // The invoice's own payments were gone through first, and a look before the first try is for nothing else.
    if (isFirstTry(m, lane)) {
      m.firstTriedAt = lane.now;
      return;
    }
    Object.assign(m, { status: 'refused', answeredAt: lane.now });
    return rule.untraceable(lane, call, outcome.message);
  }
  if (!outcome.ok) {
    m.attempts += 1;
    m.nextTryAt = retryAt(lane.ctx, m.attempts, outcome.retryAfterMs);
    return;
  }
  if (outcome.value.done) return applyAnswer(subjects, lane, id, { ...outcome, value: outcome.value.answer });
  if (!isPayable(lane.invoice) && rule.withdrawn?.(lane, call) === true) {
    Object.assign(m, { status: 'cancelled', answeredAt: lane.now });
    const why = 'it had no effect, and the invoice can no longer be paid';
    return lane.say('decision', `${m.kind} withdrawn: ${why}`, m);
  }
  m.firstTriedAt = lane.now;
  // Its key is new, or as good as new: the same key even if the look was a moment too early.
  if (isFirstTry(before, lane)) return;
  m.generation += 1;
  m.key = messageKey(m.kind, m.subject, m.generation);
  Object.assign(m, { attempts: 0, replaying: false, nextTryAt: lane.now, createdAt: lane.now });
  lane.say('decision', `${m.kind} had no effect under its key; next key ${m.key}`, m);
}

/** Nobody is known to have sent it, or to have looked for its effect, and its key cannot be forgotten yet. */
export function isFirstTry(m: OutboxRow, { now }: Pick<Lane, 'now'>): boolean {
  return m.firstTriedAt === null && !m.replaying && now.getTime() - m.createdAt.getTime() < KEY_LIFE_MS;
}

/** Whoever the call is of takes its answer in. */
function replied<K extends OutboxKind>(subjects: Subjects, lane: Lane, m: OutboxRow, kind: K, a: AnswerTo<K>): void {
  subjects.calls[kind].replied(lane, callOf(lane, m), a);
}
