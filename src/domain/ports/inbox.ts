// The inbox: every authentic delivery, stored once before it is acknowledged.

export type InboxSource = 'stripe' | 'mor_payments' | 'mor_events';

/** What the doors know about a delivery once its signature was checked. */
export type Delivery = {
  readonly source: InboxSource;
  /** The sender's event id; `sha256:<hex of the body>` when it has none that can be used. */
  readonly eventId: string;
  /** The sender's event type; empty when it has none. */
  readonly type: string;
  /** What the event is about: events of one lane are worked one at a time. Usually the invoice id. */
  readonly lane: string;
  readonly body: Buffer; // the bytes as they came
  /** `received`: to be decided. `ignored`: a type we do not use. `parked`: authentic but unusable, a person must look. */
  readonly status: 'received' | 'ignored' | 'parked';
  /** Why it was ignored or parked; null for `received`. */
  readonly reason: string | null;
  /** By this process's clock: what is stored is the database's time. */
  readonly receivedAt: Date;
};

/** `stored`: new. `duplicate`: same id, same event. `conflict`: same id, another body (kept aside, a review item was made). */
export type StoreOutcome = 'stored' | 'duplicate' | 'conflict';

export abstract class Inbox {
  /**
   * Stores a batch in one transaction and resolves after the commit, in the order given. Rejects when the database did not
   * confirm the commit in time: the senders must then be told to try again.
   */
  abstract store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]>;
  /** Keeps a copy of an authentic delivery that must have no effect (its time is outside the tolerance). */
  abstract quarantine(delivery: Delivery, reason: string): Promise<void>;
}
