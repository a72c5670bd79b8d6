// Crossbill's own events (source `crossbill`). Only the engine opens and closes review items. So if other code, such as
// a timer, needs an item, it sends one of these events to the engine.
import { type InboxSource } from '../ports/inbox.js';
import { type ReviewRow } from '../review-row.js';
import { itemLane } from './channel-lane.js';
import { parseBody } from './json-body.js';

export type OwnEvent =
  /** A signup for which Crossbill knows no charge. `since`: ISO 8601. */
  | { readonly type: 'signup.overdue'; readonly signup: string; readonly customer: string; readonly since: string }
  | { readonly type: 'signup.completed'; readonly signup: string }
  /** An event arrived a second time with another body. */
  | {
      readonly type: 'event.second_body';
      readonly source: InboxSource;
      readonly event: string;
      readonly event_type: string;
    };

export type OwnType = OwnEvent['type'];

/** An event of our own, ready to store. The same cause gives the same `id`, so the inbox has it only one time. */
export type OwnDelivery = { readonly id: string; readonly lane: string; readonly event: OwnEvent };

/** Makes the delivery of an event about a signup. The signup's review item has a lane of its own. */
export function ofSignup(event: Extract<OwnEvent, { readonly signup: string }>): OwnDelivery {
  return { id: `${event.type}:${event.signup}`, lane: itemLane(event.signup), event };
}

/** The `subject` of the review item about two bodies with one event id. */
export function secondBodySubject({
  source,
  event,
}: Pick<Extract<OwnEvent, { source: unknown }>, 'source' | 'event'>): string {
  return `${source}:${event}`;
}

/** The topics of review items without an invoice. Each of these items has its own lane. */
const ALONE: ReadonlySet<string> = new Set(['signup-unpaid', 'second-body']);

/**
 * The lane of a review item: the lane of its invoice, or for some topics a lane of its own. Null: the item has neither.
 */
export function laneOfItem({
  invoiceId,
  topic,
  subject,
}: Pick<ReviewRow, 'invoiceId' | 'topic' | 'subject'>): string | null {
  return invoiceId ?? (ALONE.has(topic) ? itemLane(subject) : null);
}

/** Parses stored bytes of our own event. Null: Crossbill did not write these bytes. */
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
