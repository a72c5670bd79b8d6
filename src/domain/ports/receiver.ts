// The merchant's backend: where notifications go.
import { type NewNotification } from '../notification.js';

/** The sent content: the same bytes under the same id each time. */
export type Delivery = Pick<NewNotification, 'id' | 'body'>;

/** A delivery's result. `gone`: the receiver wants no more of anything (410). */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly status: number | null;
  readonly why: string | null;
  readonly retryAfterMs: number | null;
  readonly elapsedMs: number;
};

/** The merchant's receiver. */
export abstract class Receiver {
  /** False: NOTIFY_URL is unset. */
  abstract readonly enabled: boolean;
  /** Sends once, freshly signed. Never rejects. */
  abstract send(delivery: Delivery, at: Date): Promise<DeliveryResult>;
}
