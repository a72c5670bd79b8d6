// From a stored delivery's bytes to an event a lane can take in.
import { isBareEventLane } from '../domain/events/channel-lane.js';
import { parseMorServiceEvent } from '../domain/events/mor-service-event.js';
import { parseMorPaymentEvent } from '../domain/events/mor-payment-event.js';
import { parseStripeEvent } from '../domain/events/stripe-event.js';
import { type ChannelEvent, type LaneEvent } from './event.js';
import { type WaitingEvent } from './lane-store.js';

export type ReadEvent =
  | {
      readonly ok: true;
      readonly event: LaneEvent | ChannelEvent;
      readonly livemode: boolean | null;
      /** Of Stripe, named by the event. */
      readonly accounts: readonly string[];
    }
  | { readonly ok: false; readonly status: 'ignored' | 'parked'; readonly reason: string };

/** Parses the stored bytes. What the door already refused comes here only when an operator retries it. */
export function readEvent(stored: WaitingEvent): ReadEvent {
  const read = parse(stored);
  // Another release put it up for a decision: applied here, it would make an invoice of its lane's name.
  return read.ok && isBareEventLane(stored.lane) ? { ok: false, status: 'parked', reason: READABLE } : read;
}

const READABLE =
  'it can be used now, and waits in a lane of its own: try it once more, and it goes to where it belongs';

function parse(stored: WaitingEvent): ReadEvent {
  switch (stored.source) {
    case 'stripe': {
      const parsed = parseStripeEvent(stored.body);
      if (parsed.verdict !== 'usable') return unusable(parsed);
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
      const parsed = parseMorPaymentEvent(stored.body);
      if (parsed.verdict !== 'usable') return unusable(parsed);
      const { event } = parsed;
      // One that names no invoice was moved to its invoice's lane, unless an older release parked it in a lane of its own.
      if (event.invoiceId === null && isBareEventLane(stored.lane)) {
        return { ok: false, status: 'parked', reason: 'merchant_invoice_id is missing or not a usable id' };
      }
      const invoiceId = event.invoiceId ?? stored.lane;
      return { ok: true, event: toPaymentEvent(event, invoiceId, stored.receivedAt), livemode: null, accounts: [] };
    }
    case 'mor_events': {
      const parsed = parseMorServiceEvent(stored.body);
      if (parsed.verdict !== 'usable') return unusable(parsed);
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

function unusable(parsed: { verdict: 'ignored' | 'unusable'; reason: string }): ReadEvent {
  return { ok: false, status: parsed.verdict === 'ignored' ? 'ignored' : 'parked', reason: parsed.reason };
}

type MorEvent = Extract<ReturnType<typeof parseMorPaymentEvent>, { verdict: 'usable' }>['event'];

/** `receivedAt` stands in for the time of an event that names none. */
function toPaymentEvent(e: MorEvent, invoiceId: string, receivedAt: Date): LaneEvent {
  const refund = e.kind === 'payment.refunded' ? e : null;
  const notMade = e.kind === 'payment.failed' || e.kind === 'payment.requires_action' ? e : null;
  return {
    family: 'payment',
    eventId: e.eventId,
    type: e.kind,
    at: e.createdAt ?? receivedAt,
    paymentId: e.paymentId,
    invoiceId,
    customerId: e.customerId,
    processorChargeId: e.processorChargeId,
    processorPaymentIntentId: e.processorPaymentIntentId,
    amount: e.amount.minor,
    currency: e.amount.currency,
    status: statusOf(e),
    failureMessage: notMade?.failureMessage ?? null,
    declineCode: notMade?.declineCode ?? null,
    refundId: refund?.morRefundId ?? null,
    processorRefundId: refund?.processorRefundId ?? null,
    amountRefundedTotal: refund?.refundedTotal ?? null,
    reason: refund?.reason ?? null,
  };
}

function statusOf(e: MorEvent): 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded' {
  switch (e.kind) {
    case 'payment.succeeded':
      return 'succeeded';
    case 'payment.failed':
      return 'failed';
    case 'payment.requires_action':
      return 'requires_action';
    case 'payment.refunded':
      return e.status;
  }
}
