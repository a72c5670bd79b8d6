// The list of subjects: which of them takes in an event, a call's answer, a person's choice, what each settles, and in which order.
import {
  type Applied,
  type ChannelEvent,
  type LaneEvent,
  type PaymentEvent,
  type Verdict,
  type OwnLaneEvent,
} from '../engine/event.js';
import { type Subjects } from '../engine/decider.js';
import { ensureInvoice } from '../engine/facts.js';
import { takeInvoice } from '../invoices/rules/invoice.js';
import { learnFromCapture } from '../payments/rules/payment.js';
import { joinPayments } from '../payments/subject.js';
import { invoices } from '../invoices/subject.js';
import { type LaneState } from '../domain/model.js';
import { type Ctx } from '../engine/change.js';
import { type MorServiceType, type ServiceEvent, capturedId } from '../domain/events/mor-service-event.js';
import { transfers } from '../transfers/subject.js';
import { links, recovery } from '../links/subject.js';
import { morObjects } from '../mor-objects/subject.js';
import { documents } from '../documents/subject.js';
import { returns } from '../returns/subject.js';
import { disputes } from '../disputes/subject.js';
import { type Lane } from '../engine/draft.js';
import { atRest, nothingMore } from '../engine/subject.js';
import { asEventRule, decide } from '../engine/adapter.js';
import { oneOf } from '../engine/call-rule.js';
import { refundForItem } from '../refunds/rules/request.js';
import { refunds } from '../refunds/subject.js';
import { enrolment } from '../enrolment/subject.js';
import { events } from '../events/subject.js';
import { type OwnType } from '../domain/events/own-event.js';
import { signups } from '../signups/subject.js';
import { takeRefusal } from '../retries/rules/refusal.js';
import { retries } from '../retries/subject.js';

const payments = joinPayments({ giveBack: refundForItem, tryAgain: takeRefusal });

/** The MoR's verdicts and refunds, by type. */
export const PAYMENT_EVENTS: { readonly [K in PaymentEvent['type']]: (lane: Lane, e: PaymentEvent) => Verdict } = {
  ...payments.events,
  ...refunds.events,
};

/** The MoR's other events, by type. */
const SERVICE_EVENTS: { readonly [K in MorServiceType]: (lane: Lane, e: ServiceEvent<K>) => Verdict } = {
  ...transfers.events,
  ...disputes.events,
  ...links.events,
  ...documents.events,
};

/** Our own events, by type. */
const OWN_EVENTS: { readonly [K in OwnType]: (lane: Lane, e: OwnLaneEvent<K>) => Verdict } = {
  ...signups.events,
  ...events.events,
};

function takeOwn<K extends OwnType>(s: LaneState, type: K, e: OwnLaneEvent<K>, ctx: Ctx): Applied {
  return asEventRule<OwnLaneEvent<K>>(OWN_EVENTS[type])(s, e, ctx);
}

function takeEvent(s: LaneState, e: LaneEvent | ChannelEvent, ctx: Ctx): Applied {
  if (e.family === 'invoice') return asEventRule(takeInvoice)(s, e, ctx);
  if (e.family === 'own') return takeOwn(s, e.type, e, ctx);
  const { state } = ensureInvoice(s, ctx);
  if (e.family === 'channel') return takeService(state, e.event.kind, e.event, ctx);
  return asEventRule(PAYMENT_EVENTS[e.type])(state, e, ctx);
}

function takeService<K extends MorServiceType>(s: LaneState, kind: K, e: ServiceEvent<K>, ctx: Ctx): Applied {
  return asEventRule<ServiceEvent<K>>(SERVICE_EVENTS[kind])(s, e, ctx);
}

function paymentNamedIn(e: LaneEvent | ChannelEvent): string | null {
  if (e.family === 'payment') return e.paymentId;
  return e.family === 'channel' ? capturedId(e.event) : null;
}

function learnName(s: LaneState, e: LaneEvent | ChannelEvent, ctx: Ctx): LaneState {
  if (e.family !== 'channel' || e.event.kind !== 'payment.captured') return s;
  const named = capturedId(e.event);
  const free = named !== null && ctx.paymentsElsewhere?.has(named) !== true ? named : null;
  return decide(s, ctx, (lane) => learnFromCapture(lane, e.event, free));
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
};
