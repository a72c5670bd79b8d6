// The retries of a failed delivery: one schedule per sender.

/** The outcome of one attempt. `status` is null without an answer (refused, reset, timeout). */
export type AttemptOutcome = { readonly status: number | null };

export type RetrySchedule = {
  readonly name: string;
  /** How long the receiver may take, in milliseconds. */
  readonly timeoutMs: number;
  /** `done`: acknowledged. `stop`: given up for good. A number: milliseconds until the next attempt. `attempt` counts from 1. */
  after(attempt: number, outcome: AttemptOutcome, sinceFirstMs: number): 'done' | 'stop' | number;
};

const SEC = 1000;
const HOUR = 3_600_000;

/** Stripe docs, "Webhooks": retries anything but 2xx for up to three days with exponential gaps. */
export const stripeSchedule: RetrySchedule = {
  name: 'stripe',
  timeoutMs: 20 * SEC,
  after(attempt, { status }, sinceFirstMs) {
    if (status !== null && status >= 200 && status < 300) return 'done';
    const wait = Math.min(60 * SEC * 4 ** (attempt - 1), 12 * HOUR);
    return sinceFirstMs + wait > 72 * HOUR ? 'stop' : wait;
  },
};

/**
 * Document 2, "Delivery": any 2xx within 30 seconds acknowledges; the MoR retries 429, 5xx and silence; another 4xx is
 * final. At most 8 attempts, first retry after 10 seconds, tripling, at most 4 hours apart and 9 hours in total.
 */
export const morEventSchedule: RetrySchedule = {
  name: 'mor_events',
  timeoutMs: 30 * SEC,
  after(attempt, { status }, sinceFirstMs) {
    if (status !== null && status >= 200 && status < 300) return 'done';
    if (status !== null && status !== 429 && status < 500) return 'stop';
    const wait = Math.min(10 * SEC * 3 ** (attempt - 1), 4 * HOUR);
    return attempt >= 8 || sinceFirstMs + wait > 9 * HOUR ? 'stop' : wait;
  },
};

/**
 * Document 3, "Webhook delivery": 200 acknowledges, a 4xx is permanent, the MoR retries a 5xx with exponential backoff.
 * The document states no end: three days here. By its letter another 2xx and a 3xx do not acknowledge: retried too.
 */
export const morPaymentSchedule: RetrySchedule = {
  name: 'mor_payments',
  timeoutMs: 30 * SEC,
  after(attempt, { status }, sinceFirstMs) {
    if (status === 200) return 'done';
    if (status !== null && status >= 400 && status < 500) return 'stop';
    const wait = Math.min(10 * SEC * 2 ** (attempt - 1), 4 * HOUR);
    return sinceFirstMs + wait > 72 * HOUR ? 'stop' : wait;
  },
};
