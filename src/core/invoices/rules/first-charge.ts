// When Crossbill itself asks the MoR for the first charge of a renewal: once the invoice is final with
// MOR_RELAY_EVENTS=finalized, and after a person's choice for an overdue renewal.
import { type InvoiceRow, type PlatformStatus } from '../../../shared/domain/invoice-row.js';
import { isLiveProforma, isPayableLink } from '../../../shared/domain/mor-object.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type CallOutcome } from '../../../shared/domain/ports/call.js';
import { type ShownToRelay } from '../../../shared/domain/ports/billing-platform.js';
import { isOver, SIGNUP_REASON } from '../../../shared/domain/status.js';
import { enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { isOwnEvent, requestFirstCharge } from '../../books/rules/own-request.js';
import { type Lane } from '../../../engine/lane.js';
import { pollOpenAt, applyInvoiceRead } from '../../books/rules/invoice-facts.js';
import { type Lookup } from '../../../engine/lookup.js';
import { moneyAnnounced } from '../../books/rules/open-money.js';
import { paymentThatCame, saysNothing } from '../../books/rules/payment-state.js';
import { DRAFT_POLL_EVERY_MS, HOUR_MS } from '../../../shared/policy.js';

/**
 * Plans the relay of an invoice that is not final yet, or is final for the first time (`before`: its status before this
 * event). An invoice with an expected verdict stays out: before a change of MOR_RELAY_EVENTS the MoR got it as a draft.
 */
export function planFirstCharge({ invoice: i, calls, settings, now }: Lane, before: PlatformStatus): void {
  if (i === null || settings.relay !== 'finalized' || i.relayDueAt !== null || i.expectedBy !== null) return;
  if (i.billingReason === SIGNUP_REASON || (before !== 'unknown' && before !== 'draft')) return;
  if (isOver(i.platformStatus) || calls.some((m) => m.kind === 'relay_event' && isOwnEvent(m))) return;
  i.relayDueAt = nextPoll(i, now);
}

/** When to read the invoice next: at once if it is final. */
function nextPoll(invoice: InvoiceRow, now: Date): Date {
  const poll = pollOpenAt(invoice, { now });
  if (poll === null || invoice.platformStatus !== 'draft') return now;
  // A draft may wait for a person for months, so the pauses grow with its age.
  const age = now.getTime() - (invoice.platformCreatedAt ?? invoice.firstSeenAt).getTime();
  const pause = invoice.readAt === null ? 0 : Math.max(DRAFT_POLL_EVERY_MS, age / 8);
  return new Date(Math.max(poll.getTime(), now.getTime() + pause));
}

/** Ends the plan if the MoR must not charge any more. */
export function dropFirstCharge(lane: Lane): void {
  const i = lane.invoice;
  if (i === null || i.relayDueAt === null) return;
  const why = findReasonNotToCharge(lane) ?? findVerdict(lane);
  if (why === null) return;
  i.relayDueAt = null;
  lane.log('decision', `the MoR is not asked to charge: ${why}`);
}

function findVerdict({ payments }: Lane): string | null {
  const reported = payments.find((p) => !saysNothing(p));
  return reported === undefined ? null : `it has reported payment ${effectName(reported)}`;
}

/**
 * Why the MoR must not charge the invoice: money came, the invoice is over, or the customer can pay another way. Null:
 * nothing speaks against a charge.
 */
export function findReasonNotToCharge(lane: Lane): string | null {
  const came = paymentThatCame(lane) ?? moneyAnnounced(lane);
  if (came !== null) return came;
  const status = isUnknownToUs(lane.invoice) ? 'unknown' : (lane.invoice?.platformStatus ?? 'unknown');
  if (isOver(status) || status === 'uncollectible') return `the invoice is ${status}`;
  const isOtherWay = lane.objects.some((o) => isLiveProforma(o) || isPayableLink(o, lane.now));
  return isOtherWay ? 'the customer can pay it another way now' : null;
}

/**
 * True if Stripe says the invoice does not exist, but no event has reported its deletion. Perhaps STRIPE_API_KEY
 * belongs to another Stripe account than the events. Crossbill then still expects a charge: otherwise the renewal would
 * get lost unnoticed.
 */
export function isUnknownToUs(invoice: InvoiceRow | null): boolean {
  return (
    invoice?.platformStatus === 'deleted' &&
    invoice.readAt !== null &&
    invoice.readAt.getTime() === invoice.factsAt?.getTime()
  );
}

/** Reads the invoice to see if it is final, and then requests the charge. */
export const firstChargeLookup: Lookup<string, CallOutcome<ShownToRelay | null>> = {
  name: 'read-to-relay',
  wanted: (lane) => {
    const i = lane.invoice;
    if (i === null || i.relayDueAt === null || lane.settings.relay === null || enrolmentStatus(lane) !== 'enrolled')
      return null;
    const isWaiting = i.platformStatus === 'draft' || isUnknownToUs(i);
    if (isWaiting && !lane.isPast(i.relayDueAt)) return null;
    return i.readDueAt === null || lane.isPast(i.readDueAt) ? i.invoiceId : null;
  },
  ask: (invoiceId, { platform }) => platform.readToRelay(invoiceId),
  apply: (lane, outcome) => {
    const shown = outcome.ok ? outcome.value : null;
    applyInvoiceRead(lane, outcome.ok ? { ...outcome, value: shown?.invoice ?? null } : outcome);
    const i = lane.invoice;
    if (!outcome.ok || i === null || i.relayDueAt === null) return;
    if (shown === null)
      i.relayDueAt = lane.in(HOUR_MS); // STRIPE_API_KEY may be of another account
    else if (i.platformStatus === 'draft') i.relayDueAt = nextPoll(i, lane.now);
    else if (findReasonNotToCharge(lane) === null) requestFirstCharge(lane, shown, null);
  },
};
