// An authentic body's place in the inbox, by its webhook endpoint.
import { type InboxSource } from '../ports/inbox.js';
import { isBareEventLane } from './channel-lane.js';
import { type EventPlace } from './envelope.js';
import { parseMorPaymentEvent } from './mor-payment-event.js';
import { parseMorServiceEvent } from './mor-service-event.js';
import { placeStripeEvent } from './stripe-event.js';

export const PLACES: Readonly<Record<InboxSource, (body: Buffer) => EventPlace>> = {
  stripe: placeStripeEvent,
  mor_payments: parseMorPaymentEvent,
  mor_events: parseMorServiceEvent,
};

/**
 * The lane of a stored event at its next decision. A body unusable for every earlier release waits in its own lane:
 * once readable, it goes to its invoice's lane.
 */
export function laneAgain(source: InboxSource, lane: string, body: Buffer): string {
  if (!isBareEventLane(lane)) return lane;
  const place = PLACES[source](body);
  return place.verdict === 'usable' ? place.lane : lane;
}
