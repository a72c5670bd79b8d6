// Carries retries out, those of the schedule and those with another payment method: makes the link that is due, ends the schedule when its
// steps are used up, and says when to look again. Each is decided on a read of the invoice made just now.
import { type InvoiceRow, type LaneState, type OutboxRow } from '../../domain/model.js';
import { type ShownToRetry } from '../../domain/ports/billing-platform.js';
import { type RetryEnd } from '../../domain/retry.js';
import { type Call } from '../../engine/call.js';
import { addCall, type Ctx, note, putInvoice } from '../../engine/change.js';
import { type Lane } from '../../engine/draft.js';
import { awaitsRetry, paymentThatCame } from '../../engine/payment.js';
import { isFresh } from '../../engine/facts.js';
import { readInvoice } from '../../engine/read-invoice.js';
import { type ErrandRule, type SettleRule } from '../../engine/subject.js';
import { isLiveProforma, isPayableLink } from '../../domain/mor-object.js';
import { moneyAnnounced } from '../../engine/open-money.js';
import { type Cause, makeRetry } from './make-retry.js';
import { type Next, nextOf } from './next-try.js';
import { putRetry, putTrail } from './trail.js';

export const settleRetries: SettleRule = (s, ctx, lookAgain) => {
  if (s.invoice === null || s.invoice.retries === null) return s;
  const state = act(s, ctx);
  const next = nextOf(state, ctx);
  const nextTryAt = next.do === 'retry' ? next.at : null;
  if (next.do !== 'rest') lookAgain(next.at);
  const { invoice } = state;
  const same = invoice?.nextTryAt?.getTime() === nextTryAt?.getTime();
  return invoice === null || same ? state : putInvoice(state, { ...invoice, nextTryAt });
};

/** What can be done without asking anybody more; a charge is ordered by `orderIfWanted`. */
function act(s: LaneState, ctx: Ctx): LaneState {
  const next = nextOf(s, ctx);
  const i = s.invoice;
  if (i === null || next.do === 'rest' || next.at.getTime() > ctx.now.getTime()) return s;
  const how = next.do === 'end' ? next.how : null;
  if (how === 'nothing') return end(s, how, null, ctx);
  if (i.platformStatus !== 'open' || !isFresh(i, ctx.now)) return s; // retryErrand makes the read of it
  if (how !== null) return carryOutEnd(s, i, how, ctx);
  return next.do === 'retry' && next.means === 'link' ? makeRetry(s, { means: 'link' }, causeOf(next), ctx) : s;
}

/** The read that comes before a retry or before the end. */
export const retryErrand: ErrandRule = (s, ctx, due) => {
  const i = s.invoice;
  if (i === null || i.retries === null) return null;
  const next = nextOf(s, ctx);
  if (next.do === 'rest' || !due(next.at) || !due(i.readDueAt)) return null;
  if (next.do === 'retry' && next.means === 'charge') return { do: 'read-to-retry', invoiceId: i.invoiceId };
  return isFresh(i, ctx.now) ? null : readInvoice(i.invoiceId);
};

/** Stripe showed the invoice, which was taken in, and its subscription: if all is still so, the MoR is asked to charge again. */
export function orderIfWanted(state: LaneState, shown: ShownToRetry, ctx: Ctx): LaneState {
  const next = nextOf(state, ctx);
  if (next.do !== 'retry' || next.means !== 'charge' || next.at.getTime() > ctx.now.getTime()) return state;
  if (isOver(shown)) return end(state, 'nothing', 'its subscription has ended', ctx);
  return makeRetry(state, { means: 'charge', shown }, causeOf(next), ctx);
}

const causeOf = ({ method }: Extract<Next, { do: 'retry' }>): Cause => (method === undefined ? null : { method });

/** Nobody is charged again for a subscription that has ended, unless a person wants it. */
export function isOver(shown: ShownToRetry): boolean {
  return shown.subscriptionStatus === 'canceled' || shown.subscriptionStatus === 'incomplete_expired';
}

