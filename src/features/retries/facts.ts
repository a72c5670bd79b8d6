// What retries add to the facts of review items.
import { type Refused } from '../../shared/domain/facts/parts.js';

type RetryRefused =
  | ({ readonly code: 'retry-refused'; readonly retry: number; readonly heard: boolean } & Refused)
  | ({ readonly code: 'end-refused' } & Refused);

export type RetryCode = RetryRefused['code'];

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly retries: { readonly effect_failed: RetryRefused };
  }
}
