// Names of the lanes without an invoice. If a sender's invoice id looks like such a name, Crossbill refuses it:
// otherwise the work on that invoice would land in the wrong lane.
import { type Fields, Unreadable } from '@crossbill/mor/read.js';

/** The prefix of a lane for an event without its invoice. The event waits there until Crossbill knows the invoice. */
const CHANNEL = 'mor:';
/** The prefix of a lane for an unusable delivery. The delivery is parked there alone. */
const BARE_EVENT = 'event:';

/**
 * The lane of an event whose invoice is unknown.
 * @param subject the MoR's id of the event's object
 */
export function channelLane(subject: string): string {
  return CHANNEL + subject;
}

export function isChannelLane(lane: string): boolean {
  return lane.startsWith(CHANNEL);
}

/**
 * The lane of an unusable delivery.
 * @param source the webhook endpoint of the event; event ids are unique per source
 */
export function bareEventLane(source: string, eventId: string): string {
  return `${BARE_EVENT}${source}:${eventId}`;
}

export function isBareEventLane(lane: string): boolean {
  return lane.startsWith(BARE_EVENT);
}

/** The prefix of a lane for a review item without an invoice. The lane has the item and the item's timeline. */
const ITEM = 'item:';

/**
 * The lane of a review item without an invoice.
 * @param subject the id of the item's object, for example of a signup
 */
export function itemLane(subject: string): string {
  return ITEM + subject;
}

/** True if the name belongs to a lane without an invoice. Stripe's invoice ids never look like this. */
export function isInnerLane(name: string): boolean {
  return isChannelLane(name) || isBareEventLane(name) || name.startsWith(ITEM);
}

/** The lane in a log line: the invoice's id, or what events without an invoice are about. */
export function nameLane(lane: string): { readonly invoice: string } | { readonly about: string } {
  return isInnerLane(lane) ? { about: lane } : { invoice: lane };
}

/**
 * Reads the id of an invoice from a field, and refuses a reserved lane name: the id becomes the name of the invoice's
 * lane.
 */
export function readInvoiceId(fields: Fields, name: string): string {
  const id = fields.id(name);
  if (isInnerLane(id)) throw new Unreadable(name, 'an invoice id');
  return id;
}
