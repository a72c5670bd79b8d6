// Relays Stripe's `invoice.created` to the MoR, so the MoR charges the customer. `first-charge.ts` makes Crossbill's own
// events.
import { parseStripeEvent } from '../../../shared/domain/events/stripe-event.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { openCallReview, type Call, isAbout, mayBeCutOff, refusalOf, type CallRule } from '../../../engine/call.js';
import { type Lane } from '../../../engine/lane.js';
import { type InvoiceEvent } from '../../../engine/event.js';
import { awaitsRetry, verdictDueBy } from '../../books/rules/awaited-verdict.js';
import { saysNothing } from '../../books/rules/payment-state.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { noteAttemptAsked } from '../../../shared/domain/retry.js';
import { isOver } from '../../../shared/domain/status.js';
import { enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { RELAY_LATE_MS, RELAY_READ_TRIES } from '../../../shared/policy.js';
import { isOwnEvent } from '../../books/rules/own-request.js';
import { findReasonNotToCharge } from './first-charge.js';

/** Relays an `invoice.created`, byte for byte. */
export function relayOnce(lane: Lane, event: InvoiceEvent): void {
  const isRelayed = lane.calls.some((m) => m.kind === 'relay_event' && m.subject === event.eventId);
  // If the event is late, the relay could make the MoR charge a finished invoice.
  const i = lane.invoice;
  if (isRelayed || (i !== null && isOver(i.platformStatus))) return;
  const history = i?.retries ?? null;
  // Crossbill's own schedule makes the retries. A relay now would cause one more charge.
  if (i !== null && history !== null && history.ended === null && lane.settings.retrySchedule !== null) {
    i.retries = noteAttemptAsked(history, event.at);
    const why = 'not relayed: RETRY_SCHEDULE decides when the MoR charges it again';
    return lane.log('decision', why, event.eventId);
  }
  if (awaitsRelay(lane))
    return lane.log(
      'decision',
      'not relayed: the MoR has not yet answered an earlier request to charge it',
      event.eventId,
    );
  const wire = { method: 'POST', path: '', body: event.raw } as const;
  lane.request({ peer: 'relay', kind: 'relay_event', subject: event.eventId, wire });
}

/**
 * True if Crossbill has asked the MoR to charge the invoice and has no verdict yet. Another `invoice.created` now is a
 * repeat of the first event under a second id (Stripe docs, "Webhooks"). Crossbill must not relay the repeat: the MoR
 * would charge again. After a refusal, another `invoice.created` really asks for a retry (Document 3, rule 5).
 */
function awaitsRelay(lane: LaneRows): boolean {
  return awaitsRetry(lane) || lane.calls.some((m) => isUnanswered(lane, m, ['pending', 'done']));
}

/**
 * True for a relayed event if the MoR has given no verdict on the invoice since the relay. A verdict on a charge does
 * not count if a person dismissed the charge.
 */
function isUnanswered(lane: LaneRows, call: CallRow, of: readonly CallRow['status'][]): boolean {
  const reported = { payments: lane.payments.filter((p) => !saysNothing(p)) };
  // True if the MoR reported a charge for the event, and then Crossbill withdrew the event. The MoR received the event,
  // and only its reply was lost.
  const isHeard =
    call.status === 'cancelled' && call.attempts > 0 && of.includes('done') && lane.payments.some(saysNothing);
  return call.kind === 'relay_event' && (of.includes(call.status) || isHeard) && verdictSince(reported, call) === null;
}

/**
 * The reason to withdraw an `invoice.created` without a reply: the invoice is over, its money has arrived, the MoR gave
 * its verdict, or the customer can pay another way. In these cases a relay hours later could make the MoR charge a
 * customer who is already paying. If the MoR received an earlier try, an event will report the charge. Null: the MoR
 * must still get the event.
 */
function findReasonToDrop(lane: Lane, { row: m }: Call): string | null {
  const why = findReasonNotToCharge(lane);
  if (why !== null) return why;
  // A person may send a refused relay again. But if Crossbill has requested a charge since, the MoR would take this
  // relay for one more retry.
  const later = lane.calls.slice(1 + lane.calls.findIndex((x) => x.id === m.id));
  if (awaitsRetry(lane) || later.some((x) => isUnanswered(lane, x, ['done'])))
    return 'Crossbill sent the MoR another request to charge it';
  if (isOutdated(lane, m)) return OTHER_AMOUNT;
  const refused = verdictSince(lane, m);
  return refused === null ? null : `the MoR already knows the invoice: it reported payment ${refused}`;
}

const OTHER_AMOUNT = 'another amount is due now';

/** True for Crossbill's own event, never sent, with an amount that is no longer due, as after a credit note. */
function isOutdated(lane: Lane, call: CallRow): boolean {
  const due = lane.invoice?.amountRemaining ?? null;
  if (!isOwnEvent(call) || due === null || call.attempts > 0 || mayBeCutOff(call, lane)) return false;
  const sent = parseStripeEvent(Buffer.from(call.wire.body ?? '', 'utf8'));
  return sent.usability === 'usable' && sent.event.invoice.amountRemaining !== due;
}

/** The id of a payment the MoR first reported after call `call` began. Null: no such payment. */
function verdictSince(lane: Pick<LaneRows, 'payments'>, call: CallRow): string | null {
  const p = lane.payments.find((x) => x.recordedAt.getTime() >= call.createdAt.getTime());
  return p === undefined ? null : effectName(p);
}

export const relayCall: CallRule<'relay_event'> = {
  send: ({ relay }, { wire }) => relay(wire.body ?? ''),
  order: 3,
  unwanted: findReasonToDrop,
  // If the invoice is hours old, it may have changed, so Crossbill reads it before the relay. After RELAY_READ_TRIES
  // reads without a reply Crossbill relays all the same, so the MoR charges the renewal.
  readFirst: (i, lane) =>
    i.readAttempts < RELAY_READ_TRIES && lane.age(i.platformCreatedAt ?? i.firstSeenAt) >= RELAY_LATE_MS,
  // wait for the lookup: Crossbill relays nothing for a customer outside ENROLMENT
  waits: (lane) => enrolmentStatus(lane) === 'unknown',
  // Crossbill may have repeated its own event for hours. The MoR's time for a verdict starts only now.
  replied: (lane, { row }) => {
    if (lane.invoice !== null && isOwnEvent(row)) lane.invoice.expectedBy = verdictDueBy(lane.invoice, lane);
  },
  takenBack: ({ invoice, now }, _, why) => {
    if (invoice !== null && why === OTHER_AMOUNT) invoice.relayDueAt = now; // ask for the new amount
  },
  // Before the next try Crossbill reads the invoice again: Stripe may reply by then and show the invoice as over.
  silent: ({ invoice: i }) => {
    if (i !== null && i.readAttempts >= RELAY_READ_TRIES) i.readAttempts = RELAY_READ_TRIES - 1;
  },
  refused: (lane, { row }, f) => openCallReview(lane, row, { code: 'relay-refused', ...refusalOf(row, f) }),
  chosen: (lane, r, { resolution }) => {
    if (resolution === 'retry') lane.sendAgain(lane.calls.find((m) => isAbout(r, m))?.id);
    return null;
  },
};
