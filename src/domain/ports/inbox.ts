// The inbox: every authentic delivery, stored once before its acknowledgement.

/** The senders of webhooks. */
export type InboxSource = 'stripe' | 'mor_payments' | 'mor_events';

/** `crossbill`: a writer of ours outside the rules (events/own-event.ts). */
export type EventSource = InboxSource | 'crossbill';

/** The webhook endpoint's knowledge of a delivery after the signature check. */
export type Delivery = {
  readonly source: InboxSource;
  /** The sender's event id; `sha256:<hex of the body>` without a usable one. */
  readonly eventId: string;
  /** The sender's event type; empty when it has none. */
  readonly type: string;
  /** The event's object: events of one lane are worked one at a time. Usually the invoice id. */
  readonly lane: string;
  readonly body: Buffer; // the bytes as they came
  /** `received`: to decide. `ignored`: a type we do not use. `parked`: authentic but unusable, a person must look. */
  readonly status: 'received' | 'ignored' | 'parked';
  /** Why it was ignored or parked; null for `received`. */
  readonly reason: string | null;
  /** By this process's clock; the stored time is the database's. */
  readonly receivedAt: Date;
};

/**
 * `stored`: new. `duplicate`: same id, same event. `conflict`: same id, another body (kept aside, with a review item).
 */
export type StoreOutcome = 'stored' | 'duplicate' | 'conflict';

export abstract class Inbox {
  /**
   * Stores a batch in one transaction and resolves after the commit, in the given order. Rejects if the database did
   * not confirm the commit in time: then tell the senders to try again.
   */
  abstract store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]>;
  /** Keeps a copy of an authentic delivery without any effect (its time is outside the tolerance). */
  abstract quarantine(delivery: Delivery, reason: string): Promise<void>;
}
