// A request budget without a limit that records its requests.
import { RequestBudget } from '../../../src/shared/domain/ports/request-budget.js';

export class InMemoryRequestBudget extends RequestBudget {
  /** The requested endpoints, in order. */
  readonly taken: string[] = [];
  readonly throttles: { endpoint: string; retryAfterMs: number | null; reason: string | null }[] = [];

  override take(endpoint: string): Promise<void> {
    this.taken.push(endpoint);
    return Promise.resolve();
  }

  override throttled(endpoint: string, retryAfterMs: number | null, reason: string | null): void {
    this.throttles.push({ endpoint, retryAfterMs, reason });
  }
}
