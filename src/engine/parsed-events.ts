// Events that the webhook endpoints of this process have parsed, for the worker of the same process. So a process parses
// each event once. Another replica, or this process after a restart, parses the stored bytes.
import { isChannelLane } from '../shared/domain/events/channel-lane.js';
import { type DeliveredEvent, type EventParser, type StoredEvent } from '../shared/domain/events/stored-event.js';
import { type EventSource, type InboxSource } from '../shared/domain/ports/inbox.js';

/** The bytes behind the kept events. This is a second's deliveries on two cores: workers are rarely further behind. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The name of an event, and its bytes. */
type EventBytes = { readonly source: EventSource; readonly eventId: string; readonly body: Buffer };
type Kept = { readonly body: Buffer; readonly event: DeliveredEvent };

export class ParsedEvents {
  /** The oldest first. */
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  constructor(
    private readonly parser: EventParser,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  /** Parses a delivery. Never throws. */
  parse(source: InboxSource, body: Buffer): DeliveredEvent {
    return this.parser.delivered(source, body);
  }

  /** Keeps a parsed event. The oldest events make room for it. */
  keep(delivered: EventBytes, event: DeliveredEvent): void {
    const name = nameOf(delivered);
    this.drop(name);
    this.kept.set(name, { body: delivered.body, event });
    this.bytes += delivered.body.length;
    for (const [oldest] of this.kept) {
      if (this.bytes <= this.mostBytes) break;
      this.drop(oldest);
    }
  }

  /**
   * Reads a stored event. Forgets it, because its worker keeps it until the decision. An event without an invoice stays
   * for the worker of its invoice.
   */
  read(stored: EventBytes & { readonly lane: string }): StoredEvent {
    const name = nameOf(stored);
    const kept = this.kept.get(name);
    if (!isChannelLane(stored.lane)) this.drop(name);
    // The stored bytes count: since the delivery an erasure may have removed them, and another event may have this id
    // after a failover.
    return kept?.body.equals(stored.body) === true ? kept.event : this.parser.stored(stored.source, stored.body);
  }

  private drop(name: string): void {
    this.bytes -= this.kept.get(name)?.body.length ?? 0;
    this.kept.delete(name);
  }
}

const nameOf = ({ source, eventId }: EventBytes): string => `${source}\n${eventId}`;
