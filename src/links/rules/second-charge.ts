// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, openReview, openReviewOf } from '../../domain/lane/change.js';
import { closeAsked, nameOf, takenBy } from '../../channels/rules/mor-object.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';

const subjectOf = (o: MorObjectRow, charge: string): string => `${o.id}:charge:${charge}`;

/** A capture named this charge: `was` is the link before it, `o` after it. Whoever looked into the link before has dealt with its charge of then. */
export function tellOtherCharges(
  s: LaneState,
  was: MorObjectRow,
  o: MorObjectRow,
  named: string | null,
  ctx: Ctx,
): LaneState {
  const { pspReference: own = null } = o.detail;
  const { pspReference: before = null } = was.detail;
  if (own === null) return s;
  // Whoever looked into the link left the question of these two open: it is asked the other way round.
  const isOpen = openReviewOf(s, 'conflicting_event', subjectOf(o, own)) !== undefined;
  const isKnown = !isOpen && isLookedInto(s.reviews, [was.id], heardAt(was));
  const state = closeAsked(s, o, `charge ${own} counts as the payment of the link`, ctx, subjectOf(o, own));
  return tellOther(tellOther(state, o, own, named, ctx), o, own, isKnown ? null : before, ctx);
}

/** Only a payment event can bring this charge: a read of the link tells of one payment. */
function tellOther(s: LaneState, o: MorObjectRow, own: string, other: string | null, ctx: Ctx): LaneState {
  if (other === null || other === own || takenBy(s, other) !== undefined) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: subjectOf(o, other),
    summary: `charge ${other} was announced on ${nameOf(o)} beside ${own}: the customer may have paid twice`,
    proposal: `Ask the MoR which of the two it took and has not given back. Both, and together more than was due: have ${other} given back in the MoR's portal, as ${own} counts as the payment of the link; \`verify\` names that refund once: acknowledge it. Only ${other}: do not give it back unless other money has paid the invoice; if nothing has, mark it by hand. Dismiss this after that.`,
  });
}

/** A person has answered what was asked about this charge: announced once more it does not become the payment of the link. */
export function isAnswered(s: LaneState, o: MorObjectRow, charge: string): boolean {
  return isLookedInto(s.reviews, [subjectOf(o, charge)], null);
}

/** The payment event of a charge came: it is in the books as a second payment, which has an item of its own. */
export function closeBookedCharges(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  return s.payments.reduce((state, { processorChargeId: charge, succeededAt }) => {
    if (charge === null || succeededAt === null) return state;
    return closeAsked(state, o, `charge ${charge} is in the books`, ctx, subjectOf(o, charge));
  }, s);
}
