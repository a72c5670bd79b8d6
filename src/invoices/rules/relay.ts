// `invoice.created` is handed on to the MoR, which charges for it.
import { type InvoiceRow, type LaneRows, type LaneState, type OutboxRow } from '../../domain/model.js';
import { type CallRule, carriedOut } from '../../engine/subject.js';
import { type Call, type AnswerTo, callFailed, refusalOf } from '../../engine/call.js';
import { type Lane } from '../../engine/draft.js';
import { putInvoice, sendAgain } from '../../engine/change.js';
import { awaitsRetry, paymentThatCame, saysNothing } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { isLiveProforma, isPayableLink } from '../../domain/mor-object.js';
import { isOver } from '../../domain/status.js';
import { standingOf } from '../../enrolment/rules/enrolment.js';
import { moneyAnnounced } from '../../engine/open-money.js';
import { RELAY_LATE_MS, RELAY_READ_TRIES } from '../../policy.js';

/**
 * The MoR was asked to charge the invoice and has not answered: another `invoice.created` of it is the same one told under a second id
 * (Stripe docs, "Webhooks": two events may tell of one change), and the MoR would take it for a retry. After a refusal it is a retry
 * (Document 3, rule 5).
 */
export function awaitsRelay(s: LaneRows): boolean {
  return awaitsRetry(s) || s.messages.some((m) => isUnanswered(s, m, ['pending', 'done']));
}

/** A relayed event, or one that is to be, of whose invoice the MoR has not spoken since. What a person let go is no word about it. */
function isUnanswered(s: LaneRows, m: OutboxRow, of: readonly OutboxRow['status'][]): boolean {
  const told = { payments: s.payments.filter((p) => !saysNothing(p)) };
  // Taken back when the MoR named a charge for it, though its answer was lost: it was heard.
  const isHeard = m.status === 'cancelled' && m.attempts > 0 && of.includes('done') && s.payments.some(saysNothing);
  return m.kind === 'relay_event' && (of.includes(m.status) || isHeard) && verdictSince(told, m) === null;
}

/**
 * What the MoR has not answered is not sent again once the invoice is over, its money came, the MoR has spoken of it, or the customer can
 * pay another way: a MoR that was out for hours would charge a customer who has paid, or who is paying. It may have heard an earlier try all
 * the same; what it took then, its own event tells. Null: the MoR has still to hear of it.
 */
function findReasonToDrop(s: Lane, { row: m }: Call): string | null {
  const came = paymentThatCame(s) ?? moneyAnnounced(s);
  if (came !== null) return came;
  const status = isUnknownToUs(s.invoice) ? 'unknown' : (s.invoice?.platformStatus ?? 'unknown');
  if (isOver(status) || status === 'uncollectible') return `the invoice is ${status}`;
  if (s.objects.some((o) => isLiveProforma(o) || isPayableLink(o, s.now)))
    return 'the customer can pay it another way now';
  // A person sends a refused one again: the MoR would take it for a retry beside the one that it was asked for meanwhile.
  if (awaitsRetry(s) || s.messages.some((x) => x.id !== m.id && isUnanswered(s, x, ['done'])))
    return 'the MoR was asked to charge it meanwhile';
  const refused = verdictSince(s, m);
  return refused === null ? null : `the MoR has heard of it: it spoke of payment ${refused}`;
}

/**
 * A read found no such invoice, and no event has told of its deletion: STRIPE_API_KEY may be of another account than the one whose events come.
 * Nobody would hear of a renewal that is kept back for that.
 */
function isUnknownToUs(i: InvoiceRow | null): boolean {
  return i?.platformStatus === 'deleted' && i.readAt !== null && i.readAt.getTime() === i.factsAt?.getTime();
}

/** A payment of which the MoR spoke first after the event came; null: none. */
function verdictSince(s: Pick<LaneRows, 'payments'>, m: OutboxRow): string | null {
  const p = s.payments.find((x) => x.recordedAt.getTime() >= m.createdAt.getTime());
  return p === undefined ? null : effectName(p);
}

/**
 * Each try that goes unread has a failed read of its own before it: Stripe may be back by the next one, and tell that the invoice is over. After
 * an outage of ours, neither answered, and nobody has heard of what was done meanwhile.
 */
function readOnceMore(s: LaneState): LaneState {
  const i = s.invoice;
  return i === null || i.readAttempts < RELAY_READ_TRIES
    ? s
    : putInvoice(s, { ...i, readAttempts: RELAY_READ_TRIES - 1 });
}

export const relayCall: CallRule<AnswerTo<'relay_event'>> = {
  order: 3,
  unwanted: findReasonToDrop,
  // Told hours after it was made, or kept waiting for hours: people and Stripe may have done anything to the invoice since. A Stripe that
  // cannot be asked keeps no renewal from being charged.
  readFirst: (i, ctx) =>
    i.readAttempts < RELAY_READ_TRIES &&
    ctx.now.getTime() - (i.platformCreatedAt ?? i.firstSeenAt).getTime() >= RELAY_LATE_MS,
  waits: (s, ctx) => standingOf(s, ctx) === 'unknown', // of who is not enrolled nothing is relayed
  answered: (s) => s,
  silent: readOnceMore,
  refused: (s, m, f, ctx) => {
    return callFailed(s, m, { code: 'relay-refused', ...refusalOf(m, f) }, {}, ctx);
  },
  resolve: (s, r, { resolution }, ctx) =>
    carriedOut(
      resolution === 'retry'
        ? sendAgain(s, (m) => m.kind === 'relay_event' && r.subject === `relay_event:${m.subject}`, ctx)
        : s,
    ),
};
