// The result of a requested retry as an API response.
import { Problem, valueOrProblem } from '../api/http/problem.js';
import { type Retried } from './retries.flow.js';
import { type MadeRetry } from './rules/retry.js';

/**
 * Returns the made retry. Throws the reason if Crossbill tried nothing, and 502 `billing_unavailable` if Stripe did not
 * show the invoice.
 */
export function retriedOrProblem(done: Retried): MadeRetry {
  if (!done.ok && 'silent' in done) {
    const wait = done.silent.retryAfterMs === null ? null : Math.ceil(done.silent.retryAfterMs / 1000);
    throw new Problem(502, 'billing_unavailable', 'Stripe did not return the invoice: try again.', [], wait);
  }
  return valueOrProblem(done);
}
