// Makes a notification before its delivery: its id and its exact bytes.
import { createHash } from 'node:crypto';
import {
  type NewNotification,
  type NotificationType,
  type NotifyAs,
  type Notice,
} from '../../../shared/domain/notification.js';
import { type Feature, join, type Notify } from '../../../feature.js';
import { CORE_NOTIFICATIONS } from '../../../shared/domain/core-notifications.js';
import { type AllNotifications, inWords } from './in-words.js';
import { tellLane } from './tell-lane.js';

/**
 * The id comes from the type and from `subject`, a text that differs between two notifications of one type. So the same
 * notification has the same id even after a restored backup, and receivers recognise it.
 */
export function notificationId(type: NotificationType, subject: string): string {
  return `msg_${createHash('sha256').update(`${type}\n${subject}`).digest('hex').slice(0, 32)}`;
}

/** Makes notifications, with the sentences of the core and of these features. */
export function notifyWith(features: readonly Feature[]): Notify {
  const all: Partial<AllNotifications> = { ...CORE_NOTIFICATIONS, ...join(features, 'notifications') };

  function putDown(notice: Notice, as: NotifyAs, at: Date): NewNotification {
    const { type, subject, data } = notice;
    const invoiceId = 'invoice_id' in data ? data.invoice_id : null;
    const event = { type, timestamp: at.toISOString(), data };
    const format = as.notifyFormat;
    const body = JSON.stringify(format === 'slack' ? { text: inWords(all, notice, as.consoleUrl) } : event);
    return { id: notificationId(type, subject), type, subject, invoiceId, format, body, at };
  }

  return {
    putDown,
    putDownStep: (before, after, as, at) => {
      const notified = tellLane(before, after, features).map((one) => putDown(one, as, at));
      if (notified.length === 0) return { after, notified };
      const lines = notified.map(({ id, type }) => {
        return {
          lane: after.lane,
          at,
          kind: 'decision',
          ref: id,
          text: `your backend is notified: ${type}`,
          detail: { notified: type },
        } as const;
      });
      return { after: { ...after, journal: [...after.journal, ...lines] }, notified };
    },
  };
}
