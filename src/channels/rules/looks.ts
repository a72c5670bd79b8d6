// When a proforma invoice or a payment link is looked at although nobody told of it: a webhook may be lost for good.
import { isLiveProforma, type MorObjectRow, TRANSFERRED } from '../../domain/mor-object.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** After its due date a transfer is still waited for: banks take days, customers more. */
const LATE_TRANSFER_MS = 30 * DAY_MS;
/** How long a proforma invoice whose due date is not known here is taken to be payable. */
const USUAL_TERM_MS = 30 * DAY_MS;

/** The end of a proforma invoice's due date. */
export function dueDate(o: MorObjectRow): Date {
  return o.deadline ?? new Date(o.createdAt.getTime() + USUAL_TERM_MS);
}

/**
 * The next look at an object of which nothing is announced; null: there is nothing to find out any more. The pauses grow with its
 * age from a minute to a day. A link is looked at once more when it has expired: a payment in its last minute counts.
 */
export function nextLook(o: MorObjectRow, now: Date): Date | null {
  const age = now.getTime() - o.createdAt.getTime();
  const soon = now.getTime() + Math.min(DAY_MS, Math.max(MINUTE_MS, age / 2));
  if (o.kind === 'payment_link') {
    if (o.status !== 'PAYABLE') return null;
    const end = o.deadline === null ? Infinity : o.deadline.getTime() + MINUTE_MS;
    return new Date(end > now.getTime() ? Math.min(soon, end) : soon);
  }
  if (!isLiveProforma(o) || o.status === 'REQUESTED' || TRANSFERRED.has(o.status)) return null;
  return now.getTime() > dueDate(o).getTime() + LATE_TRANSFER_MS ? null : new Date(soon);
}
