// Where an authentic body belongs in the inbox, by the door that it came through.
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
 * The lane of a stored event that is put up for another decision. What no release could use when it came waits in a lane of its own: one
 * that can read it now is worked with its invoice.
 */
export function laneAgain(source: InboxSource, lane: string, body: Buffer): string {
  if (!isBareEventLane(lane)) return lane;
  const place = PLACES[source](body);
  return place.verdict === 'usable' ? place.lane : lane;
}
