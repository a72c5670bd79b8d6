// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx } from '../../domain/lane/change.js';
import { aboutCharge, chargeAsked, ownIdOf } from '../../domain/lane/link-charges.js';
import { announced, closeAsked, markByHand, nameOf, sayOfLink } from '../../channels/rules/mor-object.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';

/**
 * A capture names a charge on the link `o`, or else the MoR's id of a payment: `charges` are that, the charge that counted until then, and
 * other payments. Also where a person looked into the link before: they may have found that nobody had paid, or have marked the invoice by
 * hand for the charge of then, and nothing here tells which.
 */
export function tellOtherCharges(
  s: LaneState,
  o: MorObjectRow,
  charges: readonly (string | null)[],
  ctx: Ctx,
): LaneState {
  const own = countsOn(s, o);
  if (own === null) return s;
  // Asked about until now, it counts from here on: the question is turned round.
  const state = closeAsked(s, o, `${announced(own)} counts as the payment of the link`, ctx, aboutCharge(o, own));
  // What is asked about a third one named the charge that counted until now.
  const asked = state.reviews.flatMap((r) => (r.status === 'open' ? (chargeAsked(r, o) ?? []) : []));
  return [...charges, ...asked].reduce((all, charge) => tellOther(all, o, own, charge, ctx), state);
}

/** The charge that counts, else the payment by the MoR's id: that of the one in the books, or the first. */
function countsOn({ payments }: LaneState, { detail, paymentRowId }: MorObjectRow): string | null {
  const booked = payments.find((p) => p.id === paymentRowId);
  const id = booked === undefined ? null : ownIdOf(booked);
  return detail.pspReference ?? id ?? detail.capturedIds?.[0] ?? null;
}

/** Only a payment event can bring this charge: a read of the link tells of one payment. */
function tellOther(s: LaneState, o: MorObjectRow, own: string, other: string | null, ctx: Ctx): LaneState {
  if (other === null || other === own || isBooked(s, other) || isAnswered(s, o, other)) return s;
  const said = {
    summary: `${announced(other)} was announced on ${nameOf(o)} beside ${own}: the customer may have paid twice`,
    proposal: `Ask the MoR which charges it took on ${nameOf(o)} and has not given back. More than one, and together more than was due: have all but one given back in the MoR's portal, and keep ${own} if it is among them, as it counts as the payment of the link; \`verify\` names such a refund until you acknowledge it. Only ${own}, or none: dismiss this. Only ${other}: if the books have a payment of ${nameOf(o)}, or somebody has marked the invoice by hand for it, dismiss this; else ${markByHand(o, other)}`,
  };
  return sayOfLink(s, o, said, ctx, aboutCharge(o, other));
}

function isBooked({ payments }: LaneState, name: string): boolean {
  return payments.some((p) => p.succeededAt !== null && [p.processorChargeId, ownIdOf(p)].includes(name));
}

/** A person has answered what was asked about this charge: announced once more it does not become the payment of the link. */
export function isAnswered(s: LaneState, o: MorObjectRow, charge: string): boolean {
  return isLookedInto(s.reviews, [aboutCharge(o, charge)], null);
}

/** The payment event of a charge came: it is in the books as a second payment, which has an item of its own. */
export function closeBookedCharges(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const names = s.payments.flatMap((p) => (p.succeededAt === null ? [] : [p.processorChargeId, ownIdOf(p)]));
  return names.reduce(
    (state, name) =>
      name === null ? state : closeAsked(state, o, `${announced(name)} is in the books`, ctx, aboutCharge(o, name)),
    s,
  );
}
