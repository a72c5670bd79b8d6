// Turns: one request at a time for a signup or a merchant, in any number of replicas.
import { timeSql } from './database-time.js';

/**
 * The turn is free; `$n` as in `timeSql`. A turn lasts seconds: one ending more than an hour from now was taken before
 * somebody set the server's clock back, and was never given back. Requests would wait for it all this time.
 */
export const turnIsFree = (n: number): string =>
  `(busy_until is null or busy_until <= ${timeSql(n)} or busy_until > ${timeSql(n)} + interval '1 hour')`;
