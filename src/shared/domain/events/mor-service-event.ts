// The MoR's service events (Document 2): about proforma invoices, payment links, e-invoices, disputes and alerts.
import { type Money } from '../money.js';
import { channelLane } from './channel-lane.js';
import { freeText } from '../../masks/card-numbers.js';
import { eventTime, parseEvent, type ParsedEvent } from './envelope.js';
import { Fields, isId, type JsonObject, member, parseMoney, partOf, Unreadable } from '@crossbill/mor/read.js';

/**
 * The event types Crossbill uses (Document 2, "Events"). Document 2 also announces `payment.settled` and
 * `report.available`, but the MoR does not send them yet. Crossbill would store and ignore them.
 */
export const morServiceTypes = [
  'proforma_invoice.issued',
  'proforma_invoice.issuance_failed',
  'proforma_invoice.settled',
  'dispute.action_needed',
  'dispute.outcome',
  'dispute.revision_requested',
  'pre_chargeback_alert.received',
  'pre_chargeback_alert.outcome',
  'payment.captured',
  'e_invoice.issued',
  'e_invoice.issuance_failed',
  'e_invoice.cancelled',
] as const;
export type MorServiceType = (typeof morServiceTypes)[number];

type ServiceFacts = {
  readonly eventId: string;
  /** When the MoR made the event. Null: the event does not say. */
  readonly createdAt: Date | null;
  /** The proforma invoice's id in the data, or else in the event id. Null: neither has one. */
  readonly proformaInvoiceId: string | null;
  readonly paymentLinkId: string | null;
  readonly eInvoiceId: string | null;
  /** The data as the MoR sent it. Document 2 shows few of its members, so use `idsIn` to search it. */
  readonly data: JsonObject;
};

export type ProformaSettled = ServiceFacts & {
  readonly kind: 'proforma_invoice.settled';
  readonly proformaInvoiceId: string;
  readonly settledAt: Date;
  readonly total: Money;
  /** The amount the customer transferred. After a partial payment it differs from the total. */
  readonly amountReceived: Money;
  readonly recipientName: string | null;
};

/** A service event of the type `K`. */
export type ServiceEvent<K extends MorServiceType> = {
  [P in K]: P extends 'proforma_invoice.settled' ? ProformaSettled : ServiceFacts & { readonly kind: P };
}[K];
export type MorServiceEvent = ServiceEvent<MorServiceType>;

/**
 * Parses a delivery to the events endpoint. The lane is `mor:` plus the id of the proforma invoice, link or e-invoice,
 * or else of the event. Never throws.
 */
export function parseMorServiceEvent(body: Buffer): ParsedEvent<MorServiceEvent> {
  return parseEvent('mor_events', body, ({ eventId, type, root }) => {
    const kind = morServiceTypes.find((known) => known === type);
    if (kind === undefined) return null;
    const data = new Fields(root).object('data');
    const facts: ServiceFacts = {
      eventId,
      createdAt: eventTime(root),
      proformaInvoiceId: idOrNull(data, 'proformaInvoiceId') ?? proformaOf(kind, eventId),
      paymentLinkId: idOrNull(data, 'paymentLinkId'),
      eInvoiceId: idOrNull(data, 'eInvoiceId'),
      data,
    };
    const subject = facts.proformaInvoiceId ?? facts.paymentLinkId ?? facts.eInvoiceId ?? eventId;
    return {
      lane: channelLane(subject),
      event: kind === 'proforma_invoice.settled' ? readSettled(facts) : { kind, ...facts },
    };
  });
}

/**
 * Reads the members Document 2 shows: `proformaInvoiceId`, `status`, `settledAt`, `total`, `amountReceived`,
 * `recipient.legalName`.
 */
function readSettled(facts: ServiceFacts): ProformaSettled {
  const data = new Fields(facts.data);
  data.oneOf('status', ['SETTLED']);
  return {
    ...facts,
    kind: 'proforma_invoice.settled',
    proformaInvoiceId: data.id('proformaInvoiceId'),
    settledAt: data.time('settledAt'),
    total: readMoney(data, 'total'),
    amountReceived: readMoney(data, 'amountReceived'),
    recipientName: freeText(partOf(data.raw('recipient'))['legalName']),
  };
}

/** Reads `{amount, currency}`: a decimal string above zero, exact in the smallest unit of the currency. */
function readMoney(data: Fields, name: string): Money {
  const money = data.must(name, parseMoney);
  if (money.minor < 1n) throw new Unreadable(name, 'an exact amount above zero');
  return money;
}

/** The proforma invoice's id, from the event id: Document 2 builds event ids from it. */
function proformaOf(kind: MorServiceType, eventId: string): string | null {
  const prefix =
    kind === 'proforma_invoice.issued'
      ? 'evt_issued_'
      : kind === 'proforma_invoice.issuance_failed'
        ? 'evt_issuance_failed_'
        : null;
  if (prefix === null || !eventId.startsWith(prefix)) return null;
  const id = eventId.slice(prefix.length);
  return isId(id) ? id : null;
}

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
