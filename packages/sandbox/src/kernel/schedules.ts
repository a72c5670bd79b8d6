// The retries of a failed delivery, with one schedule for each sender.
import { type Sender } from './failing-endpoints.js';

/** The outcome of one attempt. `status` is null if no answer came (refused, reset, timeout). */
export type AttemptOutcome = { readonly status: number | null };

export type RetrySchedule = {
  readonly name: Sender;
  /** Milliseconds the receiver may take. */
  readonly timeoutMs: number;
  /**
   * Decides after an attempt. `done`: acknowledged. `stop`: given up. A number: milliseconds until the next attempt.
   * `attempt` starts at 1.
   */
  after(attempt: number, outcome: AttemptOutcome, sinceFirstMs: number): 'done' | 'stop' | number;
};

const SEC = 1000;
const HOUR = 3_600_000;

/** Stripe docs, "Webhooks": without a 2xx Stripe retries for up to three days, with exponential gaps. */
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
 * Document 2, "Delivery": a 2xx within 30 seconds acknowledges. The MoR retries after 429, 5xx or no answer, and gives
 * up after any other status. It makes at most 8 attempts in 9 hours. The first gap is 10 seconds. Each later gap is
 * three times as long, at most 4 hours.
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
 * Document 3, "Webhook delivery": 200 acknowledges, a 4xx is permanent, and the MoR retries a 5xx with exponential
 * backoff. The document states no end, and nothing about a 3xx or another 2xx. The sandbox retries after these
 * statuses too, and stops after three days.
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