function carryOutEnd(s: LaneState, i: InvoiceRow, how: Exclude<RetryEnd, 'nothing'>, ctx: Ctx): LaneState {
  const { invoiceId, subscriptionId } = i;
  if (how === 'cancel' && subscriptionId === null)
    return end(s, 'nothing', 'it is of no subscription that could be cancelled', ctx);
  const call =
    how === 'uncollectible'
      ? ({ kind: 'mark_uncollectible', invoiceId } as const)
      : ({ kind: 'cancel_subscription', invoiceId, subscriptionId: subscriptionId ?? '' } as const);
  return addCall(end(s, how, null, ctx), ctx, call, invoiceId);
}

const ENDS: Record<RetryEnd, string> = {
  nothing: 'the invoice stays open',
  uncollectible: 'the invoice is marked uncollectible',
  cancel: 'the subscription is cancelled',
};

function end(s: LaneState, how: RetryEnd, why: string | null, ctx: Ctx): LaneState {
  const trail = s.invoice?.retries;
  if (!trail) return s;
  const ended = putTrail(s, { ...trail, ended: { at: ctx.now.toISOString(), how, why } });
  const because = why ?? 'its steps are used up';
  return note(ended, ctx, 'decision', `the schedule of retries is over, ${because}: ${ENDS[how]}`);
}

/**
 * A call that was decided and not answered is taken back as soon as it has become pointless or dangerous: money came or was announced, the
 * invoice is settled, the amount changed, or the customer can pay another way. What was sent before may have had its effect all the same.
 */
export const retryUnwanted = { unwanted: findReasonToDrop, takenBack };

/** Null: it is still wanted. */
function findReasonToDrop(s: Lane, { row: m }: Call): string | null {
  const i = s.invoice;
  const came = paymentThatCame(s) ?? moneyAnnounced(s);
  if (came !== null) return came;
  const status = i?.platformStatus ?? 'unknown';
  const wanted = m.kind === 'retry_charge' ? ['draft', 'open'] : ['open', 'uncollectible'];
  if (status !== 'unknown' && !wanted.includes(status)) return `the invoice is ${status}`;
  const retry = m.kind === 'retry_charge' ? i?.retries?.retries.find((r) => r.number === m.generation) : undefined;
  // A charge of another payment method is ordered next to a payment link.
  const besideLink = retry !== undefined && retry.method !== null;
  if (s.objects.some((o) => isLiveProforma(o) || (!besideLink && isPayableLink(o, s.now))))
    return 'the customer can pay it another way now';
  if (m.kind !== 'retry_charge') return awaitsRetry(s) ? 'the MoR was asked to charge it again' : null;
  // Its answer was lost, and it was heard all the same: sent again, the MoR might take it for another retry.
  if (m.attempts > 0 && i?.retries?.waitingSince === null) return 'the MoR has answered it';
  return i?.amountRemaining?.toString() === retry?.minor ? null : 'another amount is due now';
}

function trailTakenBack(s: LaneState, m: OutboxRow, ctx: Ctx): LaneState {
  const trail = s.invoice?.retries;
  if (!trail) return s;
  // The end is decided again when a person's retry was refused too.
  if (m.kind !== 'retry_charge') return m.attempts === 0 || awaitsRetry(s) ? putTrail(s, { ...trail, ended: null }) : s;
  // Once it was tried, the MoR may have received it: its verdict is awaited all the same. A try is counted when it is answered: one may be
  // under way, or its record may have been lost with a process that died.
  if (m.attempts > 0 || m.createdAt < ctx.now) return s;
  return putRetry(putTrail(s, { ...trail, waitingSince: null }), m.generation, { withdrawn: true });
}

function takenBack(lane: Lane, { row }: Call): void {
  lane.apply((s, ctx) => trailTakenBack(s, row, ctx));
}
