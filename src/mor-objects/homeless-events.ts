// Events of the MoR that do not name their invoice: where they belong, and moving them there.
import { type ReviewRow } from '../domain/model.js';
import { type EventVerdict, type WaitingEvent } from '../engine/lane-store.js';

/** Something we know, found by an id that an event carried. */
export type Home = {
  /** The id it was found by. */
  readonly id: string;
  readonly what: 'object' | 'message' | 'payment' | 'refund' | 'invoice' | 'signup';
  /** Null: a signup whose invoice is not known yet. */
  readonly invoiceId: string | null;
};

/** An event that waits, or one that was decided as unknown and has an open item. */
export type RoutedEvent = WaitingEvent & {
  /** The open item that says that nobody knows what it is about; null: it has not been decided. */
  readonly reviewId: string | null;
  /** Milliseconds since it came, by the database's time. */
  readonly waitedMs: number;
};

export type Routing =
  | { readonly id: bigint; readonly do: 'move'; readonly invoiceId: string }
  | { readonly id: bigint; readonly do: 'wait'; readonly forMs: number }
  | (EventVerdict & { readonly do: 'decide'; readonly review: ReviewRow | null });

export abstract class HomelessEvents {
  /** The lane's events that wait, and those whose item is still open. */
  abstract load(lane: string): Promise<readonly RoutedEvent[]>;
  /** What these ids are known for, in one look. */
  abstract homes(ids: readonly string[]): Promise<readonly Home[]>;
  /**
   * Writes the routing down in one transaction: moves go to their invoice's lane and are worked there, and their
   * items close; items are opened once.
   * `lookAgainInMs`: after so long this lane is looked at again; null: when something comes. Throws LaneFenced.
   */
  abstract route(
    lane: string,
    fence: bigint,
    routings: readonly Routing[],
    lookAgainInMs: number | null,
  ): Promise<void>;
}
