// Lists the rules of invoices, refunds and so on (each such folder is a "subject"): for each event, for each reply to a
// call, and for each choice of a person. Also lists the rules to run after each change of a lane, in order.
import {
  type ChannelEvent,
  done,
  type LaneEvent,
  type PaymentEvent,
  type EventOutcome,
  type OwnLaneEvent,
} from '../../engine/event.js';
import { type Subjects } from '../../engine/decider.js';
import { ensureInvoice, isFresh, readInvoice } from '../books/rules/invoice-facts.js';
import { collectedCharges } from '../books/rules/collect.js';
import { applyInvoice } from '../invoices/rules/invoice.js';
import { applyRefusal } from '../invoices/rules/refused-renewal.js';
import { learnFromCapture } from '../payments/rules/payment.js';
import { joinPayments } from '../payments/subject.js';
import { invoiceLines } from '../invoices/rules/invoice-lines.js';
import { invoices } from '../invoices/subject.js';
import { capturedId } from '../../shared/domain/events/mor-service-event.js';
import { morObjects } from '../mor-objects/subject.js';
import { type Lane } from '../../engine/lane.js';
import { NO_PORTS } from '../../engine/ports.js';
import { ruleBefore, ruleAfter, lookupsOf, type Subject } from '../../engine/subject.js';
import { sharedCalls } from '../../engine/call.js';
import { join, lanesOf } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { rowOf } from '../mor-objects/event-rows.js';
import { refundForItem } from '../refunds/rules/request.js';
import { refunds } from '../refunds/subject.js';
import { events } from '../events/subject.js';
import { type OwnType } from '../../shared/domain/events/own-event.js';
import { signups } from '../signups/subject.js';
import { nothingMore } from '../../engine/commanded.js';

const LANES = lanesOf(FEATURES); // with exact types, for the joined tables
const OF_FEATURES: readonly Subject[] = LANES;
const EARLY = OF_FEATURES.filter(({ late }) => late !== true);
const LATE = OF_FEATURES.filter(({ late }) => late === true);

const payments = joinPayments({ giveBack: refundForItem, tryAgain: applyRefusal });

/** The rules for the MoR's verdicts and refunds, by event type. */
export const PAYMENT_EVENTS: {
  readonly [K in PaymentEvent['type']]: (lane: Lane, event: PaymentEvent) => EventOutcome;
} = {
  ...payments.events,
  ...refunds.events,
};

/** The rules for Crossbill's own events, by event type. */
const OWN_EVENTS: { readonly [K in OwnType]: (lane: Lane, event: OwnLaneEvent<K>) => EventOutcome } = {
  ...signups.events,
  ...events.events,
};

function applyOwn<K extends OwnType>(lane: Lane, type: K, event: OwnLaneEvent<K>): EventOutcome {
  return OWN_EVENTS[type](lane, event);
}

function applyEvent(lane: Lane, event: LaneEvent | ChannelEvent): EventOutcome {
  if (event.family === 'invoice') return applyInvoice(lane, event);
  if (event.family === 'own') return applyOwn(lane, event.type, event);
  ensureInvoice(lane);
  if (event.family === 'channel') return rowOf(event.event).apply(lane, event.event);
  const other = lane.ctx.paymentsElsewhere?.get(event.paymentId);
  return other === undefined ? PAYMENT_EVENTS[event.type](lane, event) : askAboutOther(lane, event, other);
}

/** The payment belongs to another invoice: a person decides. */
function askAboutOther(
  lane: Lane,
  { eventId: event, paymentId: payment }: PaymentEvent,
  invoice: string,
): EventOutcome {
  const fact = { code: 'payment-elsewhere', event, payment, invoice } as const;
  lane.openReview({ kind: 'conflicting_event', subject: event, fact });
  return done(`payment ${payment} belongs to ${invoice}: not applied`);
}

/** The decision on a payment always needs a read of its invoice. */
const READ_FIRST: ReadonlySet<string> = new Set<PaymentEvent['type']>(['payment.succeeded']);

function paymentNamedIn(event: LaneEvent | ChannelEvent): string | null {
  if (event.family === 'payment') return event.paymentId;
  return event.family === 'channel' ? capturedId(event.event) : null;
}

function learnName(lane: Lane, event: LaneEvent | ChannelEvent): void {
  if (event.family !== 'channel' || event.event.kind !== 'payment.captured') return;
  const named = capturedId(event.event);
  const free = named !== null && lane.ctx.paymentsElsewhere?.has(named) !== true ? named : null;
  learnFromCapture(lane, event.event, free);
}

const CALLS: Subjects['calls'] = {
  ...payments.calls,
  ...invoices.calls,
  ...refunds.calls,
  ...join(LANES, 'calls'),
  ...sharedCalls(refunds.calls, OF_FEATURES),
};

export const SUBJECTS: Subjects = {
  applyEvent,
  paymentNamedIn,
  learnName,
  calls: CALLS,

  reviews: {
    ...payments.choices,
    ...invoices.choices,
    ...signups.choices,
    ...refunds.choices,
    conflicting_event: nothingMore,
    ...join(LANES, 'choices'),
  },

  before: [...OF_FEATURES, invoices, morObjects].map(ruleBefore),
  untilStable: [...payments.untilStable, ...refunds.untilStable],
  after: [
    ...EARLY.map(ruleAfter),
    ruleAfter(refunds),
    ruleAfter(morObjects),
    ruleAfter(invoices),
    ruleAfter(signups),
    ruleAfter(payments),
    ...LATE.map(ruleAfter),
  ],

  freshRead: { request: readInvoice, isFresh, wantedBy: READ_FIRST },
  chargesIn: collectedCharges,

  requestsFirst: lookupsOf([payments, ...EARLY]),
  requestsLast: lookupsOf([...LATE, invoices, signups]),

  logLines: invoiceLines,
  ports: { ...NO_PORTS, ...join(LANES, 'ports') },
  writes: [...signups.writes, ...OF_FEATURES.flatMap(({ writes = [] }) => writes)],
};
