// Finds the invoice that an event of the MoR is about which does not name it (all of the other channels, and a refund of a signup's
// payment), and moves the event to that invoice's lane.
import { Injectable } from '@nestjs/common';
import { parseMorPaymentEvent, type PaymentRefunded } from '../domain/events/mor-payment-event.js';
import { type MorServiceEvent, idsIn, parseMorServiceEvent } from '../domain/events/mor-service-event.js';
import { deadlineIn } from '../domain/events/payload-fields.js';
import { type KindAndFact } from '../domain/fact.js';
import { type ConflictFact } from '../domain/facts/conflict.js';
import { newReview } from '../domain/item.js';
import { type ReviewRow } from '../domain/model.js';
import { Clock, Ids } from '../domain/ports/clock.js';
import { HomelessEvents, type Home, type RoutedEvent, type Routing } from './homeless-events.js';
import { type Claim, type EventVerdict } from '../engine/lane-store.js';
import { type DecidedEvent } from '../engine/decider.js';
import { Wake } from '../engine/wake.js';
import {
  ROUTE_GIVE_UP_MS,
  ROUTE_LONGEST_PAUSE_MS,
  ROUTE_LOOK_EVERY_MS,
  ROUTE_PATIENCE_MS,
  ROUTE_SHORTEST_PAUSE_MS,
} from '../policy.js';

/** The surest first: a thing of our own, then what its ids are otherwise known for. */
const SUREST: readonly Home['what'][] = ['object', 'message', 'payment', 'refund', 'invoice', 'signup'];

type Homeless = MorServiceEvent | PaymentRefunded;

@Injectable()
export class RouteEventsFlow {
  constructor(
    private readonly events: HomelessEvents,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly wake: Wake,
  ) {}

  /** Routes what waits in a `mor:` lane. Gives what was decided here; what moved is decided in its invoice's lane. */
  async run(claim: Claim): Promise<readonly DecidedEvent[]> {
    const loaded = await this.events.load(claim.lane);
    const read = loaded.map((stored) => ({ stored, event: usable(stored) }));
    const ids = new Set(read.flatMap(({ event }) => (event === null ? [] : namesOf(event))));
    const homes = ids.size === 0 ? [] : await this.events.homes([...ids]);
    const known = new Map<string, Home[]>();
    for (const home of homes) known.set(home.id, [...(known.get(home.id) ?? []), home]);
    const routings = read.map(({ stored, event }) => this.route(stored, event, known));
    const waiting = loaded.filter((stored, i) => keepsLooking(stored, routings[i])).map(({ waitedMs }) => waitedMs);
    await this.events.route(claim.lane, claim.fence, routings, lookAgainInMs(waiting));
    if (routings.some((r) => r.do === 'move')) this.wake.lanes();
    return read.flatMap(({ stored }, i) => {
      const r = routings[i];
      if (r?.do !== 'decide' || stored.reviewId !== null) return [];
      const { type, source, eventId } = stored;
      return [{ id: r.id, status: r.status, reason: r.reason, type, source, eventId }];
    });
  }

  private route(stored: RoutedEvent, event: Homeless | null, known: ReadonlyMap<string, Home[]>): Routing {
    const { id, reviewId } = stored;
    const decide = (
      reason: string,
      status: EventVerdict['status'] = 'done',
      review: ReviewRow | null = null,
    ): Routing => ({
      id,
      do: 'decide',
      status,
      reason,
      review,
    });
    if (event === null) return decide('not in the shape its type needs', 'parked');
    const home = homeOf(event, known);
    if (home !== null && home.invoiceId !== null) return { id, do: 'move', invoiceId: home.invoiceId };
    if (reviewId !== null) return decide('names nothing Crossbill knows');
    if (home !== null && event.kind === 'payment.captured') {
      return decide("a signup's card payment: its own payment.* event, or the signup's completion, counts");
    }
    if (stored.waitedMs < ROUTE_PATIENCE_MS && maybeUnderWay(event))
      return { id, do: 'wait', forMs: ROUTE_LOOK_EVERY_MS };
    const item = itemFor(event);
    if (item === null) return decide('a proforma invoice that Crossbill did not make');
    return decide('names nothing Crossbill knows: a person must look', 'done', this.review(event, item));
  }

