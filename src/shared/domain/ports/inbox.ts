// The inbox. Crossbill stores every authentic event here one time, before it acknowledges the delivery.

/** The senders of webhooks. */
export type InboxSource = 'stripe' | 'mor_payments' | 'mor_events';

/** The source of a stored event: a sender of webhooks, or Crossbill itself (events/own-event.ts). */
export type EventSource = InboxSource | 'crossbill';

/** A delivery after the signature check, as the webhook endpoint stores it. */
export type Delivery = {
  readonly source: InboxSource;
  /** The sender's event id, or `sha256:<hex of the body>` if there is no usable id. */
  readonly eventId: string;
  /** The sender's event type. Empty: the event has none. */
  readonly type: string;
  /** The name of the event's lane, usually the invoice id. Crossbill works on the events of one lane one at a time. */
  readonly lane: string;
  readonly body: Buffer; // the bytes as received
  /**
   * `received`: a rule will decide. `ignored`: Crossbill does not use the type. `parked`: authentic but unusable, so a
   * person must look.
   */
  readonly status: 'received' | 'ignored' | 'parked';
  /** Why the event was ignored or parked. Null if `received`. */
  readonly reason: string | null;
  /** The time of arrival by this process's clock. The database stores its own time. */
  readonly receivedAt: Date;
};

/**
 * The result of storing a delivery. `stored`: the event is new. `duplicate`: same id, same event. `conflict`: same id,
 * another body. Crossbill keeps the second body in quarantine and opens a review item.
 */
export type StoreOutcome = 'stored' | 'duplicate' | 'conflict';

export abstract class Inbox {
  /**
   * Stores a batch in one transaction. Resolves after the commit, with results in the given order. Rejects if the
   * database did not confirm the commit in time. The senders must then try again.
   */
  abstract store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]>;
  /** Stores a copy of an authentic delivery with a time outside the tolerance. The copy has no effect. */
  abstract quarantine(delivery: Delivery, reason: string): Promise<void>;
}
