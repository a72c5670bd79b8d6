// The MoR's idempotency keys of somebody's requests.
import { createHash } from 'node:crypto';

/**
 * A pure function of names found again after a restore: the requester, the MoR's payment, the Idempotency-Key. The same
 * request after a restore has the same key, and the MoR repeats its answer. Hashed, since a caller's key alone may be
 * 255 characters long, the limit of ours.
 */
export function morKey(what: 'refund' | 'signup' | 'method', names: readonly string[]): string {
  return `crossbill:${what}:sha256-${createHash('sha256').update(JSON.stringify(names)).digest('hex')}`;
}
