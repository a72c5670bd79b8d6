// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, openReview } from '../../domain/lane/change.js';
import { closeAsked, nameOf, takenBy } from '../../channels/rules/mor-object.js';

const subjectOf = (o: MorObjectRow, charge: string): string => `${o.id}:charge:${charge}`;

/** Until its own payment event tells of it, no read will: the link speaks of one payment. */
export function tellSecondCharge(s: LaneState, o: MorObjectRow, first: string, second: string, ctx: Ctx): LaneState {
  if (takenBy(s, second) !== undefined) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: subjectOf(o, second),
    summary: `charge ${second} was announced on ${nameOf(o)}, whose payment is charge ${first}: the customer may have paid twice`,
    proposal:
      "Ask the MoR whether it took both. If so, have one given back in the MoR's portal; if both name one payment, nothing is to be done. Dismiss this after that: the books have one of them.",
  });
}

/** Its own payment event came: it stands in the books as a payment of its own, and what is to be done is asked about that. */
export function closeBookedSeconds(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  return s.payments.reduce((state, { processorChargeId: charge, succeededAt }) => {
    if (charge === null || succeededAt === null) return state;
    return closeAsked(state, o, `charge ${charge} is in the books`, ctx, subjectOf(o, charge));
  }, s);
}
