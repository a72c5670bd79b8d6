// What a lane needs next of somebody else: one errand at a time, the stored calls among them.
import { isPayable } from '../domain/status.js';
import { KEY_LIFE_MS, REPLAY_PATIENCE_MS, RETRY_LONGEST_PAUSE_MS } from '../policy.js';
import { isFirstTry } from './apply-answer.js';
import { type SentCall } from './call-rule.js';
import { type Call, callOf, mayBeCutOff } from './call.js';
import { type Subjects } from './decider.js';
import { type Lane } from './draft.js';
import { type Errand } from './errand.js';
import { isFresh } from './facts.js';
import { readInvoice } from './read-invoice.js';

export function nextErrand(subjects: Subjects, lane: Lane): Errand | null {
  for (const next of [...subjects.errandsFirst, nextCall(subjects.calls), ...subjects.errandsLast]) {
    const errand = next(lane);
    if (errand !== null) return errand;
  }
  return null;
}

/** The stored call that goes first, or the read or the look that must come before it. */
const nextCall =
  (rules: Subjects['calls']) =>
  (lane: Lane): Errand | null => {
    const { invoice, messages, refunds } = lane.toState();
    const pending = messages.filter((m) => m.status === 'pending');
    if (lane.settings.shadow === true) {
      // Calls from before shadow mode go on under their own keys at its end, and so do refunds that nobody else shows: until then they stay in
      // the queue.
      if (pending.length > 0 || refunds.some((r) => r.mirror === 'waiting'))
        lane.lookAt(lane.in(RETRY_LONGEST_PAUSE_MS));
      return null;
    }
    pending.sort((a, b) => rules[a.kind].order - rules[b.kind].order);
    for (const message of pending) {
      const rule: SentCall = rules[message.kind];
      if (rule.waits?.(lane) === true || !lane.isPast(message.nextTryAt)) continue;
      if (invoice !== null && isReadFirst(rule, lane) && !isFresh(invoice, lane.now)) {
        if (invoice.readDueAt === null || lane.isPast(invoice.readDueAt)) return readInvoice(invoice.invoiceId);
        continue;
      }
      const call = callOf(lane, message);
      const notBefore = rule.notBefore?.(lane, call) ?? null;
      if (notBefore !== null && !lane.isPast(notBefore)) continue;
      return { do: mustLook(rule, lane, call) ? 'probe' : 'send', message };
    }
    return null;
  };

function isReadFirst({ readFirst }: SentCall, lane: Lane): boolean {
  if (typeof readFirst !== 'function') return readFirst === true;
  return lane.invoice !== null && readFirst(lane.invoice, lane);
}

/** Whether to look for the effect before the call is sent (again). */
function mustLook(rule: SentCall, lane: Lane, { row: m }: Call): boolean {
  if (m.peer !== 'stripe') return false;
  const firstTriedAt = m.firstTriedAt ?? m.createdAt;
  if (m.replaying && lane.age(firstTriedAt) >= REPLAY_PATIENCE_MS) return true;
  // The key may be forgotten: a retry looks before it sends. A try whose record was lost in a crash may be as old as the message itself, also
  // where later ones are on record.
  if (Math.max(lane.age(firstTriedAt), lane.age(m.createdAt)) >= KEY_LIFE_MS) return true;
  const isFirst = isFirstTry(m, lane);
  if (isFirst && maybeForgotten(lane) && rule.mayBeThere?.(lane) === true) return true;
  if (rule.withdrawn === undefined) return false;
  // A first try that is so late may have one before it, cut off by a crash: what it left due would be taken for another amount.
  return !isPayable(lane.invoice) || (isFirst && mayBeCutOff(m, lane));
}

/**
 * A database that was restored does not know when a call was sent first, but never before its invoice was made, and that time is Stripe's
 * own. The money's time is not: a signup that is completed again after the restore is of now.
 */
function maybeForgotten({ invoice, now }: Lane): boolean {
  return now.getTime() - (invoice?.platformCreatedAt?.getTime() ?? 0) >= KEY_LIFE_MS;
}
