// Turns: only one request at a time works on a signup or a merchant, across all replicas.
import { timeSql } from './database-time.js';

/**
 * The SQL condition that the turn is free; `$n` as in `timeSql`. A turn lasts seconds. If it has more than an hour
 * left, somebody has set the server's clock back since, and nobody gave the turn back. Without this rule requests would
 * wait for it the whole time.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(n)} or busy_until > ${timeSql(n)} + interval '1 hour')`;
