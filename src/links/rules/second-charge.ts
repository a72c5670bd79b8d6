// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx } from '../../domain/lane/change.js';
import { aboutCharge, chargeAsked } from '../../domain/lane/link-charges.js';
import { closeAsked, markByHand, nameOf, sayOfLink, takenBy } from '../../channels/rules/mor-object.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';

/**
 * A capture names a charge on the link `o`: `charges` are that one and the one that counted until then. Also where a person looked into the link
 * before: they may have found that nobody had paid, or have marked the invoice by hand for the charge of then, and nothing here tells which.
 */
export function tellOtherCharges(
  s: LaneState,
  o: MorObjectRow,
  charges: readonly (string | null)[],
  ctx: Ctx,
): LaneState {
  const { pspReference: own = null } = o.detail;
  if (own === null) return s;
  // Asked about until now, it counts from here on: the question is turned round.
  const state = closeAsked(s, o, `charge ${own} counts as the payment of the link`, ctx, aboutCharge(o, own));
  // What is asked about a third one named the charge that counted until now.
  const asked = state.reviews.flatMap((r) => (r.status === 'open' ? (chargeAsked(r, o) ?? []) : []));
  return [...charges, ...asked].reduce((all, charge) => tellOther(all, o, own, charge, ctx), state);
}

/** Only a payment event can bring this charge: a read of the link tells of one payment. */
function tellOther(s: LaneState, o: MorObjectRow, own: string, other: string | null, ctx: Ctx): LaneState {
  if (other === null || other === own || takenBy(s, other) !== undefined || isAnswered(s, o, other)) return s;
  const said = {
    summary: `charge ${other} was announced on ${nameOf(o)} beside ${own}: the customer may have paid twice`,
    proposal: `Ask the MoR which charges it took on ${nameOf(o)} and has not given back. More than one, and together more than was due: have all but one given back in the MoR's portal, and keep ${own} if it is among them, as it counts as the payment of the link; \`verify\` names such a refund until you acknowledge it. Only ${own}, or none: dismiss this. Only ${other}: if the books have a payment of ${nameOf(o)}, or somebody has marked the invoice by hand for it, dismiss this; else ${markByHand(o, other)}`,
  };
  return sayOfLink(s, o, said, ctx, aboutCharge(o, other));
}

/** A person has answered what was asked about this charge: announced once more it does not become the payment of the link. */
export function isAnswered(s: LaneState, o: MorObjectRow, charge: string): boolean {
  return isLookedInto(s.reviews, [aboutCharge(o, charge)], null);
}

/** The payment event of a charge came: it is in the books as a second payment, which has an item of its own. */
export function closeBookedCharges(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  return s.payments.reduce((state, { processorChargeId: charge, succeededAt }) => {
    if (charge === null || succeededAt === null) return state;
    return closeAsked(state, o, `charge ${charge} is in the books`, ctx, aboutCharge(o, charge));
  }, s);
}
