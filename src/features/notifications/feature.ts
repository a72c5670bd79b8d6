// Notifications to the merchant's backend: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';
import { FORGET_WORDS } from './erased.js';
import { putDown, putDownStep } from './rules/put-down.js';

export const notifications = feature({
  name: 'notifications',
  modules: async () => [(await import('./notifications.module.js')).NotificationsModule],
  notify: { putDown, putDownStep },
  erased: { texts: [FORGET_WORDS] },
  webhooks: async () => (await import('./notification.schema.js')).notificationWebhooks(),
  commands: async () => (await import('./notifications.command.js')).commands,
  status: async () => (await import('./notifications.status.js')).status,
  checks: async () => (await import('./notify-checks.js')).checks,
});
