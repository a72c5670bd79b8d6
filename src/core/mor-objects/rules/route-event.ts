// Decides the route of an event without an invoice: to an invoice with one of the event's ids, or to a person.
import { type PaymentRefunded } from '../../../shared/domain/events/mor-payment-event.js';
import { type HomelessItem } from '../../../feature.js';
import { rowOf } from '../event-rows.js';
import { idsIn, type MorServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { type StoredEvent } from '../../../shared/domain/events/stored-event.js';
import {
  ROUTE_GIVE_UP_MS,
  ROUTE_LONGEST_PAUSE_MS,
  ROUTE_POLL_EVERY_MS,
  ROUTE_TIMEOUT_MS,
  ROUTE_SHORTEST_PAUSE_MS,
} from '../../../shared/policy.js';

/** The kinds of records with an event's id, the surest first: an object at the MoR, our own request, other records. */
const SUREST = ['object', 'message', 'payment', 'refund', 'invoice', 'signup'] as const;

/** A record with one of the event's ids. `invoiceId` null: a signup without an invoice so far. */
export type Home = { readonly id: string; readonly what: (typeof SUREST)[number]; readonly invoiceId: string | null };

/**
 * The result of the earlier search for the event's invoice. `reviewId`: the open item that asks a person about the
 * event; null: not decided yet. `waitedMs`: the event's age by the database's clock.
 */
type Searched = { readonly reviewId: string | null; readonly waitedMs: number };

/** The decided route. `item`: a person must look. `pollsAgain`: the invoice may still appear. */
export type Routing =
  | { readonly moveTo: string }
  | { readonly waitMs: number }
  | {
      readonly status: 'done' | 'parked';
      readonly reason: string;
      readonly item: HomelessItem | null;
      readonly pollsAgain: boolean;
    };

/** The parsed event. Null: Crossbill cannot use the event, for example because a field is missing. */
export type Homeless = MorServiceEvent | PaymentRefunded | null;

/** The event, if the router may move it. */
export function homelessIn({ source, parsed }: StoredEvent): Homeless {
  switch (source) {
    case 'mor_payments':
      return parsed.usability === 'usable' && parsed.event.kind === 'payment.refunded' ? parsed.event : null;
    case 'mor_events':
      return parsed.usability === 'usable' ? parsed.event : null;
    case 'stripe':
    case 'crossbill':
      return null;
  }
}

/** All ids in the event. A proforma invoice's id may be present only inside the event's own id. */
export function namesOf(event: Homeless): readonly string[] {
  if (event === null) return [];
  if (event.kind === 'payment.refunded') {
    return [event.paymentId, event.processorChargeId, event.processorPaymentIntentId];
  }
  const first = [event.proformaInvoiceId, event.paymentLinkId, event.eInvoiceId].filter((id) => id !== null);
  return [...new Set([...first, ...idsIn(event.data)])];
}

/**
 * Decides the route of one event.
 * @param homes the records with the ids of all events, the oldest first
 */
export function routeEvent({ reviewId, waitedMs }: Searched, event: Homeless, homes: readonly Home[]): Routing {
  const done = (reason: string, item: HomelessItem | null = null, pollsAgain = item !== null): Routing => ({
    status: 'done',
    reason,
    item,
    pollsAgain,
  });
  if (event === null)
    return { status: 'parked', reason: 'not in the shape its type needs', item: null, pollsAgain: false };
  const home = homeOf(namesOf(event), homes);
  if (home !== null && home.invoiceId !== null) return { moveTo: home.invoiceId };
  if (reviewId !== null) return done('names nothing Crossbill knows', null, true);
  if (home !== null && event.kind === 'payment.captured') {
    return done("a signup's card payment: its own payment.* event, or the signup's completion, counts");
  }
  if (waitedMs < ROUTE_TIMEOUT_MS && maybeUnderWay(event)) return { waitMs: ROUTE_POLL_EVERY_MS };
  const item = itemFor(event);
  if (item === null) return done('a proforma invoice that Crossbill did not make');
  return done('names nothing Crossbill knows: a person must look', item);
}

/**
 * The pause before the next search for the invoices of a lane's events: half of the youngest event's age, at least a
 * minute, at most six hours. Null: Crossbill no longer searches.
 */
export function pollAgainInMs(waitedMs: readonly number[]): number | null {
  const ages = waitedMs.filter((age) => age < ROUTE_GIVE_UP_MS);
  if (ages.length === 0) return null;
  return Math.min(ROUTE_LONGEST_PAUSE_MS, Math.max(ROUTE_SHORTEST_PAUSE_MS, Math.round(Math.min(...ages) / 2)));
}

function homeOf(names: readonly string[], homes: readonly Home[]): Home | null {
  const found = names.flatMap((name) => homes.filter((home) => home.id === name));
  for (const what of SUREST) {
    const home = found.find((h) => h.what === what);
    if (home !== undefined) return home;
  }
  return null;
}

function maybeUnderWay(event: NonNullable<Homeless>): boolean {
  return event.kind === 'payment.refunded' || rowOf(event).mayBeUnderWay?.(event) === true;
}

/** The item about the event. Null: the event needs none. */
function itemFor(event: NonNullable<Homeless>): HomelessItem | null {
  if (event.kind !== 'payment.refunded') return rowOf(event).unknown(event);
  const { eventId, paymentId: payment, amount } = event;
  return { kind: 'conflicting_event', fact: { code: 'unknown-refund', event: eventId, payment, amount } };
}
