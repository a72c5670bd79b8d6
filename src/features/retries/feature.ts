// Retries of failed renewals: everything the rest of Crossbill gets from this folder.
import './facts.js';
import { feature } from '../../feature.js';
import { offerRetry, applyMethod, applyRefusal } from './rules/refusal.js';
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
  doneWords: {
    retry_charge: 'Asked the MoR to charge again',
    mark_uncollectible: 'Marked the invoice uncollectible on Stripe',
    cancel_subscription: 'Cancelled the subscription on Stripe',
  },
  retries: { applyRefusal, offer: offerRetry, applyMethod },
  words: retryWords,
});
