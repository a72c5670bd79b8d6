// A turn is a lock across all replicas: only one request at a time works on a signup or a merchant.
import { timeSql } from './database-time.js';

/**
 * The SQL condition that no request works on this signup or merchant; `$n` as in `timeSql`. A turn lasts seconds. If
 * its end is more than an hour away, the server's clock was set back and nobody ended the turn, so the turn counts as
 * free.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(n)} or busy_until > ${timeSql(n)} + interval '1 hour')`;
