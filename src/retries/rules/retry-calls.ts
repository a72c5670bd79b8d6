// The calls of a schedule of retries: the MoR charges again, or Stripe ends the invoice or the subscription.
import { type Words } from '../../domain/fact.js';
import { isLiveProforma, isPayableLink } from '../../domain/mor-object.js';
import { askOfCall, type Call, isAbout, isRedirect, mayBeCutOff, refusalOf, type CallRule } from '../../engine/call.js';
import { type Lane } from '../../engine/draft.js';
import { takeRead } from '../../engine/facts.js';
import { awaitsRetry, awaitVerdict, paymentThatCame, verdictDueBy } from '../../engine/payment.js';
import { moneyAnnounced } from '../../engine/open-money.js';

/** A call without a reply goes back once it is pointless or dangerous. An earlier try may have had its effect all the same. */
function findReasonToDrop(lane: Lane, { row }: Call): string | null {
  const { invoice: i, objects, payments, refunds, reviews } = lane.toState();
  const came = paymentThatCame({ payments, refunds }) ?? moneyAnnounced({ objects, reviews });
  if (came !== null) return came;
  const status = i?.platformStatus ?? 'unknown';
  const wanted = row.kind === 'retry_charge' ? ['draft', 'open'] : ['open', 'uncollectible'];
  if (status !== 'unknown' && !wanted.includes(status)) return `the invoice is ${status}`;
  const retry = row.kind === 'retry_charge' ? i?.retries?.retries.find((r) => r.number === row.generation) : undefined;
  // A charge of another payment method goes out next to a payment link.
  const besideLink = retry !== undefined && retry.method !== null;
  if (objects.some((o) => isLiveProforma(o) || (!besideLink && isPayableLink(o, lane.now))))
    return 'the customer can pay it another way now';
  if (row.kind !== 'retry_charge')
    return awaitsRetry({ invoice: i, payments }) ? 'the MoR was asked to charge it again' : null;
  // Its reply was lost, and the MoR heard it all the same: a repeat might be another retry to the MoR.
  if (row.attempts > 0 && i?.retries?.waitingSince === null) return 'the MoR has answered it';
  return i?.amountRemaining?.toString() === retry?.minor ? null : 'another amount is due now';
}

const common = { order: 3, readFirst: true, unwanted: findReasonToDrop } as const;

export const retryChargeCall: CallRule<'retry_charge'> = {
  ...common,
  takenBack: (lane, { row }) => {
    const i = lane.invoice;
    // Once it went out, the MoR may have received it: its verdict is due all the same. The record of a try may also be lost with a process.
    if (!i?.retries || row.attempts > 0 || row.createdAt < lane.now) return;
    const retries = i.retries.retries.map((r) => (r.number === row.generation ? { ...r, withdrawn: true } : r));
    i.retries = { ...i.retries, retries, waitingSince: null };
  },
  // It may have been on its way for hours: the MoR has as long as ever from now on.
  replied: (lane) => {
    if (lane.invoice !== null) lane.invoice.expectedBy = verdictDueBy(lane.invoice, lane);
  },
  refused: (lane, { row }, failure) => {
    // A refusal of the repeat says nothing about an earlier try without a reply; a redirect may follow an effect.
    const heard = row.attempts > 1 || mayBeCutOff(row, lane) || isRedirect(failure);
    if (!heard) awaitVerdict(lane, null);
    // The number makes the next refusal news, even in the same words.
    askOfCall(lane, row, { code: 'retry-refused', retry: row.generation, heard, ...refusalOf(row, failure) });
  },
  chosen: (lane, item, { resolution }) => {
    // The newest refused order: the MoR has replied to earlier ones since.
    const m = lane.messages.findLast((x) => isAbout(item, x));
    if (resolution !== 'retry' || m?.status !== 'refused') return null;
    if (!awaitsRetry(lane)) m.attempts = 0; // surely not heard: that says nothing of the tries to come
    awaitVerdict(lane, lane.now);
    lane.sendAgain(m.id);
    return null;
  },
};

const endCall = {
  ...common,
  takenBack: (lane: Lane, { row }: Call) => {
    const i = lane.invoice;
    // A person's retry took its place: after the refusal of that retry the end comes again.
    if (i?.retries && (row.attempts === 0 || awaitsRetry(lane))) i.retries = { ...i.retries, ended: null };
  },
  refused: (lane, { row }, failure) => askOfCall(lane, row, { code: 'end-refused', ...refusalOf(row, failure) }),
  // Under a next key: Stripe keeps a refusal under the first key for a day. A fresh read comes before it, as the first time.
  chosen: (lane, item, { resolution }) => {
    const m = lane.toState().messages.findLast((x) => isAbout(item, x));
    if (resolution === 'retry' && m?.status === 'refused' && m.asked !== null) lane.call(m.asked, m.subject);
    return null;
  },
} satisfies Partial<CallRule<'mark_uncollectible' | 'cancel_subscription'>>;

export const markUncollectibleCall: CallRule<'mark_uncollectible'> = {
  ...endCall,
  replied: (lane, _, { invoice }) => takeRead(lane, invoice),
};

export const cancelSubscriptionCall: CallRule<'cancel_subscription'> = { ...endCall, replied: () => undefined };

/** The sentences of the items about them. */
export const retryWords: Words<'retry-refused' | 'end-refused'> = {
  'retry-refused': (f) => ({
    summary: `${f.call}, retry ${f.retry}, was refused: ${f.said}`,
    proposal: f.heard
      ? 'The MoR may have heard it, or an earlier try, so its verdict is awaited. Find out why its relay address refuses the event; retry sends the same event once more.'
      : 'The MoR was not asked to charge again. Find out why its relay address refuses the event, then retry; dismiss it to go on with the schedule.',
  }),
  'end-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal:
      f.call === 'mark_uncollectible'
        ? 'The schedule of retries is over, but Stripe did not mark the invoice uncollectible. Fix what the answer names and retry, or do it on Stripe.'
        : 'The schedule of retries is over, but Stripe did not cancel the subscription. Fix what the answer names and retry, or cancel it on Stripe.',
  }),
};
