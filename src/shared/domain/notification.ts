// A notification to the merchant's backend. It has ids, amounts, statuses and times. Since a chat room may receive it, it
// has no secret and no text written by a person, Stripe or the MoR, except the MoR's failure message. The sentence for
// Slack leaves this message out.
import { type CORE_NOTIFICATIONS } from './core-notifications.js';
import { type Data } from './notification-fields.js';

/**
 * The notifications of the features, by type. Empty here: each feature adds its own with `declare module`, so a deleted
 * folder takes its notifications with it.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the features extend it
export interface FeatureNotifications {}

type All = typeof CORE_NOTIFICATIONS & FeatureNotifications;
export type NotificationType = keyof All;
export type DataOf<T extends NotificationType> = Data<All[T]['fields']>;

/** One notification. `subject` identifies it for good: the same type and subject are the same notification. */
export type Notice<T extends NotificationType = NotificationType> = {
  [K in T]: { readonly type: K; readonly subject: string; readonly data: DataOf<K> };
}[T];

export type NotifyFormat = 'standard' | 'slack';

/** How a receiver wants its notifications: two of the settings. */
export type NotifyAs = { readonly notifyFormat: NotifyFormat; readonly consoleUrl: string | null };

/** A stored notification. Every try sends the same body. */
export type NewNotification = {
  /** The `webhook-id` header. */
  readonly id: string;
  readonly type: NotificationType;
  readonly subject: string;
  /** Null: the notification is about no invoice. */
  readonly invoiceId: string | null;
  readonly format: NotifyFormat;
  readonly body: string;
  /** When the event happened, or when Crossbill noticed it. */
  readonly at: Date;
};
