// A turn is a lock across all replicas: only one request at a time works on a signup or a merchant.
import { timeSql } from './database-time.js';

/**
 * The SQL condition that no request has the turn. `$n` is the current time. A turn lasts seconds. If its end is more
 * than an hour away, somebody set the server's clock back. Such a turn counts as free.
 */
export const turnIsFree = (count: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(count)} or busy_until > ${timeSql(count)} + interval '1 hour')`;
