// An event of the inbox or the quarantine in the API's form.
import { parseBody } from '../../shared/domain/events/json-body.js';
import { type EventRow } from './event-list.repository.js';
import {
  Count,
  Example,
  OpenOrNull,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeIfAny,
  Word,
} from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { masked } from '../../shared/masks/event-body.js';

export const EVENT_SOURCES = ['stripe', 'mor_payments', 'mor_events', 'crossbill'] as const;
export const EVENT_STATUSES = ['received', 'done', 'ignored', 'parked', 'quarantined'] as const;

export class EventView {
  @Example('ie_123') @Text('`ie_…` in the inbox, `iq_…` in quarantine.') id!: string;
  @Word(EVENT_SOURCES) source!: (typeof EVENT_SOURCES)[number];
  @Example('evt_123') @Text("The sender's own id.") event_id!: string;
  @Example('invoice.created') @Text("The sender's type; empty if the event has none.") type!: string;
  @Word(EVENT_STATUSES) status!: (typeof EVENT_STATUSES)[number];
  @TextIfAny('Why Crossbill ignored, parked or quarantined it.') reason?: string | undefined;
  @TextIfAny('The note of the person who dismissed it.') note?: string | undefined;
  @Count('Failed attempts to decide it; in quarantine, its deliveries.') attempts!: number;
  @Time() received_at!: string;
  @TimeIfAny() decided_at?: string | undefined;
}

export class EventWithBodyView extends EventView {
  @Example('in_123')
  @Text('Its subject, usually the invoice: Crossbill works on the events of one lane one at a time.')
  lane!: string;
  @Example({ id: 'evt_123', type: 'invoice.created' })
  @OpenOrNull('The body with personal data masked; null for anything but a JSON object, and after a purge.')
  body!: Readonly<Record<string, unknown>> | null;
  @TextOrNull('Why there is no body to show.') body_note!: string | null;
}

/** An event in a list for people, with its lane and its invoice's number. */
export type ListedEvent = EventView & { readonly lane: string; readonly invoice_number?: string | undefined };

export function listedEvent(event: EventRow): ListedEvent {
  return { ...eventView(event), lane: event.lane, invoice_number: event.invoiceNumber ?? undefined };
}

export function eventView(event: EventRow): EventView {
  return {
    id: event.id,
    source: event.source,
    event_id: event.eventId,
    type: event.type,
    status: event.status,
    reason: event.reason ?? undefined,
    note: event.note ?? undefined,
    attempts: event.attempts,
    received_at: timeOf(event.receivedAt),
    decided_at: timeOf(event.decidedAt) ?? undefined,
  };
}

export function eventWithBodyView(event: EventRow & { readonly body: Buffer | null }): EventWithBodyView {
  return { ...eventView(event), lane: event.lane, ...bodyOf(event.body) };
}

function bodyOf(bytes: Buffer | null): Pick<EventWithBodyView, 'body' | 'body_note'> {
  if (bytes === null) return { body: null, body_note: 'the body was purged' };
  const parsed = parseBody(bytes);
  if (!parsed.ok) return { body: null, body_note: `${bytes.length} bytes: ${parsed.reason}` };
  return { body: masked(parsed.value) as Record<string, unknown>, body_note: null };
}
