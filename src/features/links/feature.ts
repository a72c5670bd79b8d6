// Payment links, on request and after a failed renewal: everything the rest of Crossbill gets from this folder.
import './facts.js';
import { captured } from '../../core/mor-objects/rules/capture.js';
import { feature } from '../../feature.js';
import { applyCaptured } from './rules/announced.js';
import { linkNotifications, tellLinks } from './rules/notifications.js';
import { links as lane, recovery } from './subject.js';
import { linkWords } from './words.js';

export const links = feature({
  name: 'links',
  modules: async () => [(await import('./links.module.js')).LinksModule],
  lanes: [lane, recovery],
  events: { 'payment.captured': { ...captured, apply: applyCaptured } },
  callWords: {
    create_payment_link: {
      toDo: 'request a payment link from the MoR',
      done: 'Requested a payment link from the MoR',
    },
  },
  notifications: linkNotifications,
  tell: tellLinks,
  words: linkWords,
});
