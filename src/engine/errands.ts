// What a lane needs next of somebody else: one errand at a time, the stored calls among them.
import { type Subjects } from './decider.js';
import { type InvoiceRow, type LaneState, type OutboxKind, type OutboxRow } from '../domain/model.js';
import { type Ctx } from './change.js';
import { type LookAgain } from './draft.js';
import { type ErrandRule } from './subject.js';
import { type Errand } from './errand.js';
import { isFresh } from './facts.js';
import { readInvoice } from './read-invoice.js';
import { isPayable } from '../domain/status.js';
import { mayBeCutOff } from './call.js';
import { isFirstTry } from './apply-answer.js';
import { KEY_LIFE_MS, REPLAY_PATIENCE_MS, RETRY_LONGEST_PAUSE_MS } from '../policy.js';

type Calls = Subjects['calls'];

export function nextErrand(subjects: Subjects, s: LaneState, ctx: Ctx, lookAgain: LookAgain): Errand | null {
  const due = (at: Date | null): boolean => {
    if (at === null || at.getTime() <= ctx.now.getTime()) return true;
    lookAgain(at);
    return false;
  };
  for (const rule of [...subjects.errandsFirst, callErrand(subjects.calls), ...subjects.errandsLast]) {
    const errand = rule(s, ctx, due);
    if (errand !== null) return errand;
  }
  return null;
}

/** The stored call that goes first, or the read or the look that must come before it. */
const callErrand =
  (calls: Calls): ErrandRule =>
  (s, ctx, due) => {
    const i = s.invoice;
    const pending = s.messages.filter((m) => m.status === 'pending');
    if (ctx.settings.shadow === true) {
      // What was decided before shadow mode was switched on goes on under its own key when shadow mode ends, and so do refunds that nobody else
      // shows: until then they stay in the queue.
      if (pending.length > 0 || s.refunds.some((r) => r.mirror === 'waiting'))
        due(new Date(ctx.now.getTime() + RETRY_LONGEST_PAUSE_MS));
      return null;
    }
    pending.sort((a, b) => calls[a.kind].order - calls[b.kind].order);
    for (const m of pending) {
      if (calls[m.kind].waits?.(s, ctx) === true || !due(m.nextTryAt)) continue;
      if (i !== null && isReadFirst(calls, m.kind, i, ctx) && !isFresh(i, ctx.now)) {
        if (due(i.readDueAt)) return readInvoice(i.invoiceId);
        continue;
      }
      if (!due(calls[m.kind].notBefore?.(s, m, ctx) ?? null)) continue;
      return mustLook(calls, s, m, ctx) ? { do: 'probe', message: m } : { do: 'send', message: m };
    }
    return null;
  };

function isReadFirst(calls: Calls, kind: OutboxKind, i: InvoiceRow, ctx: Ctx): boolean {
  const { readFirst } = calls[kind];
  return typeof readFirst === 'function' ? readFirst(i, ctx) : readFirst === true;
}

/** Whether to look for the effect before the call is sent (again). */
function mustLook(calls: Calls, s: LaneState, m: OutboxRow, ctx: Ctx): boolean {
  if (m.peer !== 'stripe') return false;
  const firstTriedMs = (m.firstTriedAt ?? m.createdAt).getTime();
  if (m.replaying && ctx.now.getTime() - firstTriedMs >= REPLAY_PATIENCE_MS) return true;
  // The key may be forgotten: a retry looks before it sends. A try whose record was lost in a crash may be as old as the message itself, also
  // where later ones are on record.
  if (ctx.now.getTime() - Math.min(firstTriedMs, m.createdAt.getTime()) >= KEY_LIFE_MS) return true;
  if (isFirstTry(m, ctx) && maybeForgotten(s, ctx) && calls[m.kind].mayBeThere?.(s) === true) return true;
  if (calls[m.kind].withdrawn === undefined) return false;
  // A first try that is so late may have one before it, cut off by a crash: what it left due would be taken for another amount.
  return !isPayable(s.invoice) || (isFirstTry(m, ctx) && mayBeCutOff(m, ctx));
}

/**
 * A database that was restored does not know when a call was sent first, but never before its invoice was made, and that time is Stripe's
 * own. The money's time is not: a signup that is completed again after the restore is of now.
 */
function maybeForgotten({ invoice }: LaneState, ctx: Ctx): boolean {
  return ctx.now.getTime() - (invoice?.platformCreatedAt?.getTime() ?? 0) >= KEY_LIFE_MS;
}
