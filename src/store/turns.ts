// A turn is a lock across all replicas: only one request at a time works on a signup or a merchant.
import { timeSql } from './database-time.js';

/**
 * The SQL condition: the turn is free; `$n` as in `timeSql`. A turn lasts seconds. A remaining time of more than an
 * hour means a clock set back and a turn nobody ended. Without this rule requests would wait the whole time.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(n)} or busy_until > ${timeSql(n)} + interval '1 hour')`;
