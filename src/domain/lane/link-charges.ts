// What the MoR announced on a payment link, by charge or else by its id of the payment. One counts; a person is asked about each of the
// others (links/rules/second-charge.ts).
import { type LaneState, type PaymentRow, type ReviewRow } from '../model.js';
import { type Capture, type MorObjectDetail, type MorObjectRow } from '../mor-object.js';

/** The subject of an item about a charge, or a payment by the MoR's id, that was announced on this link beside the one that counts. */
export function aboutCharge(o: MorObjectRow, charge: string): string {
  return `${o.id}:charge:${charge}`;
}

/** A person is still to answer for something that was announced on this link beside what counts. */
export function isChargeAsked(reviews: readonly ReviewRow[], o: MorObjectRow): boolean {
  return reviews.some((r) => r.status === 'open' && r.subject.startsWith(aboutCharge(o, '')));
}

/** What was announced on a link, with one capture more: one that names the same charge or payment says more of that one. */
export function withCapture(
  { captures = [], pspReference = null }: MorObjectDetail,
  next: Capture,
): readonly Capture[] {
  const isKept = pspReference === null || captures.some((c) => c.charge === pspReference);
  const all = isKept ? captures : [...captures, { charge: pspReference, id: null }];
  const one = all
    .filter((c) => isAlike(c, next))
    .reduce((x, c) => ({ charge: x.charge ?? c.charge, id: x.id ?? c.id }), next);
  const rest = all.filter((c) => !isAlike(c, next));
  const at = all.findIndex((c) => isAlike(c, next));
  return rest.toSpliced(at < 0 ? rest.length : at, 0, one);
}

/** One payment may have two charges by name, of which one may be counted: both are kept, with its id. */
function isAlike(a: Capture, b: Capture): boolean {
  const [isCharge, isId] = [a.charge === b.charge, a.id === b.id];
  if (a.charge !== null && b.charge !== null) return isCharge;
  return isId && (a.id !== null || isCharge);
}

/** The MoR's id of the payment on a link that has this charge, or of the only one; null: it is not known. */
export function idOn({ detail: { captures = [] } }: MorObjectRow, charge: string | null): string | null {
  if (charge !== null) return captures.find((c) => c.charge === charge)?.id ?? null;
  const [only, second] = captures;
  return second === undefined ? (only?.id ?? null) : null;
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
  if (other !== undefined && areTwo(p, other)) return undefined;
  const isOf = (c: Capture, x: PaymentRow): boolean => c.charge !== null && c.charge === x.processorChargeId;
  return objects.find(
    ({ detail: { captures = [] } }) =>
      captures.some((c) => isOf(c, p)) &&
      captures.some((c) => (other === undefined ? c.charge !== null && !isOf(c, p) : isOf(c, other))),
  );
}

/** The same, where this payment may not have been taken: a read of the link showed money, and the MoR has not named the payment since. */
export function maybeNotTaken(s: LaneState, p: PaymentRow, other?: PaymentRow): MorObjectRow | undefined {
  return p.origin !== 'payment_link' || ownIdOf(p) !== null ? undefined : sharedLink(s, p, other);
}
