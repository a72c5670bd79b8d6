// Turns: one request at a time for a signup or a merchant, in any number of replicas.

/**
 * The turn is free at `$n`, this process's time. A turn lasts seconds: one that ends more than an hour from now was taken by a process
 * whose clock was wrong and that never gave it back. Requests would wait for it all that time.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= $${n} or busy_until > $${n}::timestamptz + interval '1 hour')`;
