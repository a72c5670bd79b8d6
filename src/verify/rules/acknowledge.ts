// A difference that a person has looked at. Pure.
import { createHash } from 'node:crypto';

/** What makes a difference the one that it is. */
type Identity = {
  readonly kind: string;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly eventId: string | null;
  readonly objectId: string | null;
  readonly detail: string;
};

/**
 * The same in each run while kind, subject and facts are the same. The facts (amounts, states) stand in the detail and nowhere else:
 * with another amount it is another difference, which nobody has acknowledged.
 */
export function differenceId(d: Identity): string {
  const parts = [d.kind, d.invoiceId, d.paymentId, d.refundId, d.eventId, d.objectId, d.detail];
  return `dif_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}
