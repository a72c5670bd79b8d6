// Turns: only one request at a time works on a signup or a merchant, across all replicas.
import { timeSql } from './database-time.js';

/**
 * The SQL condition for a free turn; `$n` as in `timeSql`. A turn lasts seconds. A turn with more than an hour left was
 * taken before somebody set the server's clock back, and nobody gave it back. Without this rule requests would wait for
 * it the whole time.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(n)} or busy_until > ${timeSql(n)} + interval '1 hour')`;
