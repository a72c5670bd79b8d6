// The rules about money paid on links: Crossbill books the first payment, and one item asks about all further payments.
// While this item is open, Crossbill starts no charge of the invoice.
import { namesCharge, namesId } from '@crossbill/sandbox/mor/payment-links.js';
import { isHeard, rowOf, type Sides, type Taken } from './sides.js';
import { type Snapshot } from '../machine/sim-repository.js';

export function linkMoneyRules(sides: Sides): string[] {
  const paid = sides.taken.filter((p) => p.onLink.length > 0);
  return [...paid.flatMap((p) => [...oneIsHere(sides, p), ...calledSo(sides, p)]), ...pausedRules(sides)];
}

/** L1: if customers pay a link several times, Crossbill books one payment. Rule V4 covers a single payment. */
function oneIsHere({ seen, taken }: Sides, { id, reference, onLink }: Taken): string[] {
  if (onLink.length < 2 || onLink[0]?.paymentId !== id) return [];
  const isHere = taken.some((t) => t.reference === reference && rowOf(seen, t) !== undefined);
  return isHere ? [] : [`L1: ${onLink.length} payments were made on link ${reference}, and none is here`];
}

/** L2: after one payment on a link and the MoR's event, Crossbill has the charge and the id from the event. */
function calledSo({ seen }: Sides, payment: Taken): string[] {
  const row = rowOf(seen, payment);
  const [first, second] = payment.onLink;
  if (row === undefined || first === undefined || second !== undefined || !isHeard(seen, first.eventId)) return [];
  const broken: string[] = [];
  if (namesCharge(first.names) && row.processor_charge_id !== payment.chargeId)
    broken.push(
      `L2: the MoR calls ${payment.id} ${payment.chargeId ?? ''}; here it is ${row.processor_charge_id ?? 'nothing'}`,
    );
  if (namesId(first.names) && row.payment_id !== payment.id)
    broken.push(
      `L2: the MoR calls a payment on ${payment.reference} ${payment.id}; here it is ${row.payment_id ?? 'nothing'}`,
    );
  return broken;
}

/**
 * L3: an invoice has at most one open item about further payments on its link. While this item is open, Crossbill has
 * no unsent request to charge the invoice.
 */
function pausedRules({ seen }: Sides): string[] {
  const open = seen.reviews.filter((r) => r.status === 'open' && r.subject === `${r.invoice_id ?? ''}:announced`);
  return open.flatMap((r) => {
    const broken: string[] = [];
    if (open.some((x) => x.id !== r.id && x.subject === r.subject)) broken.push(`L3: ${r.subject} has two open items`);
    const charge = seen.calls.find(
      (m) =>
        m.lane === r.invoice_id && m.status === 'pending' && (m.kind === 'relay_event' || m.kind === 'retry_charge'),
    );
    if (charge !== undefined)
      broken.push(`L3: ${charge.kind} of ${r.invoice_id ?? ''} waits while ${r.subject} is open`);
    return broken;
  });
}

/** True if an item asks a person about a second payment on a link, or if an event of these payments is missing. */
export function isNotifiedOnLink(seen: Snapshot, { invoiceId, onLink }: Taken): boolean {
  if (onLink.length < 2) return false;
  if (onLink.some((l) => !isHeard(seen, l.eventId))) return true;
  return seen.reviews.some((r) => r.kind === 'conflicting_event' && r.subject === `${invoiceId ?? ''}:announced`);
}
