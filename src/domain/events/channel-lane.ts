// The names of lanes without an invoice. No sender and no caller may give an invoice such a name: its work would land
// in the wrong lane.
import { type Fields, Unreadable } from '@crossbill/mor/read.js';

/** Begins the lane of an event without its invoice. The event waits there until Crossbill knows the invoice. */
const CHANNEL = 'mor:';
/** Begins the lane of an unusable delivery. The delivery is parked there alone. */
const BARE_EVENT = 'event:';

/** @param subject the MoR's id of the event's object */
export function channelLane(subject: string): string {
  return CHANNEL + subject;
}

export function isChannelLane(lane: string): boolean {
  return lane.startsWith(CHANNEL);
}

/** @param source the webhook endpoint of the event; event ids are unique per source */
export function bareEventLane(source: string, eventId: string): string {
  return `${BARE_EVENT}${source}:${eventId}`;
}

export function isBareEventLane(lane: string): boolean {
  return lane.startsWith(BARE_EVENT);
}

/** Begins the lane of an item without an invoice. The lane holds the item and the item's timeline. */
const ITEM = 'item:';

/** @param subject the name of the item */
export function itemLane(subject: string): string {
  return ITEM + subject;
}

/** True if Crossbill uses this name for a lane of its own. Stripe's invoice ids never look like this. */
export function isInnerLane(name: string): boolean {
  return isChannelLane(name) || isBareEventLane(name) || name.startsWith(ITEM);
}

/** Reads the id of an invoice. The lane of the invoice has this id as its name. */
export function readInvoiceId(fields: Fields, name: string): string {
  const id = fields.id(name);
  if (isInnerLane(id)) throw new Unreadable(name, 'an invoice id');
  return id;
}
