// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, openReview, openReviewOf, putObject } from '../../domain/lane/change.js';
import { closeAsked, nameOf, takenBy } from '../../channels/rules/mor-object.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';

const subjectOf = (o: MorObjectRow, charge: string): string => `${o.id}:charge:${charge}`;

/** A capture named `named`: `was` is the link before it, `o` after it. Whoever looked into the link before knows of the charge until then. */
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
  const isKnown = isLookedInto(s.reviews, [was.id], heardAt(was));
  const others = [named, isKnown ? null : before].filter((c) => c !== null && c !== own);
  const state = closeAsked(s, o, `charge ${own} counts as the payment of the link`, ctx, subjectOf(o, own));
  return others.reduce((all, charge) => (charge === null ? all : tellOther(all, o, own, charge, ctx)), state);
}

/** Until its own payment event tells of it, no read will: the link speaks of one payment. */
function tellOther(s: LaneState, o: MorObjectRow, own: string, other: string, ctx: Ctx): LaneState {
  if (takenBy(s, other) !== undefined) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: subjectOf(o, other),
    summary: `charge ${other} was announced on ${nameOf(o)} beside ${own}: the customer may have paid twice`,
    proposal: `Ask the MoR whether it took both. If so, and together they are more than was due, have ${other} given back in the MoR's portal, not ${own}: the payment of the link is booked as that. \`verify\` names such a refund once: acknowledge it. Dismiss this after that.`,
  });
}

/** Its own payment event came: it stands in the books. If it is the only one of the link's that does, it is the link's payment. */
export function settleBookedCharges(s: LaneState, { id }: MorObjectRow, ctx: Ctx): LaneState {
  return s.payments.reduce((state, { processorChargeId: charge, succeededAt }) => {
    const o = state.objects.find((x) => x.id === id);
    if (o === undefined || charge === null || succeededAt === null) return state;
    if (openReviewOf(state, 'conflicting_event', subjectOf(o, charge)) === undefined) return state;
    const settled = closeAsked(state, o, `charge ${charge} is in the books`, ctx, subjectOf(o, charge));
    const { pspReference: own = null } = o.detail;
    if (o.paymentRowId !== null || own === null || takenBy(state, own) !== undefined) return settled;
    const row: MorObjectRow = { ...o, detail: { ...o.detail, pspReference: charge } };
    return tellOther(putObject(settled, row), row, charge, own, ctx);
  }, s);
}
