// The receiver of notifications: the merchant's backend.
import { type NewNotification } from '../notification.js';

/** What Crossbill sends: every try has the same bytes and the same id. */
export type Delivery = Pick<NewNotification, 'id' | 'body'>;

/** The result of a delivery. `gone`: the receiver wants no notifications any more (410). */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly status: number | null;
  readonly why: string | null;
  readonly retryAfterMs: number | null;
  readonly elapsedMs: number;
};

/** The merchant's receiver. */
export abstract class Receiver {
  /** False: NOTIFY_URL is not set. */
  abstract readonly enabled: boolean;
  /** Sends once, with a new signature. Never rejects. */
  abstract send(delivery: Delivery, at: Date): Promise<DeliveryResult>;
}
