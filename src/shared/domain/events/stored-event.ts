// An event of any source, parsed from its bytes.
import { type EventSource, type InboxSource } from '../ports/inbox.js';
import { isBareEventLane } from './channel-lane.js';
import { type ParsedEvent } from './envelope.js';
import { type MorPaymentEvent, parseMorPaymentEvent } from './mor-payment-event.js';
import { type MorServiceEvent, parseMorServiceEvent, type ServiceReaders } from './mor-service-event.js';
import { type OwnEvent, parseOwnEvent } from './own-event.js';
import { parseStripeEvent, type StripeEvent } from './stripe-event.js';

/** A sender's event. */
export type DeliveredEvent =
  | { readonly source: 'stripe'; readonly parsed: ParsedEvent<StripeEvent> }
  | { readonly source: 'mor_payments'; readonly parsed: ParsedEvent<MorPaymentEvent> }
  | { readonly source: 'mor_events'; readonly parsed: ParsedEvent<MorServiceEvent> };

/** A sender's event, or Crossbill's own. `parsed` null: the bytes are not those of an event of Crossbill. */
export type StoredEvent = DeliveredEvent | { readonly source: 'crossbill'; readonly parsed: OwnEvent | null };

/** Parses deliveries. It knows the MoR's service events by their readers. */
export class EventParser {
  constructor(private readonly readers: ServiceReaders) {}

  /** Parses a delivery. Never throws. */
  delivered(source: InboxSource, body: Buffer): DeliveredEvent {
    switch (source) {
      case 'stripe':
        return { source, parsed: parseStripeEvent(body) };
      case 'mor_payments':
        return { source, parsed: parseMorPaymentEvent(body) };
      case 'mor_events':
        return { source, parsed: parseMorServiceEvent(body, this.readers) };
    }
  }

  /** Parses the stored bytes of an event. Never throws. */
  stored(source: EventSource, body: Buffer): StoredEvent {
    return source === 'crossbill' ? { source, parsed: parseOwnEvent(body) } : this.delivered(source, body);
  }

  /**
   * The lane for another decision on a stored event. An event in a lane of its own was unusable or ignored. If this
   * release can use the event, the event moves to the lane of its invoice or object. If not, the event stays.
   */
  laneAgain(source: InboxSource, lane: string, body: Buffer): string {
    if (!isBareEventLane(lane)) return lane;
    const { parsed } = this.delivered(source, body);
    return parsed.usability === 'usable' ? parsed.lane : lane;
  }
}
