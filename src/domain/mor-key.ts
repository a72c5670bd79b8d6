// The MoR's idempotency keys of what somebody asked for.
import { createHash } from 'node:crypto';

/**
 * A pure function of names that survive a restored backup: who asked, for which payment of the MoR's, under which Idempotency-Key. The
 * same request after a restore comes under the same key, and the MoR answers what it did then. Hashed, since a caller's key alone may be
 * 255 characters long, which is the most that ours may be.
 */
export function morKey(what: 'refund' | 'signup' | 'method', names: readonly string[]): string {
  return `crossbill:${what}:sha256-${createHash('sha256').update(JSON.stringify(names)).digest('hex')}`;
}
