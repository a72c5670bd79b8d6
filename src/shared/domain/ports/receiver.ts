// The receiver of notifications: the merchant's backend.
import { type NewNotification } from '../notification.js';

/** The id and the bytes of a notification: the same on every try. */
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
  /** False: the setting NOTIFY_URL is empty. */
  abstract readonly enabled: boolean;
  /** Sends the notification one time, with a new signature. Never rejects. */
  abstract send(delivery: Delivery, at: Date): Promise<DeliveryResult>;
}
