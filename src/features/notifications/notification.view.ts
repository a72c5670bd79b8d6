// A notification in the API's form.
import { isObject } from '@crossbill/mor/read.js';
import { NOTIFICATION_STATUSES, type NotificationRow, type NotificationTry } from '../../frames/store/notifications.js';
import {
  Count,
  CountOrNull,
  Example,
  Many,
  OpenOrNull,
  Text,
  TextIfAny,
  TextOrNull,
  Time,
  TimeIfAny,
  Word,
} from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { NOTIFICATION_TYPES } from './rules/all.js';

export class NotificationView {
  @Example('msg_123') @Text('The `webhook-id` of each delivery.') id!: string;
  @Word(NOTIFICATION_TYPES) type!: string;
  @Word(NOTIFICATION_STATUSES, '`dead`: Crossbill gave up after three days.') status!: string;
  @TextIfAny() invoice_id?: string | undefined;
  @Count('Tries since it was stored or replayed.') attempts!: number;
  @TextIfAny('Why the last try failed.') last_error?: string | undefined;
  @Time() created_at!: string;
  @TimeIfAny('Left out: no more tries.') next_try_at?: string | undefined;
  @TimeIfAny() delivered_at?: string | undefined;
}

export class NotificationTryView {
  @Time() at!: string;
  @CountOrNull('HTTP status; null: no answer.')
  status!: number | null;
  @TextOrNull('Why it failed; null: it was delivered.') error!: string | null;
  @Count('How long it took, in milliseconds.') elapsed_ms!: number;
}

export class NotificationWithTriesView extends NotificationView {
  @Many(NotificationTryView, 'Newest last; if there are very many, only the newest.')
  tries!: readonly NotificationTryView[];
  @OpenOrNull('The body of each delivery.') body!: Readonly<Record<string, unknown>> | null;
}

export function notificationView(notification: NotificationRow): NotificationView {
  return {
    id: notification.id,
    type: notification.type,
    status: notification.status,
    invoice_id: notification.invoiceId ?? undefined,
    attempts: notification.attempts,
    last_error: notification.tries.at(-1)?.why ?? undefined,
    created_at: timeOf(notification.at),
    next_try_at: timeOf(notification.nextTryAt) ?? undefined,
    delivered_at: timeOf(notification.deliveredAt) ?? undefined,
  };
}

export function notificationWithTriesView(notification: NotificationRow): NotificationWithTriesView {
  const body: unknown = JSON.parse(notification.body);
  return {
    ...notificationView(notification),
    tries: notification.tries.map(tryView),
    body: isObject(body) ? body : null,
  };
}

function tryView({ at, status, why, elapsedMs }: NotificationTry): NotificationTryView {
  return { at: timeOf(at), status, error: why, elapsed_ms: elapsedMs };
}
