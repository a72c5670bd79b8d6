// Takes one waiting event into a lane: checks the event's account and mode, and runs the rule for the event's type.
import { isBareEventLane } from '../shared/domain/events/channel-lane.js';
import { type MorPaymentEvent } from '../shared/domain/events/mor-payment-event.js';
import { type Subjects } from './decider.js';
import { type Lane } from './lane.js';
import { type ChannelEvent, type LaneEvent, type EventOutcome } from './event.js';
import { type RecordedOutcome, type WaitingEvent } from './lane.repository.js';
import { FORBIDDEN, type LiveModeRule, type OwnAccount } from './own-account.js';

/** An event with its verdict. `named`: the MoR's payment ids in the event. */
export type TakenEvent = {
  readonly outcome: Omit<RecordedOutcome, 'id'>;
  readonly named: readonly string[];
};

/** The Stripe account and the mode of our own events. */
export type Ours = {
  readonly livemode: LiveModeRule;
  /** Crossbill's own Stripe account. Null: every event with an account counts as another account's event. */
  readonly account: OwnAccount | null;
};

/**
 * Takes a stored event into the lane. Returns `ask` or `wait` if the event must wait until Crossbill has read its own
 * Stripe account (see `AccountMatch`).
 */
export function takeIn(subjects: Subjects, lane: Lane, stored: WaitingEvent, ours: Ours): TakenEvent | 'ask' | 'wait' {
  const end = (status: RecordedOutcome['status'], reason: string): TakenEvent => ({
    outcome: { status, reason },
    named: [],
  });
  const read = readEvent(stored);
  if (!read.ok) return end(read.status, read.reason);
  const { event } = read;
  const whose = read.accounts.length === 0 ? 'own' : (ours.account?.judge(read.accounts) ?? 'other');
  if (whose === 'other') return end('ignored', "the event is of another account than STRIPE_API_KEY's");
  if (whose === 'forbidden') return end('parked', FORBIDDEN);
  if (whose !== 'own') return whose;
  const { expected } = ours.livemode;
  if (read.livemode !== null && expected !== null && read.livemode !== expected) {
    return end('ignored', `the event is of ${read.livemode ? 'live' : 'test'} mode and the API key is not`);
  }
  const name = subjects.paymentNamedIn(event);
  const named = name === null ? [] : [name];
  const outcome = applyEvent(subjects, lane, event);
  subjects.learnName(lane, event);
  return { outcome, named };
}

/** Records one event. Every event may arrive twice, late, early or never. */
export function applyEvent(subjects: Subjects, lane: Lane, event: LaneEvent | ChannelEvent): EventOutcome {
  const outcome = subjects.applyEvent(lane, event);
  logEvent(lane, event, outcome.reason);
  return outcome;
}

/**
 * Finds the event behind a failed step: the steps with the first event, the first two and so on are tried in turn, and
 * the first failing step has the culprit last. Null: the step fails without any event.
 */
export function culpritOf<E>(events: readonly E[], step: (events: readonly E[]) => unknown): E | null {
  for (const [n] of events.entries()) {
    try {
      step(events.slice(0, n));
    } catch {
      return events[n - 1] ?? null;
    }
  }
  return events.at(-1) ?? null;
}

const SENDER = { invoice: 'stripe', payment: 'mor', channel: 'mor', own: 'crossbill' } as const;

function logEvent(lane: Lane, { type, eventId, family }: LaneEvent | ChannelEvent, reason: string | null): void {
  const detail = { type, reason, sender: SENDER[family] };
  lane.log('event', reason === null ? type : `${type}: ${reason}`, eventId, detail);
}

type ReadEvent =
  | {
      readonly ok: true;
      readonly event: LaneEvent | ChannelEvent;
      readonly livemode: boolean | null;
      /** The Stripe accounts in the event. */
      readonly accounts: readonly string[];
    }
  | { readonly ok: false; readonly status: 'ignored' | 'parked'; readonly reason: string };

/**
 * Reads an event for its lane. Intake has parked every unusable event, so an unusable event comes here only after an
 * operator's retry.
 */
