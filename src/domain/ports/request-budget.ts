// The request budget: how many requests per second may go out to a peer, shared by every replica of the daemon.

/**
 * `endpoint` is a short, constant name of the route, for example `invoices.attach_payment`: a peer limits an account and each
 * route of it (Stripe docs, "Rate limits"). It never holds an id.
 */
export abstract class RequestBudget {
  /**
   * Resolves when one request to this endpoint may go out. Rejects only if the budget does not answer; then nothing
   * goes out.
   */
  abstract take(endpoint: string): Promise<void>;
  /**
   * The peer answered 429: slow down, all replicas. `retryAfterMs` is its requested wait in milliseconds, null without
   * one. `reason` is its name of the limit (`Stripe-Rate-Limited-Reason`), null without one: `endpoint-…` slows this
   * endpoint only, anything else but `resource-…` the whole account.
   */
  abstract throttled(endpoint: string, retryAfterMs: number | null, reason: string | null): void;
}
