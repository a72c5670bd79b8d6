// The names of lanes without an invoice. No sender and no caller may name an invoice like one, or its work would happen
// there.
import { type Fields, Unreadable } from '@crossbill/mor/read.js';

/** An event without its invoice: it waits there until its place is known. */
const CHANNEL = 'mor:';
/** An unusable delivery: parked alone. */
const BARE_EVENT = 'event:';

/** @param subject the MoR's id of the event's object */
export function channelLane(subject: string): string {
  return CHANNEL + subject;
}

export function isChannelLane(lane: string): boolean {
  return lane.startsWith(CHANNEL);
}

/** @param source the door it came through; event ids are unique per source */
export function bareEventLane(source: string, eventId: string): string {
  return `${BARE_EVENT}${source}:${eventId}`;
}

export function isBareEventLane(lane: string): boolean {
  return lane.startsWith(BARE_EVENT);
}

/** An item without an invoice: the lane holds that item and its story. */
const ITEM = 'item:';

/** @param subject the item's name */
export function itemLane(subject: string): string {
  return ITEM + subject;
}

/** True for an impossible invoice id: Stripe's never look like this. */
export function isInnerLane(name: string): boolean {
  return isChannelLane(name) || isBareEventLane(name) || name.startsWith(ITEM);
}

/** The id of an invoice of the billing platform, which names the lane it is worked in. */
export function readInvoiceId(fields: Fields, name: string): string {
  const id = fields.id(name);
  if (isInnerLane(id)) throw new Unreadable(name, 'an invoice id');
  return id;
}
