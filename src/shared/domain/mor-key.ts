// Makes the idempotency keys for requests to the MoR.
import { createHash } from 'node:crypto';

/**
 * Makes the key of a request from parts that survive a restore: the requester, the MoR's payment id, and the caller's
 * Idempotency-Key. So the same request after a restore has the same key, and the MoR repeats its reply. The key is a
 * hash, since the caller's key alone may have 255 characters, the limit for the whole key.
 */
export function morKey(what: 'refund' | 'signup' | 'method', names: readonly string[]): string {
  return `crossbill:${what}:sha256-${createHash('sha256').update(JSON.stringify(names)).digest('hex')}`;
}
