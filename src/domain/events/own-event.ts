// Events of Crossbill itself (source `crossbill`): a writer outside the rules tells a lane, so the engine alone opens and closes items.
import { type InboxSource } from '../ports/inbox.js';
import { type ReviewRow } from '../model.js';
import { itemLane } from './channel-lane.js';
import { parseBody } from './json-body.js';

export type OwnEvent =
  /** No charge of the signup is known. `since`: ISO 8601. */
  | { readonly type: 'signup.overdue'; readonly signup: string; readonly customer: string; readonly since: string }
  | { readonly type: 'signup.completed'; readonly signup: string }
  /** An event came a second time with another body. */
  | {
      readonly type: 'event.second_body';
      readonly source: InboxSource;
      readonly event: string;
      readonly event_type: string;
    };

export type OwnType = OwnEvent['type'];

/** An event as it is stored. `id`: the same for the same cause, so it is stored once. */
export type OwnDelivery = { readonly id: string; readonly lane: string; readonly event: OwnEvent };

/** The item about a signup stands in a lane of its own. */
export function ofSignup(event: Extract<OwnEvent, { readonly signup: string }>): OwnDelivery {
  return { id: `${event.type}:${event.signup}`, lane: itemLane(event.signup), event };
}

/** The name of the item about a second body. */
export function secondBodySubject({
  source,
  event,
}: Pick<Extract<OwnEvent, { source: unknown }>, 'source' | 'event'>): string {
  return `${source}:${event}`;
}

/** Topics of items in a lane of their own, without an invoice. */
const ALONE: ReadonlySet<string> = new Set(['signup-unpaid', 'second-body']);

/** The lane of an item; null: it stands in none (an event that names nothing). */
export function laneOfItem({
  invoiceId,
  topic,
  subject,
}: Pick<ReviewRow, 'invoiceId' | 'topic' | 'subject'>): string | null {
  return invoiceId ?? (ALONE.has(topic) ? itemLane(subject) : null);
}

/** Reads the stored bytes; null: they are none of ours. */
export function parseOwnEvent(body: Buffer): OwnEvent | null {
  const read = parseBody(body);
  if (!read.ok) return null;
  const { type, signup, customer, since, source, event, event_type } = read.value;
  switch (type) {
    case 'signup.overdue':
      return isText(signup) && isText(customer) && isText(since) ? { type, signup, customer, since } : null;
    case 'signup.completed':
      return isText(signup) ? { type, signup } : null;
    case 'event.second_body':
      return isSource(source) && isText(event) && isText(event_type) ? { type, source, event, event_type } : null;
    default:
      return null;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isSource = (value: unknown): value is InboxSource =>
  value === 'stripe' || value === 'mor_payments' || value === 'mor_events';
