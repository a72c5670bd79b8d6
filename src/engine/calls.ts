// The stored calls of a lane: the next call, its reply, and the calls the engine takes back.
import { type Mutable } from '../shared/domain/row.js';
import { type CallRow } from '../shared/domain/call-row.js';
import { type BillingReply } from '../shared/domain/ports/billing-platform.js';
import { type CallOutcome, codesOf, LIST_TOO_LONG } from '../shared/domain/ports/call.js';
import { isPayable } from '../shared/domain/status.js';
import { FAILED_TRIES_SHOWN, KEY_LIFE_MS, REPLAY_TIMEOUT_MS, RETRY_LONGEST_PAUSE_MS } from '../shared/policy.js';
import { type CallReply, type Call, callOf, type CallRules, mayBeCutOff, type SentCall } from './call.js';
import { callKey, retryAt } from './context.js';
import { type Subjects } from './decider.js';
import { type Lane } from './lane.js';
import { type NextRequest } from './lookup.js';

/** The request for the next stored call: the send, or first a read or a search for its effect. Null: no call is due. */
export function nextCall(
  { calls: rules, freshRead }: Pick<Subjects, 'calls' | 'freshRead'>,
  lane: Lane,
): NextRequest | null {
  const { invoice, calls, refunds } = lane;
  const pending = calls.filter((m) => m.status === 'pending');
  if (lane.sendsNothing) {
    // After the end of shadow mode Crossbill sends the pending calls under their own keys, and shows the waiting refunds
    // on Stripe. Until then the lane stays in the queue.
    if (pending.length > 0 || refunds.some((r) => r.mirror === 'waiting'))
      lane.decideAgain(lane.in(RETRY_LONGEST_PAUSE_MS));
    return null;
  }
  pending.sort((a, b) => rules[a.kind].order - rules[b.kind].order);
  for (const row of pending) {
    const rule: SentCall = rules[row.kind];
    if (rule.waits?.(lane) === true || !lane.isPast(row.nextTryAt)) continue;
    if (invoice !== null && isReadFirst(rule, lane) && !freshRead.isFresh(invoice, lane.now)) {
      if (invoice.readDueAt === null || lane.isPast(invoice.readDueAt)) return freshRead.request(invoice.invoiceId);
      continue;
    }
    const call = callOf(lane, row);
    const notBefore = rule.notBefore?.(lane, call) ?? null;
    if (notBefore !== null && !lane.isPast(notBefore)) continue;
    return { do: mustCheck(rule, lane, call) ? 'probe' : 'send', call: row };
  }
  return null;
}

function isReadFirst({ readFirst }: SentCall, lane: Lane): boolean {
  if (typeof readFirst !== 'function') return readFirst === true;
  return lane.invoice !== null && readFirst(lane.invoice, lane);
}

/** True if Crossbill must search Stripe for the call's effect before the next send. */
function mustCheck(rule: SentCall, lane: Lane, { row: m }: Call): boolean {
  if (m.peer !== 'stripe') return false;
  const firstTriedAt = m.firstTriedAt ?? m.createdAt;
  if (m.replaying && lane.age(firstTriedAt) >= REPLAY_TIMEOUT_MS) return true;
  // At this age Stripe may have forgotten the key, so Crossbill first searches for the effect. The age counts from the
  // first recorded try or from the making of the call, whichever is earlier: a crash may have lost the record of a try.
  if (Math.max(lane.age(firstTriedAt), lane.age(m.createdAt)) >= KEY_LIFE_MS) return true;
  const isFirst = isFirstTry(m, lane);
  if (isFirst && maybeForgotten(lane) && rule.mayBeThere?.(lane) === true) return true;
  if (rule.withdrawn === undefined) return false;
  // A process may have sent the call and died before it recorded the try. If that call reached Stripe, the invoice now
  // has a smaller amount due, and the rule would think the payment has a wrong amount. So Crossbill searches first.
  return !isPayable(lane.invoice) || (isFirst && mayBeCutOff(m, lane));
}

/**
 * True if Stripe may have forgotten the key. A restored database does not know when Crossbill first sent the call. So
 * the age counts from Stripe's creation of the invoice: no call is older. The payment's time does not help: if the
 * backend completes a signup again after the restore, the payment looks new.
 */
function maybeForgotten({ invoice, now }: Lane): boolean {
  return now.getTime() - (invoice?.platformCreatedAt?.getTime() ?? 0) >= KEY_LIFE_MS;
}

