// The charges that the MoR announced on a payment link. One of them counts; a person is asked about each of the others (links/rules/second-charge.ts).
import { type LaneState, type PaymentRow, type ReviewRow } from '../model.js';
import { type MorObjectRow } from '../mor-object.js';

/** The subject of an item about a charge that was announced on this link beside the one that counts. */
export function aboutCharge(o: MorObjectRow, charge: string): string {
  return `${o.id}:charge:${charge}`;
}

/** The charge that an item is about which was announced on this link; null: the item is not about one. */
export function chargeAsked({ subject }: ReviewRow, o: MorObjectRow): string | null {
  const prefix = aboutCharge(o, '');
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : null;
}

/** The link on which this payment's charge was announced beside that of `other`, or beside any; undefined: there is none. */
export function sharedLink(s: LaneState, p: PaymentRow, other?: PaymentRow): MorObjectRow | undefined {
  const charge = p.processorChargeId;
  const beside = other === undefined ? null : other.processorChargeId;
  if (charge === null || (other !== undefined && beside === null)) return undefined;
  return s.objects.find((o) => {
    const charges = chargesOn(s, o);
    return charges.has(charge) && (beside === null ? charges.size > 1 : charges.has(beside));
  });
}

function chargesOn({ reviews }: LaneState, o: MorObjectRow): ReadonlySet<string> {
  const all = [o.detail.pspReference ?? null, ...reviews.map((r) => chargeAsked(r, o))];
  return new Set(all.filter((charge) => charge !== null));
}
