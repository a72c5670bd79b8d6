// What retries add to the facts of review items and to the calls.
import { type Refused } from '../../shared/domain/facts/parts.js';
import { type InvoiceFacts } from '../../shared/domain/ports/billing-platform.js';

type RetryRefused =
  | ({ readonly code: 'retry-refused'; readonly retry: number; readonly heard: boolean } & Refused)
  | ({ readonly code: 'end-refused' } & Refused);

export type RetryCode = RetryRefused['code'];

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly retries: { readonly effect_failed: RetryRefused };
  }
}

declare module '../../shared/domain/feature-calls.js' {
  interface FeatureCalls {
    readonly retry_charge: object;
    readonly mark_uncollectible: { readonly invoice: InvoiceFacts };
    readonly cancel_subscription: { readonly subscriptionId: string };
  }
}
