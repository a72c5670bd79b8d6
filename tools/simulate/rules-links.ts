// The rules about money that was paid on links: one payment is in the books, each other one is there too or a person is asked about it.
import { namesCharge, namesId } from '../sandbox/mor/payment-links.js';
import { isHeard, rowOf, type Sides, type Taken } from './sides.js';
import { type Snapshot } from './sim-store.js';

export function linkMoneyRules(sides: Sides): string[] {
  return sides.taken.filter((p) => p.onLink.length > 0).flatMap((p) => [...oneIsHere(sides, p), ...calledSo(sides, p)]);
}

/** L1: however often a link is paid, one of these payments is in the books; of a link that was paid once V4 tells. */
function oneIsHere({ seen, taken }: Sides, { id, reference, onLink }: Taken): string[] {
  if (onLink.length < 2 || onLink[0]?.paymentId !== id) return [];
  const isHere = taken.some((t) => t.reference === reference && rowOf(seen, t) !== undefined);
  return isHere ? [] : [`L1: ${onLink.length} payments were made on link ${reference}, and none is here`];
}

/** L2: a link's payment is called as the MoR calls it, once it calls each payment on the link in one way and all were heard. */
function calledSo({ seen }: Sides, p: Taken): string[] {
  const row = rowOf(seen, p);
  const [first] = p.onLink;
  if (row === undefined || first === undefined) return [];
  const { names } = first;
  if (!p.onLink.every((l) => l.names === names && isHeard(seen, l.eventId))) return [];
  const broken: string[] = [];
  if (namesCharge(names) && row.processor_charge_id !== p.chargeId)
    broken.push(`L2: the MoR calls ${p.id} ${p.chargeId ?? ''}; here it is ${row.processor_charge_id ?? 'nothing'}`);
  // Of two that are called by their id alone, both before the link was read, nobody knows which the read showed.
  const isEither = names === 'id' && p.onLink.length > 1 && row.payment_id === null;
  if (namesId(names) && row.payment_id !== p.id && !isEither)
    broken.push(`L2: the MoR calls a payment on ${p.reference} ${p.id}; here it is ${row.payment_id ?? 'nothing'}`);
  return broken;
}

/**
 * A payment beside the one that its link brought: a person is asked about it by name. Where the MoR named one of them by nothing, or nobody heard
 * of one, they cannot be told apart (docs/limits.md).
 */
export function isToldOnLink(seen: Snapshot, { id, onLink }: Taken): boolean {
  if (onLink.length < 2) return false;
  if (onLink.some((l) => l.names === 'nothing' || !isHeard(seen, l.eventId))) return true;
  const own = onLink.find((l) => l.paymentId === id);
  return seen.objects.some(
    (o) =>
      o.mor_id === own?.linkId &&
      seen.reviews.some((r) => [own.chargeId, own.paymentId].some((name) => r.subject === `${o.id}:charge:${name}`)),
  );
}
