// What became of the calls that a schedule of retries makes: the MoR was asked to charge again, or Stripe to end it.
import { type LaneState, type OutboxRow } from '../../domain/model.js';
import { type AnswerTo, callFailed, isRedirect, mayBeCutOff, refusalOf } from '../../engine/call.js';
import { type CallFailure } from '../../domain/ports/call.js';
import { addCall, type Ctx, putInvoice, putMessage, sendAgain } from '../../engine/change.js';
import { takeRead } from '../../engine/facts.js';
import { type CallRule, carriedOut, type ReviewRule } from '../../engine/subject.js';
import { awaitsRetry } from '../../engine/payment.js';
import { retryUnwanted } from './settle-retries.js';
import { verdictDueBy, putTrail } from './trail.js';

export const retryChargeCall: CallRule<AnswerTo<'retry_charge'>> = {
  order: 3,
  ...retryUnwanted,
  readFirst: true,
  // It may have been on its way for hours: the MoR has as long as ever from now on.
  answered: (s, _, __, ctx) =>
    s.invoice === null ? s : putInvoice(s, { ...s.invoice, expectedBy: verdictDueBy(s.invoice, ctx) }),
  refused: (s, m, f, ctx) => {
    const isHeard = mayBeHeard(m, f, ctx);
    // The next one may be refused in the same words, and is news though this item was dismissed: they are told apart by their number.
    const fact = { code: 'retry-refused', retry: m.generation, heard: isHeard, ...refusalOf(m, f) } as const;
    return callFailed(isHeard ? s : waiting(s, null), m, fact, {}, ctx);
  },
  resolve: (s, r, { resolution }, ctx) => {
    // The one that was refused last: an earlier retry has been answered since.
    const m = s.messages.findLast((x) => x.kind === 'retry_charge' && r.subject === `retry_charge:${x.subject}`);
    if (resolution !== 'retry' || m === undefined || m.status !== 'refused') return carriedOut(s);
    // What was surely not heard says nothing of the tries that follow.
    const attempts = awaitsRetry(s) ? m.attempts : 0;
    return carriedOut(sendAgain(waiting(putMessage(s, { ...m, attempts }), ctx), (x) => x.id === m.id, ctx));
  },
};

/** A refusal of the repeat says nothing of a try before it that nobody answered, or that a crash cut off; a redirect may follow on what was taken in. */
function mayBeHeard(m: OutboxRow, f: CallFailure, ctx: Ctx): boolean {
  return m.attempts > 1 || mayBeCutOff(m, ctx) || isRedirect(f);
}

export const markUncollectibleCall: CallRule<AnswerTo<'mark_uncollectible'>> = {
  order: 3,
  ...retryUnwanted,
  readFirst: true,
  answered: (s, _, a, ctx) => takeRead(s, ctx, a.invoice),
  refused: (s, m, f, ctx) => callFailed(s, m, { code: 'end-refused', ...refusalOf(m, f) }, {}, ctx),
  resolve: sendEndAgain('mark_uncollectible'),
};

export const cancelSubscriptionCall: CallRule<AnswerTo<'cancel_subscription'>> = {
  order: 3,
  ...retryUnwanted,
  readFirst: true,
  answered: (s) => s,
  refused: (s, m, f, ctx) => callFailed(s, m, { code: 'end-refused', ...refusalOf(m, f) }, {}, ctx),
  resolve: sendEndAgain('cancel_subscription'),
};

/**
 * Under a next key: Stripe keeps a refusal under the first one for a day. Whether it is still wanted is decided on a fresh read before it is
 * sent, as the first time.
 */
function sendEndAgain(kind: 'mark_uncollectible' | 'cancel_subscription'): ReviewRule {
  return (s, r, { resolution }, ctx) => {
    const m = s.messages.findLast((x) => x.kind === kind && r.subject === `${kind}:${x.subject}`);
    if (resolution !== 'retry' || m?.status !== 'refused' || m.asked === null) return carriedOut(s);
    return carriedOut(addCall(s, ctx, m.asked, m.subject));
  };
}

function waiting(s: LaneState, ctx: Ctx | null): LaneState {
  const i = s.invoice;
  if (i === null || i.retries === null) return s;
  const state = putTrail(s, { ...i.retries, waitingSince: ctx?.now.toISOString() ?? null });
  return ctx === null || state.invoice === null
    ? state
    : putInvoice(state, { ...state.invoice, expectedBy: verdictDueBy(i, ctx) });
}
