// Finds the place of an authentic event in the inbox (id, type and lane), for each webhook endpoint.
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
 * The lane for another decision on a stored event. An event in a lane of its own was unusable or ignored. If this
 * release can use the event, the event moves to the lane of its invoice or object. If not, the event stays.
 */
export function laneAgain(source: InboxSource, lane: string, body: Buffer): string {
  if (!isBareEventLane(lane)) return lane;
  const place = PLACES[source](body);
  return place.verdict === 'usable' ? place.lane : lane;
}
