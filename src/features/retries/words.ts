// Sentences of items about the calls of the retry schedule.
import { type Words } from '../../shared/domain/fact.js';
import { type RetryCode } from './facts.js';

export const retryWords: Words<RetryCode> = {
  'retry-refused': (f) => ({
    summary: `the MoR's relay address refused retry ${f.retry} (${f.call}): ${f.said}`,
    proposal: f.heard
      ? 'The MoR may still have accepted this event, so Crossbill waits for its verdict. Find out why the relay address refuses the event. `retry` sends the same event once more.'
      : 'The MoR did not accept the request to charge again. Find out why the relay address refuses it, then retry. Or dismiss this: the schedule goes on.',
  }),
  'end-refused': (f) => ({
    summary: `Stripe refused ${f.call}: ${f.said}`,
    proposal:
      f.call === 'mark_uncollectible'
        ? 'The schedule of retries is over, but Stripe did not mark the invoice uncollectible. Fix the error named by Stripe and retry, or mark the invoice on Stripe yourself.'
        : 'The schedule of retries is over, but Stripe did not cancel the subscription. Fix the error named by Stripe and retry, or cancel the subscription on Stripe yourself.',
  }),
};
