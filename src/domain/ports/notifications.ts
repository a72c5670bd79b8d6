// What the merchant's backend is told: decided with a step of a lane, kept, and delivered apart from all that moves money.
import { type NewNotification } from '../notification.js';
import { type ReviewRow } from '../model.js';
import { type Page, type PageRequest, type Span } from '../page.js';

export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** One try to deliver. */
export type NotificationTry = {
  readonly at: Date;
  readonly status: number | null;
  /** Why it failed, in our words; null: it was delivered. */
  readonly why: string | null;
  readonly elapsedMs: number;
};

export type NotificationRow = NewNotification & {
  readonly status: NotificationStatus;
  /** Since it was written down, or put up again. */
  readonly attempts: number;
  /** The newest last; of very many only the newest are kept. */
  readonly tries: readonly NotificationTry[];
  /** Null: it is not tried any more. */
  readonly nextTryAt: Date | null;
  readonly deliveredAt: Date | null;
};

/** What is sent: the same bytes under the same id each time. */
export type Delivery = Pick<NewNotification, 'id' | 'body'>;

/** What became of a delivery. `gone`: the receiver wants no more of anything (410). */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly status: number | null;
  readonly why: string | null;
  readonly retryAfterMs: number | null;
  readonly elapsedMs: number;
};

/** The merchant's receiver. */
export abstract class Receiver {
  /** False: no NOTIFY_URL is set. */
  abstract readonly enabled: boolean;
  /** Sends once, freshly signed. Never rejects. */
  abstract send(delivery: Delivery, at: Date): Promise<DeliveryResult>;
}

/** A delivery that this process has taken on. */
export type TakenNotification = Delivery & {
  /** How often it was taken on, this time included. */
  readonly attempts: number;
};

/** What was not sent yet and no lane step sends. */
export type Untold = {
  readonly opened: readonly ReviewRow[];
  readonly dueSoon: readonly ReviewRow[];
  /** The newest verify run, if it found differences; null: it did not, or they were sent. */
  readonly runId: string | null;
};

export type NotificationStanding = {
  readonly pending: number;
  readonly dead: number;
  /** Since when the one that waits longest waits; null: none does. */
  readonly oldestPendingAt: Date | null;
  /** When the receiver answered 410; null: it takes what comes. */
  readonly goneAt: Date | null;
};

/** Most rows that `since` gives. */
export const LISTED_AT_ONCE = 1_000;

export type NotificationFilter = Span & { readonly status?: string; readonly type?: string };

export abstract class Notifications {
  /** The database's time. */
  abstract time(): Promise<Date>;
  /** Writes them down. One that is there already stays as it is. */
  abstract add(rows: readonly NewNotification[]): Promise<void>;
  /** Looks for what the backend should know and belongs to no step. `soonMs`: how long before its deadline a review item is due soon. */
  abstract untold(soonMs: number): Promise<Untold>;
  /** Takes on up to `limit` that are due; each is due again after `againInMs`, should this process die. None while the receiver is gone. */
  abstract take(limit: number, againInMs: number): Promise<readonly TakenNotification[]>;
  /** Writes down what became of one. `retryInMs` null: it failed for the last time. */
  abstract settle(taken: TakenNotification, told: DeliveryResult, retryInMs: number | null): Promise<void>;
  /** The receiver at this address wants no more; or takes what comes again. */
  abstract markGone(gone: boolean): Promise<void>;
  abstract list(filter: NotificationFilter, page: PageRequest): Promise<Page<NotificationRow>>;
  abstract one(id: string): Promise<NotificationRow | null>;
  /** To be sent again, from the first try on; a receiver that was gone is tried again. Null: there is no such notification. */
  abstract replay(id: string): Promise<NotificationRow | null>;
  /** Those written down since, the oldest `LISTED_AT_ONCE`, oldest first. */
  abstract since(at: Date): Promise<readonly NotificationRow[]>;
  abstract standing(): Promise<NotificationStanding>;
  /** Forgets those that were delivered or died longer ago. */
  abstract forget(days: number): Promise<number>;
}
