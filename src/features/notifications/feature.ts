// Notifications to the merchant's backend: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';
import { FORGET_WORDS } from './erased.js';
import { notifyWith } from './rules/put-down.js';

export const notifications = feature({
  name: 'notifications',
  modules: async () => [(await import('./notifications.module.js')).NotificationsModule],
  notify: notifyWith,
  erased: { texts: [FORGET_WORDS] },
  webhooks: async () => (await import('./notification.schema.js')).notificationWebhooks(),
  commands: {
    look: [
      {
        name: 'notifications',
        about: 'the notifications to your backend (NOTIFY_URL)',
        load: async () => (await import('./notifications.command.js')).addNotifications,
      },
      {
        name: 'listen',
        about: 'print notifications as Crossbill writes them; --forward sends them on to this machine',
        load: async () => (await import('./notifications.command.js')).addListen,
      },
      {
        name: 'trigger',
        about: 'send a sample notification to NOTIFY_URL, signed; nothing is stored',
        load: async () => (await import('./notifications.command.js')).addTrigger,
      },
    ],
  },
  status: async () => (await import('./notifications.status.js')).status,
  checks: async () => (await import('./notify-checks.js')).checks,
});
