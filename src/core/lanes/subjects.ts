// Lists the rules of invoices, refunds and so on (each such folder is a "subject"): for each event, for each reply to a
// call, and for each choice of a person. Also lists the rules to run after each change of a lane, in order.
import {
  type ChannelEvent,
  type LaneEvent,
  type PaymentEvent,
  type Verdict,
  type OwnLaneEvent,
} from '../../engine/event.js';
import { type Subjects } from '../../engine/decider.js';
import { ensureInvoice } from '../../engine/facts.js';
import { takeInvoice } from '../invoices/rules/invoice.js';
import { learnFromCapture } from '../payments/rules/payment.js';
import { joinPayments } from '../payments/subject.js';
import { invoices } from '../invoices/subject.js';
import { type MorServiceType, type ServiceEvent, capturedId } from '../../shared/domain/events/mor-service-event.js';
import { transfers } from '../../features/transfers/subject.js';
import { links, recovery } from '../../features/links/subject.js';
import { morObjects } from '../mor-objects/subject.js';
import { documents } from '../../features/documents/subject.js';
import { returns } from '../../features/losses/returns/subject.js';
import { disputes } from '../../features/losses/disputes/subject.js';
import { type Lane } from '../../engine/draft.js';
import { atRest } from '../../engine/subject.js';
import { oneOf } from '../../engine/call.js';
import { refundForItem } from '../refunds/rules/request.js';
import { refunds } from '../refunds/subject.js';
import { enrolment } from '../../features/enrolment/subject.js';
import { events } from '../events/subject.js';
import { type OwnType } from '../../shared/domain/events/own-event.js';
import { signups } from '../signups/subject.js';
import { takeRefusal } from '../../features/retries/rules/refusal.js';
import { retries } from '../../features/retries/subject.js';
import { nothingMore } from '../../engine/commanded.js';

const payments = joinPayments({ giveBack: refundForItem, tryAgain: takeRefusal });

/** The rules for the MoR's verdicts and refunds, by event type. */
export const PAYMENT_EVENTS: { readonly [K in PaymentEvent['type']]: (lane: Lane, e: PaymentEvent) => Verdict } = {
  ...payments.events,
  ...refunds.events,
};

/** The rules for the MoR's other events, by event type. */
const SERVICE_EVENTS: { readonly [K in MorServiceType]: (lane: Lane, e: ServiceEvent<K>) => Verdict } = {
  ...transfers.events,
  ...disputes.events,
  ...links.events,
  ...documents.events,
};

/** The rules for Crossbill's own events, by event type. */
const OWN_EVENTS: { readonly [K in OwnType]: (lane: Lane, e: OwnLaneEvent<K>) => Verdict } = {
  ...signups.events,
  ...events.events,
};

function takeOwn<K extends OwnType>(lane: Lane, type: K, e: OwnLaneEvent<K>): Verdict {
  return OWN_EVENTS[type](lane, e);
}

function takeEvent(lane: Lane, e: LaneEvent | ChannelEvent): Verdict {
  if (e.family === 'invoice') return takeInvoice(lane, e);
  if (e.family === 'own') return takeOwn(lane, e.type, e);
  ensureInvoice(lane);
  if (e.family === 'channel') return takeService(lane, e.event.kind, e.event);
  return PAYMENT_EVENTS[e.type](lane, e);
}

function takeService<K extends MorServiceType>(lane: Lane, kind: K, e: ServiceEvent<K>): Verdict {
  return SERVICE_EVENTS[kind](lane, e);
}

function paymentNamedIn(e: LaneEvent | ChannelEvent): string | null {
  if (e.family === 'payment') return e.paymentId;
  return e.family === 'channel' ? capturedId(e.event) : null;
}

function learnName(lane: Lane, e: LaneEvent | ChannelEvent): void {
  if (e.family !== 'channel' || e.event.kind !== 'payment.captured') return;
  const named = capturedId(e.event);
  const free = named !== null && lane.ctx.paymentsElsewhere?.has(named) !== true ? named : null;
  learnFromCapture(lane, e.event, free);
}

const CALLS: Subjects['calls'] = {
  ...payments.calls,
  ...invoices.calls,
  ...retries.calls,
  ...refunds.calls,
  report_refund: oneOf(refunds.calls.report_refund, returns.calls.report_refund),
  issue_credit_note: oneOf(refunds.calls.issue_credit_note, returns.calls.issue_credit_note),
  ...transfers.calls,
  ...links.calls,
};

export const SUBJECTS: Subjects = {
  takeEvent,
  paymentNamedIn,
  learnName,
  calls: CALLS,

  reviews: {
    ...payments.choices,
    ...invoices.choices,
    ...signups.choices,
    ...refunds.choices,
    ...returns.choices,
    ...enrolment.choices,
    conflicting_event: nothingMore,
  },

  first: [...enrolment.first, ...invoices.first, ...links.first, ...morObjects.first],
  untilStill: [...payments.money, ...refunds.money],
  last: [
    atRest(disputes),
    atRest(returns),
    atRest(refunds),
    atRest(links),
    atRest(morObjects),
    atRest(transfers),
    atRest(invoices),
    atRest(enrolment),
    atRest(signups),
    atRest(payments),
    atRest(recovery),
    atRest(retries),
  ],

  errandsFirst: [...payments.lookups, ...links.lookups, ...transfers.lookups],
  errandsLast: [...enrolment.lookups, ...recovery.lookups, ...retries.lookups, ...invoices.lookups],

  writes: signups.writes,
};
