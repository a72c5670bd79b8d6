// Money that the MoR announced on payment links: what is not in the books, and one list of all of it for a person.
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { announcedOn, type MorObjectRow, type Observation } from '../../domain/mor-object.js';
import { bookedAs } from '../../engine/payment.js';
import { effectName, ownIdOf } from '../../domain/payment-name.js';
import { showMoney } from '../../domain/money.js';
import { showTime } from '../../domain/show-time.js';

/** The subject of an invoice's one item about further announcements on its links. */
export function furtherSubject(invoiceId: string): string {
  return `${invoiceId}:announced`;
}

/** It is about further announcements on its invoice's links. */
export function isFurtherItem({ kind, subject, invoiceId }: ReviewRow): boolean {
  return kind === 'conflicting_event' && invoiceId !== null && subject === furtherSubject(invoiceId);
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

/** Every announcement on the invoice's links, and the payments in the books, as a sentence; empty: nothing was announced on a link. */
export function listObserved({ objects, payments }: Pick<LaneState, 'objects' | 'payments'>): string {
  const observed = objects.flatMap((o) => (o.detail.observed ?? []).map((x) => showObservation(o, x)));
  const booked = payments.filter((p) => p.succeededAt !== null).map(showBooked);
  return observed.length === 0
    ? ''
    : `Announced: ${observed.join('; ')}. In the books: ${booked.join('; ') || 'nothing'}`;
}

function showObservation({ morId, id }: MorObjectRow, x: Observation): string {
  const by = { event: `event ${x.eventId ?? ''}`, answer: 'answer to its request', read: 'read' }[x.source];
  const what = x.source === 'event' ? showNames(x) : 'status PAID';
  return `${what}${sum(x.amount, x.currency)}, link ${morId ?? id} (${by}, ${showTime(new Date(x.at))})`;
}

function showBooked(p: PaymentRow): string {
  const charge = p.processorChargeId === null ? '' : `, charge ${p.processorChargeId}`;
  return `payment ${effectName(p)}${charge}${sum(p.amount, p.currency)}`;
}

/** What the MoR calls it. */
export function showNames({ charge, paymentId }: Pick<Observation, 'charge' | 'paymentId'>): string {
  const names = [paymentId === null ? [] : `payment ${paymentId}`, charge === null ? [] : `charge ${charge}`].flat();
  return names.length === 0 ? 'a payment without a name' : names.join(', ');
}

function sum(amount: string | bigint | null, currency: string | null): string {
  return amount === null || currency === null ? '' : `, ${showMoney({ minor: BigInt(amount), currency })}`;
}
