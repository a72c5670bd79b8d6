// What payouts add to the MoR's events, to the facts of review items, and to the notifications.
import { type ServiceFacts } from '../../shared/domain/events/mor-service-event.js';
import { type payoutNotifications } from './rules/payouts.js';

/** The MoR pays out later than promised. `until`: its new date as it wrote it; null: it gave none. */
export type PayoutDelayed = { readonly code: 'payout-delayed'; readonly event: string; readonly until: string | null };

declare module '../../shared/domain/events/mor-service-event.js' {
  interface MorServiceEvents {
    readonly 'payout.delayed': ServiceFacts;
  }
}

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly payouts: { readonly payout_delayed: PayoutDelayed };
  }
}

declare module '../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'payout.delayed': (typeof payoutNotifications)['payout.delayed'];
  }
}