function readEvent(stored: WaitingEvent): ReadEvent {
  const read = usableEvent(stored);
  // An older release could not read this event and gave it a lane of its own, named after the event. If that lane
  // applied the event now, Crossbill would record an invoice under the name of the lane.
  return read.ok && isBareEventLane(stored.lane) ? { ok: false, status: 'parked', reason: READABLE } : read;
}

const READABLE =
  'it can be used now, and waits in a lane of its own: try it once more, and it goes to where it belongs';

function usableEvent(stored: WaitingEvent): ReadEvent {
  const { source, parsed } = stored.event;
  switch (source) {
    case 'stripe': {
      if (parsed.usability !== 'usable') return unusable(parsed);
      const { kind, eventId, createdAt, invoice, livemode, accounts } = parsed.event;
      const raw = stored.body.toString('utf8');
      const event: LaneEvent = {
        family: 'invoice',
        eventId,
        type: kind,
        at: createdAt ?? stored.receivedAt,
        facts: invoice,
        raw,
      };
      return { ok: true, event, livemode, accounts };
    }
    case 'mor_payments': {
      if (parsed.usability !== 'usable') return unusable(parsed);
      const { event } = parsed;
      // The router (mor-objects/) moves an event without an invoice id to the lane of its invoice. An event in a lane
      // of its own has no known invoice: an older release could not read the event.
      if (event.invoiceId === null && isBareEventLane(stored.lane)) {
        return { ok: false, status: 'parked', reason: 'merchant_invoice_id is missing or not a usable id' };
      }
      const invoiceId = event.invoiceId ?? stored.lane;
      return { ok: true, event: toPaymentEvent(event, invoiceId, stored.receivedAt), livemode: null, accounts: [] };
    }
    case 'crossbill': {
      if (parsed === null) return { ok: false, status: 'parked', reason: 'not in the shape its type needs' };
      const { eventId, receivedAt: at } = stored;
      const own = { family: 'own', eventId, type: parsed.type, at, event: parsed } as const;
      return { ok: true, event: own as LaneEvent, livemode: null, accounts: [] };
    }
    case 'mor_events': {
      if (parsed.usability !== 'usable') return unusable(parsed);
      const { eventId, type } = parsed;
      return {
        ok: true,
        event: { family: 'channel', eventId, type, event: parsed.event },
        livemode: null,
        accounts: [],
      };
    }
  }
}

function unusable(parsed: { usability: 'ignored' | 'unusable'; reason: string }): ReadEvent {
  return { ok: false, status: parsed.usability === 'ignored' ? 'ignored' : 'parked', reason: parsed.reason };
}

/** Makes a payment event for the lane. An event without its own time gets `receivedAt`. */
function toPaymentEvent(event: MorPaymentEvent, invoiceId: string, receivedAt: Date): LaneEvent {
  const refund = event.kind === 'payment.refunded' ? event : null;
  const notMade = event.kind === 'payment.failed' || event.kind === 'payment.requires_action' ? event : null;
  return {
    family: 'payment',
    eventId: event.eventId,
    type: event.kind,
    at: event.createdAt ?? receivedAt,
    paymentId: event.paymentId,
    invoiceId,
    customerId: event.customerId,
    processorChargeId: event.processorChargeId,
    processorPaymentIntentId: event.processorPaymentIntentId,
    amount: event.amount.minor,
    currency: event.amount.currency,
    status: statusOf(event),
    failureMessage: notMade?.failureMessage ?? null,
    declineCode: notMade?.declineCode ?? null,
    refundId: refund?.morRefundId ?? null,
    processorRefundId: refund?.processorRefundId ?? null,
    amountRefundedTotal: refund?.refundedTotal ?? null,
    reason: refund?.reason ?? null,
  };
}

function statusOf(
  event: MorPaymentEvent,
): 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded' {
  switch (event.kind) {
    case 'payment.succeeded':
      return 'succeeded';
    case 'payment.failed':
      return 'failed';
    case 'payment.requires_action':
      return 'requires_action';
    case 'payment.refunded':
      return event.status;
  }
}