  private review(event: Homeless, item: HomelessItem): ReviewRow {
    return newReview({ ...item, subject: event.eventId }, this.ids.next('rev'), this.clock.now());
  }
}

/** Half as long again as it has waited; at least a minute, at most six hours; null once it is given up. */
function lookAgainInMs(waitedMs: readonly number[]): number | null {
  const ages = waitedMs.filter((age) => age < ROUTE_GIVE_UP_MS);
  if (ages.length === 0) return null;
  return Math.min(ROUTE_LONGEST_PAUSE_MS, Math.max(ROUTE_SHORTEST_PAUSE_MS, Math.round(Math.min(...ages) / 2)));
}

function usable(stored: RoutedEvent): Homeless | null {
  if (stored.source === 'mor_payments') {
    const parsed = parseMorPaymentEvent(stored.body);
    return parsed.verdict === 'usable' && parsed.event.kind === 'payment.refunded' ? parsed.event : null;
  }
  const parsed = parseMorServiceEvent(stored.body);
  return parsed.verdict === 'usable' ? parsed.event : null;
}

/** Every id the event carries; a proforma invoice's may stand in the event's own id alone. */
function namesOf(event: Homeless): readonly string[] {
  if (event.kind === 'payment.refunded') {
    return [event.paymentId, event.processorChargeId, event.processorPaymentIntentId];
  }
  const first = [event.proformaInvoiceId, event.paymentLinkId, event.eInvoiceId].filter((id) => id !== null);
  return [...new Set([...first, ...idsIn(event.data)])];
}

function homeOf(event: Homeless, known: ReadonlyMap<string, Home[]>): Home | null {
  const found = namesOf(event).flatMap((id) => known.get(id) ?? []);
  for (const what of SUREST) {
    const home = found.find((h) => h.what === what);
    if (home !== undefined) return home;
  }
  return null;
}

/** Nobody knows what it is about: its item is open, or opens now. */
function keepsLooking({ reviewId }: RoutedEvent, r: Routing | undefined): boolean {
  return r?.do === 'decide' && r.status === 'done' && (r.review !== null || reviewId !== null);
}

function maybeUnderWay(event: Homeless): boolean {
  if (event.kind === 'payment.refunded') return true;
  return event.kind.startsWith('proforma_invoice.') || event.kind === 'payment.captured' || event.eInvoiceId !== null;
}

type HomelessItem = KindAndFact & { readonly dueAt?: Date | null };

/** What a person is told about an event that names nothing we know; null: nothing follows from it. */
function itemFor(event: Homeless): HomelessItem | null {
  const { eventId } = event;
  switch (event.kind) {
    case 'proforma_invoice.issued':
    case 'proforma_invoice.issuance_failed':
      return null;
    case 'proforma_invoice.settled':
      return conflict({ code: 'unknown-proforma', event: eventId, proforma: event.proformaInvoiceId });
    case 'payment.captured':
      return conflict({ code: 'unknown-capture', event: eventId });
    case 'payment.refunded':
      return conflict({ code: 'unknown-refund', event: eventId, payment: event.paymentId, amount: event.amount });
    case 'e_invoice.issued':
    case 'e_invoice.issuance_failed':
    case 'e_invoice.cancelled': {
      const eInvoice = event.eInvoiceId ?? eventId;
      return conflict({ code: 'unknown-e-invoice', event: eventId, type: event.kind, eInvoice });
    }
    case 'dispute.action_needed':
    case 'dispute.revision_requested':
    case 'dispute.outcome':
    case 'pre_chargeback_alert.received':
    case 'pre_chargeback_alert.outcome': {
      const dueAt = deadlineIn(event.data);
      const until = dueAt?.toISOString() ?? null;
      return { kind: 'dispute', fact: { code: 'unknown-dispute', event: eventId, type: event.kind, until }, dueAt };
    }
  }
}

function conflict(fact: ConflictFact): HomelessItem {
  return { kind: 'conflicting_event', fact };
}
