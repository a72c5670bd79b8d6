// Notifications to the merchant's backend: everything the rest of Crossbill gets from this folder.
import { feature } from '../../feature.js';

export const notifications = feature({
  name: 'notifications',
  modules: async () => [(await import('./notifications.module.js')).NotificationsModule],
});
