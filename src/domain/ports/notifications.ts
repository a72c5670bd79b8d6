// Notifications to the merchant's backend: decided with a step of a lane, kept, and delivered apart from all movements
// of money.
import { type NewNotification } from '../notification.js';
import { type ReviewRow } from '../model.js';
import { type Page, type PageRequest, type Span } from '../page.js';

export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** One try to deliver. */
export type NotificationTry = {
  readonly at: Date;
  readonly status: number | null;
  /** The reason of its failure, in our words; null: delivered. */
  readonly why: string | null;
  readonly elapsedMs: number;
};

export type NotificationRow = NewNotification & {
  readonly status: NotificationStatus;
  /** Since its first storing, or its replay. */
  readonly attempts: number;
  /** The newest last; of very many only the newest are kept. */
  readonly tries: readonly NotificationTry[];
  /** Null: no more tries. */
  readonly nextTryAt: Date | null;
  readonly deliveredAt: Date | null;
};

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

/** A delivery in this process's hands. */
export type TakenNotification = Delivery & {
  /** Number of times a process took it, this time included. */
  readonly attempts: number;
};

/** Unsent news outside any lane's step. */
export type Untold = {
  readonly opened: readonly ReviewRow[];
  readonly dueSoon: readonly ReviewRow[];
  /** The newest verify run with differences; null: it had none, or they went out. */
  readonly runId: string | null;
};

export type NotificationStanding = {
  readonly pending: number;
  readonly dead: number;
  /** Waiting time of the oldest one; null: none waits. */
  readonly oldestPendingAt: Date | null;
  /** Time of the receiver's 410; null: it takes everything. */
  readonly goneAt: Date | null;
};

/** Limit of rows of `since`. */
export const LISTED_AT_ONCE = 1_000;

export type NotificationFilter = Span & { readonly status?: string; readonly type?: string };

export abstract class Notifications {
  /** The database's time. */
  abstract time(): Promise<Date>;
  /** Stores them. An existing one stays unchanged. */
  abstract add(rows: readonly NewNotification[]): Promise<void>;
  /**
   * Looks for news for the backend outside any step. `soonMs`: a review item is due soon this long before its deadline.
   */
  abstract untold(soonMs: number): Promise<Untold>;
  /**
   * Takes up to `limit` due ones; each is due again after `againInMs`, should this process die. None while the receiver
   * is gone.
   */
  abstract take(limit: number, againInMs: number): Promise<readonly TakenNotification[]>;
  /** Stores one's result. `retryInMs` null: it failed for the last time. */
  abstract settle(taken: TakenNotification, told: DeliveryResult, retryInMs: number | null): Promise<void>;
  /** The receiver at this address wants no more, or takes deliveries again. */
  abstract markGone(gone: boolean): Promise<void>;
  abstract list(filter: NotificationFilter, page: PageRequest): Promise<Page<NotificationRow>>;
  abstract one(id: string): Promise<NotificationRow | null>;
  /** Sends it again, from the first try on; also tries a gone receiver again. Null: there is no such notification. */
  abstract replay(id: string): Promise<NotificationRow | null>;
  /** Those written down since, the oldest `LISTED_AT_ONCE`, oldest first. */
  abstract since(at: Date): Promise<readonly NotificationRow[]>;
  abstract standing(): Promise<NotificationStanding>;
  /** Forgets older delivered and dead ones. */
  abstract forget(days: number): Promise<number>;
}
