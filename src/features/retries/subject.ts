// The engine's table for retries: the rule for each event, call, item and choice.
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import { followSchedule, readBeforeStep, readToRetry } from './rules/retry.js';
import { cancelSubscriptionCall, markUncollectibleCall, retryChargeCall } from './rules/retry-calls.js';

export const retries = {
  when: (lane) => (lane.invoice?.retries ?? null) !== null,
  calls: {
    retry_charge: retryChargeCall,
    mark_uncollectible: markUncollectibleCall,
    cancel_subscription: cancelSubscriptionCall,
  },
  late: true,
  after: [followSchedule],
  lookups: [nextLookup(readToRetry), nextLookup(readBeforeStep)],
} satisfies Subject;
