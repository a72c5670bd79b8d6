// Money that the MoR announced on payment links: what is not in the books, and one list of all of it for a person.
import { type LaneState } from '../../domain/model.js';
import { announcedOn, type MorObjectRow, type Observation } from '../../domain/mor-object.js';
import { bookedAs } from '../../engine/payment.js';
import { ownIdOf } from '../../domain/payment-name.js';

/** The subject of an invoice's one item about further announcements on its links. */
export function furtherSubject(invoiceId: string): string {
  return `${invoiceId}:announced`;
}

/** Announcements of further payments on the links. Payments in the books are left out. */
export function furtherIn(s: LaneState): readonly Observation[] {
  const further = (o: MorObjectRow): readonly Observation[] =>
    announcedOn(o).filter((x, n) => n > 0 || isOther(s, o, x));
  return s.objects.flatMap(further).filter((x) => bookedAs(s, x) === undefined);
}

/** The payment of this link in the books has another charge or another id of the MoR's. */
export function isOther({ payments }: LaneState, { paymentRowId }: MorObjectRow, x: Observation): boolean {
  const p = payments.find((row) => row.id === paymentRowId);
  if (p === undefined || bookedAs({ payments: [p] }, x) !== undefined) return false;
  const differ = (a: string | null, b: string | null): boolean => a !== null && b !== null && a !== b;
  return differ(p.processorChargeId, x.charge) || differ(ownIdOf(p), x.paymentId);
}