/** Takes back each unwanted call without a reply. Returns false if there was no such call. */
export function takeBackUnwanted(lane: Lane, rules: CallRules): boolean {
  let isTaken = false;
  // Loops over a copy, because a rule may add calls meanwhile.
  for (const row of [...lane.calls]) {
    const { unwanted, takenBack } = rules[row.kind];
    if (row.status !== 'pending' || unwanted === undefined) continue;
    const call = callOf(lane, row);
    const why = unwanted(lane, call);
    if (why === null) continue;
    takenBack?.(lane, call, why);
    lane.takeBack(row.id, why);
    isTaken = true;
  }
  return isTaken;
}

/** The call, if it still waits for its reply. */
function findPending(lane: Lane, id: string): Mutable<CallRow> | undefined {
  return lane.calls.find((m) => m.id === id && m.status === 'pending');
}

/** Records the outcome of a send. */
export function applyReply(rules: CallRules, lane: Lane, id: string, outcome: CallOutcome<CallReply>): void {
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
  const tried = { ...m }; // for the rules: the call before its reply
  const { status, requestId } = outcome;
  const detail = { call: m.kind, key: m.key, attempt: m.attempts, status, requestId };
  if (outcome.ok) {
    Object.assign(m, { status: 'done', answeredAt: lane.now });
    lane.log('call', `${m.kind} done`, m, detail);
    return replied(rules, lane, tried, outcome.value);
  }
  const rule = rules[m.kind];
  if (m.attempts <= FAILED_TRIES_SHOWN || outcome.kind === 'refused')
    lane.log('call', `${m.kind}: ${codesOf(outcome)}`, m, { ...detail, failed: codesOf(outcome) });
  if (outcome.kind === 'refused') {
    Object.assign(m, { status: 'refused', answeredAt: lane.now });
    return rule.refused(lane, callOf(lane, tried), outcome);
  }
  m.replaying = outcome.replayed && outcome.status !== null && outcome.status >= 500;
  m.nextTryAt = retryAt(lane.ctx, m.attempts, outcome.retryAfterMs, outcome.kind === 'stopped');
  rule.silent?.(lane, callOf(lane, before), outcome);
}

/**
 * Records the outcome of a search for the effect of a call. If Stripe shows the effect, the search counts as the reply.
 * If the effect is certainly absent, the call gets its next key, and Crossbill stores the key before the next send. A
 * call never tried before keeps its key. If nobody can pay the invoice any more, the rule may withdraw the call.
 */
export function applyCheck(
  rules: CallRules,
  lane: Lane,
  id: string,
  outcome: CallOutcome<{ readonly done: true; readonly reply: BillingReply } | { readonly done: false }>,
): void {
  const m = findPending(lane, id);
  if (m === undefined) return;
  const before = { ...m };
  const call = callOf(lane, before);
  const rule = rules[m.kind];
  if (!outcome.ok && outcome.code === LIST_TOO_LONG && rule.untraceable !== undefined) {
    // The search could not read the whole list. But the list begins with this invoice's own payments, and the effect is
    // not among them. If Crossbill never tried the call, this is enough, and Crossbill sends the call.
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
  if (outcome.value.done) return applyReply(rules, lane, id, { ...outcome, value: outcome.value.reply });
  if (!isPayable(lane.invoice) && rule.withdrawn?.(lane, call) === true) {
    Object.assign(m, { status: 'cancelled', answeredAt: lane.now });
    const why = 'it had no effect, and the invoice can no longer be paid';
    return lane.log('decision', `${m.kind} withdrawn: ${why}`, m, { call: m.kind, left: why });
  }
  m.firstTriedAt = lane.now;
  // A call never tried before keeps its key. If a try without a record is just reaching Stripe, the same key makes a
  // second try harmless.
  if (isFirstTry(before, lane)) return;
  m.generation += 1;
  m.key = callKey(m.kind, m.subject, m.generation);
  Object.assign(m, { attempts: 0, replaying: false, nextTryAt: lane.now, createdAt: lane.now });
  lane.log('decision', `${m.kind} had no effect under its key; next key ${m.key}`, m, { call: m.kind, next: m.key });
}

/** True if the call's row shows no send and no search, and the call is too young for Stripe to forget its key. */
export function isFirstTry(call: CallRow, { now }: Pick<Lane, 'now'>): boolean {
  return call.firstTriedAt === null && !call.replaying && now.getTime() - call.createdAt.getTime() < KEY_LIFE_MS;
}

/** Hands the reply to the call's rule. The rule's type pairs the reply with the kind of the call. */
function replied(rules: CallRules, lane: Lane, call: CallRow, reply: CallReply): void {
  const rule = rules[call.kind] as { readonly replied: (lane: Lane, call: Call, reply: CallReply) => void };
  rule.replied(lane, callOf(lane, call), reply);
}
