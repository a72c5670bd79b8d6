// The request budget: how many requests per second all replicas together may send to Stripe.

/**
 * Limits the requests to Stripe. `endpoint` is a short, fixed name of the route, for example
 * `invoices.attach_payment`, and never contains an id. Stripe limits the whole account, and each route on its own
 * (Stripe docs, "Rate limits").
 */
export abstract class RequestBudget {
  /**
   * Resolves when one request to this endpoint may go out. Rejects only if the budget does not reply: then the caller
   * must not send the request.
   */
  abstract take(endpoint: string): Promise<void>;
  /**
   * Makes all replicas slow down after a 429 of Stripe. `retryAfterMs`: the requested wait in milliseconds, or null.
   * `reason`: Stripe's name of the limit (`Stripe-Rate-Limited-Reason`), or null. `endpoint-…` and `resource-…` slow
   * only this endpoint. Anything else slows the whole account.
   */
  abstract throttled(endpoint: string, retryAfterMs: number | null, reason: string | null): void;
}
