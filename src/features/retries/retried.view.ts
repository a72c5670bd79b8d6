// The result of a requested retry as an API response.
import { invoiceUnread, valueOrProblem } from '../../frames/api/http/problem.js';
import { type Retried } from './retries.service.js';
import { type MadeRetry } from './rules/retry.js';

/**
 * Returns the made retry. Throws the reason if Crossbill tried nothing, and 502 `billing_unavailable` if Stripe did not
 * show the invoice.
 */
export function retriedOrProblem(done: Retried): MadeRetry {
  if (!done.ok && 'silent' in done) throw invoiceUnread(done.silent);
  return valueOrProblem(done);
}
