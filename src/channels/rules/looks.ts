// When a proforma invoice or a payment link is looked at although nobody told of it: a webhook may be lost for good.
import { isLiveProforma, type MorObjectRow, TRANSFERRED } from '../../domain/mor-object.js';
import {
  LINK_LAST_LOOK_AFTER_MS,
  OBJECT_FIRST_LOOK_MS,
  OBJECT_LONGEST_PAUSE_MS,
  PROFORMA_USUAL_TERM_MS,
  TRANSFER_LATE_MS,
} from '../../policy.js';

/** The end of a proforma invoice's due date. */
export function dueDate(o: MorObjectRow): Date {
  return o.deadline ?? new Date(o.createdAt.getTime() + PROFORMA_USUAL_TERM_MS);
}

/**
 * The next look at an object of which nothing is announced; null: there is nothing to find out any more. The pauses grow with its
 * age from a minute to a day. A link is looked at once more when it has expired: a payment in its last minute counts.
 */
export function nextLook(o: MorObjectRow, now: Date): Date | null {
  const age = now.getTime() - o.createdAt.getTime();
  const soon = now.getTime() + Math.min(OBJECT_LONGEST_PAUSE_MS, Math.max(OBJECT_FIRST_LOOK_MS, age / 2));
  if (o.kind === 'payment_link') {
    if (o.status !== 'PAYABLE') return null;
    const end = o.deadline === null ? Infinity : o.deadline.getTime() + LINK_LAST_LOOK_AFTER_MS;
    return new Date(end > now.getTime() ? Math.min(soon, end) : soon);
  }
  if (!isLiveProforma(o) || o.status === 'REQUESTED' || TRANSFERRED.has(o.status)) return null;
  return now.getTime() > dueDate(o).getTime() + TRANSFER_LATE_MS ? null : new Date(soon);
}
