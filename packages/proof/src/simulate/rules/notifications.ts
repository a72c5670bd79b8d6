// The rules about notifications to the merchant's backend: Crossbill sends each notification at least one time, always
// in the same bytes, and sends nothing else.
import { asksAfterOutcome } from '#src/shared/domain/mor-object.js';
import { WAITS_MS } from '#src/features/notifications/rules/retry.js';
import { type Sides } from './sides.js';

export function notificationRules({ world, seen }: Sides): string[] {
  const broken: string[] = [];
  const rows = new Map(seen.notifications.map((n) => [n.id, n]));
  if (!world.notifies) return rows.size === 0 ? [] : ['N0: a notification waits, without a receiver'];
  const faults = world.scheduler.injected.length;
  for (const n of rows.values()) {
    const heard = world.heard.filter((h) => h.id === n.id);
    // Crossbill gives up a notification after its last try. The rule allows this if the run has a fault for each try.
    const worn = n.status === 'dead' && n.attempts > WAITS_MS.length && faults >= n.attempts;
    if (n.status !== 'delivered' && !worn)
      broken.push(`N1: ${n.type} ${n.subject} is ${n.status} after ${n.attempts} tries`);
    if (heard.length === 0 && !worn) broken.push(`N1: the backend never got ${n.type} ${n.subject}`);
    if (heard.some((h) => h.body !== n.body)) broken.push(`N2: ${n.type} ${n.subject} was sent in other bytes`);
  }
  for (const { id } of world.heard)
    if (!rows.has(id) && !world.forgotten.has(id)) broken.push(`N2: ${id} was sent and is written nowhere`);
  const notified = (type: string, subject: string): boolean =>
    seen.notifications.some((n) => n.type === type && n.subject === subject);
  for (const i of seen.invoices) {
    const paid = i.status === 'paid' && i.amount_due !== '0';
    if (paid && !notified('invoice.paid', i.invoice_id))
      broken.push(`N3: the backend has no notification that ${i.invoice_id} is paid`);
    if (!paid && notified('invoice.paid', i.invoice_id))
      broken.push(`N3: ${i.invoice_id} is ${i.status} and notified as paid`);
  }
  for (const r of seen.refunds) {
    const name = r.mor_refund_id ?? r.id;
    const is = notified('refund.succeeded', `${name}:succeeded`) || notified('refund.succeeded', `${r.id}:succeeded`);
    if ((r.status === 'succeeded') !== is)
      broken.push(`N3: refund ${r.id} is ${r.status} and ${is ? 'notified' : 'not notified'} as succeeded`);
  }
  for (const o of seen.objects) {
    const closed = `${o.invoice_id}:${o.mor_id ?? o.id}:${o.status}:`;
    const isReported = seen.notifications.some((n) => n.type === 'dispute.closed' && n.subject.startsWith(closed));
    const isClosed = o.kind === 'dispute' && (o.status === 'won' || o.status === 'lost') && !asksAfterOutcome(o);
    if (isClosed && !isReported)
      broken.push(`N3: the backend has no notification that dispute ${o.mor_id ?? o.id} is ${o.status}`);
    if (o.kind === 'debit_return' && !notified('debit.returned', `${o.id}:${o.status}`))
      broken.push(`N3: the backend has no notification that return ${o.id} is ${o.status}`);
  }
  for (const r of seen.reviews) {
    // If Crossbill opens and closes an item at the same moment, it need not notify anybody. Example: an item about the
    // refund of a payment for a draft.
    const isMoot = r.resolution === 'cleared' && r.resolved_at?.getTime() === r.created_at.getTime();
    // An item without an invoice needs no notification here: only the daemon's timer `Lookout` announces such items,
    // and no simulated world runs this timer.
    if (r.invoice_id !== null && !isMoot && r.kind !== 'conflicting_event' && !notified('review.opened', r.id))
      broken.push(`N3: the backend was not notified of the item ${r.kind} ${r.subject}`);
  }
  return broken;
}
