// The calls of the retry schedule: the MoR charges again, or Stripe ends the invoice or the subscription.
import { isLiveProforma, isPayableLink } from '../../../shared/domain/mor-object.js';
import {
  openCallReview,
  type Call,
  isAbout,
  isRedirect,
  mayBeCutOff,
  refusalOf,
  type CallRule,
} from '../../../engine/call.js';
import { type Lane } from '../../../engine/lane.js';
import { applyRead } from '../../../core/books/rules/invoice-facts.js';
import { awaitsRetry, awaitVerdict, verdictDueBy } from '../../../core/books/rules/awaited-verdict.js';
import { paymentThatCame } from '../../../core/books/rules/payment-state.js';
import { moneyAnnounced } from '../../../core/books/rules/open-money.js';

/**
 * Why Crossbill must withdraw a call without a reply. For example, money has arrived, or the customer can pay another
 * way: a further charge could take the money twice. Null: Crossbill still sends the call.
 */
function findReasonToDrop(lane: Lane, { row }: Call): string | null {
  const { invoice: i, objects, payments, refunds, reviews } = lane;
  const came = paymentThatCame({ payments, refunds }) ?? moneyAnnounced({ objects, reviews });
  if (came !== null) return came;
  const status = i?.platformStatus ?? 'unknown';
  const wanted = row.kind === 'retry_charge' ? ['draft', 'open'] : ['open', 'uncollectible'];
  if (status !== 'unknown' && !wanted.includes(status)) return `the invoice is ${status}`;
  const retry = row.kind === 'retry_charge' ? i?.retries?.retries.find((r) => r.number === row.generation) : undefined;
  // Crossbill may charge a new payment method even if the customer has a payable link.
  const besideLink = retry !== undefined && retry.method !== null;
  if (objects.some((o) => isLiveProforma(o) || (!besideLink && isPayableLink(o, lane.now))))
    return 'the customer can pay it another way now';
  if (row.kind !== 'retry_charge')
    return awaitsRetry({ invoice: i, payments }) ? 'Crossbill asked the MoR to charge again' : null;
  // The MoR's reply may be lost although its verdict has arrived. A repeated request could then make the MoR charge
  // again.
  if (row.attempts > 0 && i?.retries?.waitingSince === null) return 'the MoR has already answered';
  return i?.amountRemaining?.toString() === retry?.minor ? null : 'another amount is due now';
}

const common = { order: 3, readFirst: true, unwanted: findReasonToDrop } as const;

export const retryChargeCall: CallRule<'retry_charge'> = {
  send: ({ relay }, { wire }) => relay(wire.body ?? ''),
  ...common,
  takenBack: (lane, { row }) => {
    const i = lane.invoice;
    // Only a call made in this decision is certainly unsent. A process may have sent an older call and died before it
    // recorded the try. Crossbill then still expects a verdict, because the MoR may have received the call.
    if (!i?.retries || row.attempts > 0 || row.createdAt < lane.now) return;
    const retries = i.retries.retries.map((r) => (r.number === row.generation ? { ...r, withdrawn: true } : r));
    i.retries = { ...i.retries, retries, waitingSince: null };
  },
  // Crossbill may have repeated the call for hours. The MoR's time for a verdict starts only now, with its reply.
  replied: (lane) => {
    if (lane.invoice !== null) lane.invoice.expectedBy = verdictDueBy(lane.invoice, lane);
  },
  refused: (lane, { row }, failure) => {
    // True if the MoR may have received the call: an earlier try got no reply, or the reply is a redirect.
    const heard = row.attempts > 1 || mayBeCutOff(row, lane) || isRedirect(failure);
    if (!heard) awaitVerdict(lane, null);
    // The fact contains the retry's number. So if the MoR refuses the next retry with the same text, an item opens
    // again.
    openCallReview(lane, row, { code: 'retry-refused', retry: row.generation, heard, ...refusalOf(row, failure) });
  },
  chosen: (lane, item, { resolution }) => {
    // Finds the newest refused request, because the MoR has already answered all earlier requests.
    const m = lane.calls.findLast((x) => isAbout(item, x));
    if (resolution !== 'retry' || m?.status !== 'refused') return null;
    if (!awaitsRetry(lane)) m.attempts = 0; // the MoR certainly received none of the old tries
    awaitVerdict(lane, lane.now);
    lane.sendAgain(m.id);
    return null;
  },
};

const endCall = {
  ...common,
  takenBack: (lane: Lane, { row }: Call) => {
    const i = lane.invoice;
    // Crossbill never sent the call, or a person's retry replaced it. So the schedule has not ended, and it can end
    // again later.
    if (i?.retries && (row.attempts === 0 || awaitsRetry(lane))) i.retries = { ...i.retries, ended: null };
  },
  refused: (lane, { row }, failure) => openCallReview(lane, row, { code: 'end-refused', ...refusalOf(row, failure) }),
  // Makes a new call with a new key: Stripe replays a refusal under the first key for a day. Crossbill reads the
  // invoice again before this call.
  chosen: (lane, item, { resolution }) => {
    const m = lane.calls.findLast((x) => isAbout(item, x));
    if (resolution === 'retry' && m?.status === 'refused' && m.asked !== null) lane.call(m.asked, m.subject);
    return null;
  },
} satisfies Partial<CallRule<'mark_uncollectible' | 'cancel_subscription'>>;

export const markUncollectibleCall: CallRule<'mark_uncollectible'> = {
  ...endCall,
  replied: (lane, _, { invoice }) => applyRead(lane, invoice),
};

export const cancelSubscriptionCall: CallRule<'cancel_subscription'> = { ...endCall, replied: () => undefined };
