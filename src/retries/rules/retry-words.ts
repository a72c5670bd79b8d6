// The sentences of items about a schedule of retries.
import { type Words } from '../../domain/fact.js';

export const retryWords: Words<'retry-refused' | 'end-refused'> = {
  'retry-refused': (f) => ({
    summary: `${f.call}, retry ${f.retry}, was refused: ${f.said}`,
    proposal: f.heard
      ? 'The MoR may have heard it, or an earlier try, so its verdict is awaited. Find out why its relay address refuses the event; retry sends the same event once more.'
      : 'The MoR was not asked to charge again. Find out why its relay address refuses the event, then retry; dismiss it to go on with the schedule.',
  }),
  'end-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal:
      f.call === 'mark_uncollectible'
        ? 'The schedule of retries is over, but Stripe did not mark the invoice uncollectible. Fix what the answer names and retry, or do it on Stripe.'
        : 'The schedule of retries is over, but Stripe did not cancel the subscription. Fix what the answer names and retry, or cancel it on Stripe.',
  }),
};
