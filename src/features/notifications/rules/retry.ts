// The time of a notification's next try.

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** The pauses of Standard Webhooks ("Deliverability and reliability"): ten tries in three days. */
export const WAITS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/**
 * Milliseconds until the next try, at least the receiver's Retry-After. `tries`: tries so far, at least 1. Null: no
 * more tries.
 */
export function retryInMs(tries: number, retryAfterMs: number | null, jitter: number): number | null {
  const wait = WAITS_MS[tries - 1];
  if (wait === undefined) return null;
  // Wait up to a tenth longer, so that notifications with the same failure do not all come again together.
  return Math.round(Math.max(wait * (1 + jitter / 10), retryAfterMs ?? 0));
}
