// The MoR's service events (Document 2): about proforma invoices, payment links, e-invoices, disputes and alerts.
import { channelLane } from './channel-lane.js';
import { eventTime, parseEvent, type ParsedEvent } from './envelope.js';
import { Fields, isId, type JsonObject, member } from '@crossbill/mor/read.js';

/** What Crossbill reads in every service event. */
export type ServiceFacts = {
  readonly eventId: string;
  /** When the MoR made the event. Null: the event does not say. */
  readonly createdAt: Date | null;
  /** The proforma invoice's id. Null: the event has none. */
  readonly proformaInvoiceId: string | null;
  readonly paymentLinkId: string | null;
  readonly eInvoiceId: string | null;
  /** The data as the MoR sent it. Document 2 shows few of its members, so use `idsIn` to search it. */
  readonly data: JsonObject;
};

/**
 * The MoR's service events that Crossbill uses, by type, each with its facts (Document 2, "Events"). Each feature adds its
 * own with `declare module`, so a deleted folder takes its events with it. Document 2 also announces `payment.settled` and
 * `report.available`, but the MoR does not send them yet: Crossbill stores and ignores them.
 */
export interface MorServiceEvents {
  readonly 'payment.captured': ServiceFacts;
}
export type MorServiceType = keyof MorServiceEvents;

/** A service event of the type `K`. */
export type ServiceEvent<K extends MorServiceType> = { [P in K]: MorServiceEvents[P] & { readonly kind: P } }[K];
export type MorServiceEvent = ServiceEvent<MorServiceType>;

/** Reads what the events of each type have beyond the common facts. Throws `Unreadable` for a malformed event. */
export type ServiceReaders = { readonly [K in MorServiceType]: (facts: ServiceFacts) => MorServiceEvents[K] };

/**
 * Parses a delivery to the events endpoint. The lane is `mor:` plus the id of the proforma invoice, link or e-invoice,
 * or else of the event. A type without a reader is ignored. Never throws.
 */
export function parseMorServiceEvent(body: Buffer, readers: ServiceReaders): ParsedEvent<MorServiceEvent> {
  return parseEvent('mor_events', body, ({ eventId, type, root }) => {
    if (!isServiceType(type, readers)) return null;
    const data = new Fields(root).object('data');
    const facts = readers[type]({
      eventId,
      createdAt: eventTime(root),
      proformaInvoiceId: idOrNull(data, 'proformaInvoiceId'),
      paymentLinkId: idOrNull(data, 'paymentLinkId'),
      eInvoiceId: idOrNull(data, 'eInvoiceId'),
      data,
    });
    const subject = facts.proformaInvoiceId ?? facts.paymentLinkId ?? facts.eInvoiceId ?? eventId;
    // The table pairs each type with its own facts. The compiler cannot follow that, so a cast says it.
    return { lane: channelLane(subject), event: { kind: type, ...facts } as MorServiceEvent };
  });
}

const isServiceType = (type: string, readers: ServiceReaders): type is MorServiceType => Object.hasOwn(readers, type);

function idOrNull(data: JsonObject, name: string): string | null {
  const value = member(data, name);
  return isId(value) ? value : null;
}

const MAX_IDS = 1_000;

/**
 * Every text in `data` that can be an id, in order, without repeats, at most 1,000. Document 2 does not show where a
 * dispute, an alert or a captured link has its ids.
 */
export function idsIn(data: JsonObject): readonly string[] {
  const found = new Set<string>();
  const waiting: unknown[] = [data];
  for (let next = 0; next < waiting.length && found.size < MAX_IDS; next++) {
    const value = waiting[next];
    if (isId(value) && !/\s/.test(value)) found.add(value);
    else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) waiting.push(inner);
  }
  return [...found];
}

/** The MoR's payment id in a `payment.captured` event. Null: the event has another type, no such id, or several. */
export function capturedId(event: MorServiceEvent): string | null {
  if (event.kind !== 'payment.captured') return null;
  const named = [...new Set(idsIn(event.data))].filter((id) => id.startsWith('pay_'));
  return named.length === 1 ? (named[0] ?? null) : null;
}
