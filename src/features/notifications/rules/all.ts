// All notifications, for the API document, the console and the command line. Loaded late: the list of features must be
// complete.
import { join } from '../../../feature.js';
import { FEATURES } from '../../../features.js';
import { CORE_NOTIFICATIONS } from '../../../shared/domain/core-notifications.js';
import { sampleOfFields } from '../../../shared/domain/notification-fields.js';
import { type NotificationType, type Notice } from '../../../shared/domain/notification.js';
import { type AllNotifications } from './in-words.js';
import { notifyWith } from './put-down.js';

/** Every notification, in the order of the reference: those of the core, and those of the features. */
export const NOTIFICATIONS: AllNotifications = { ...CORE_NOTIFICATIONS, ...join(FEATURES, 'notifications') };

export const NOTIFICATION_TYPES = Object.keys(NOTIFICATIONS) as readonly NotificationType[];

export const { putDown, putDownStep } = notifyWith(FEATURES);

/** A sample notification. Each `subject` gives the sample another id. */
export function sampleOf(type: NotificationType, subject: string): Notice {
  // The table pairs each type with its own data. The compiler cannot see this, so a cast says it.
  return { type, subject, data: sampleOfFields(NOTIFICATIONS[type].fields) } as Notice;
}
