// Retries of failed renewals: everything the rest of Crossbill gets from this folder.
import './facts.js';
import { feature } from '../../feature.js';
import { offerRetry } from './rules/decide-retry.js';
import { applyMethod, applyRefusal } from './rules/refusal.js';
import { retryNotifications, tellRetries } from './rules/notifications.js';
import { retries as lane } from './subject.js';
import { retryWords } from './words.js';

export const retries = feature({
  name: 'retries',
  modules: async () => [(await import('./retries.module.js')).RetriesModule],
  commands: {
    act: [
      {
        name: 'retry',
        about: 'try a failed renewal again (in_…), or decide an event again, as `events retry` does',
        load: async () => (await import('./retry.command.js')).addRetry,
      },
    ],
  },
  status: async () => (await import('./retries.status.js')).status,
  lanes: [lane],
  callWords: {
    retry_charge: { toDo: 'ask the MoR to charge again', done: 'Asked the MoR to charge again' },
    mark_uncollectible: {
      toDo: 'mark the invoice uncollectible on Stripe',
      done: 'Marked the invoice uncollectible on Stripe',
    },
    cancel_subscription: {
      toDo: 'cancel the subscription on Stripe',
      done: 'Cancelled the subscription on Stripe',
    },
  },
  retries: { applyRefusal, offer: offerRetry, applyMethod },
  notifications: retryNotifications,
  tell: tellRetries,
  words: retryWords,
});
