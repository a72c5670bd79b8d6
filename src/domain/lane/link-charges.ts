// What the MoR announced on a payment link, by charge or else by its id of the payment. One counts; a person is asked about each of the
// others (links/rules/second-charge.ts).
import { type LaneState, type PaymentRow, type ReviewRow } from '../model.js';
import { type MorObjectRow } from '../mor-object.js';

/** The subject of an item about a charge, or a payment by the MoR's id, that was announced on this link beside the one that counts. */
export function aboutCharge(o: MorObjectRow, charge: string): string {
  return `${o.id}:charge:${charge}`;
}

/** What an item is about that was announced on this link; null: the item is not about that. */
export function chargeAsked({ subject }: ReviewRow, o: MorObjectRow): string | null {
  const prefix = aboutCharge(o, '');
  return subject.startsWith(prefix) ? subject.slice(prefix.length) : null;
}

/** The MoR's id of the payment on a link, as captures without a charge named it; null: none did, or they named two. */
export function onlyIdOn({ detail: { capturedIds: [only, second] = [] } }: MorObjectRow): string | null {
  return second === undefined ? (only ?? null) : null;
}

/** The MoR's id of a payment, where the MoR itself has said so and no person. */
export function ownIdOf({ paymentId, identifiedBy }: PaymentRow): string | null {
  return identifiedBy === null ? paymentId : null;
}

/** The MoR itself has named both, and not alike. */
export function areTwo(a: PaymentRow, b: PaymentRow): boolean {
  const [one, other] = [ownIdOf(a), ownIdOf(b)];
  return one !== null && other !== null && one !== other;
}

/** The link on which this payment's charge was announced beside that of `other`, which may be the same money, or beside any; undefined: there is none. */
export function sharedLink({ objects }: LaneState, p: PaymentRow, other?: PaymentRow): MorObjectRow | undefined {
  const charge = p.processorChargeId;
  if (other !== undefined && areTwo(p, other)) return undefined;
  const isBeside = (charges: ReadonlySet<string | null>): boolean =>
    other === undefined ? charges.size > 1 : other.processorChargeId !== null && charges.has(other.processorChargeId);
  return objects.find(({ detail: { charges = [] } }) => {
    const all = new Set<string | null>(charges);
    return charge !== null && all.has(charge) && isBeside(all);
  });
}

/** The same, where this payment may not have been taken: a read of the link showed money, and the MoR has not named the payment since. */
export function maybeNotTaken(s: LaneState, p: PaymentRow, other?: PaymentRow): MorObjectRow | undefined {
  return p.origin !== 'payment_link' || ownIdOf(p) !== null ? undefined : sharedLink(s, p, other);
}
