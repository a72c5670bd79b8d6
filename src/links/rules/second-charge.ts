// A link brings one payment. What the MoR captured on it beside that is never booked from the link: a person is asked, charge by charge.
import { type LaneState } from '../../domain/model.js';
import { type Capture, type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, openReviewOf } from '../../domain/lane/change.js';
import { aboutCharge, ownIdOf } from '../../domain/lane/link-charges.js';
import { announced, closeAsked, markByHand, nameOf, sayOfLink } from '../../channels/rules/mor-object.js';
import { isLookedInto } from '../../channels/rules/withdraw.js';

/**
 * A payment was captured on the link `o`: each other that was announced on it is asked about. Also where a person looked into the link before:
 * they may have found that nobody had paid, or have marked the invoice by hand for the charge of then, and nothing here tells which.
 */
export function tellOtherCharges(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const own = countsOn(s, o);
  if (own === undefined) return s;
  const name = namesOf(own)[0] ?? 'one that it did not name';
  // Asked about until now, it counts from here on: the question is turned round.
  const why = `${announced(name)} counts as the payment of the link`;
  const state = closeAbout(s, o, own, why, ctx);
  return (o.detail.captures ?? []).reduce((all, c) => (isOne(c, own) ? all : tellOther(all, o, name, c, ctx)), state);
}

/** Of one payment whose charge the MoR calls by two names, too. */
function isOne(a: Capture, b: Capture): boolean {
  return a === b || (a.id !== null && a.id === b.id);
}

/** The capture of the charge that counts, else of the payment in the books, else the first. */
function countsOn({ payments }: LaneState, { detail, paymentRowId }: MorObjectRow): Capture | undefined {
  const { pspReference = null, captures = [] } = detail;
  const booked = payments.find((p) => p.id === paymentRowId);
  const id = booked === undefined ? null : ownIdOf(booked);
  return (
    captures.find((c) => pspReference !== null && c.charge === pspReference) ??
    captures.find((c) => id !== null && c.id === id) ??
    captures[0]
  );
}

/** Only a payment event can bring this one: a read of the link tells of one payment. */
function tellOther(s: LaneState, o: MorObjectRow, own: string, c: Capture, ctx: Ctx): LaneState {
  const [other] = namesOf(c);
  if (other === undefined || namesOf(c).some((name) => isBooked(s, name) || isAnswered(s, o, name))) return s;
  const said = {
    summary: `${announced(other)} was announced on ${nameOf(o)} beside ${own}: the customer may have paid twice`,
    proposal: `Ask the MoR which charges it took on ${nameOf(o)} and has not given back. More than one, and together more than was due: have all but one given back in the MoR's portal, and keep ${own} if it is among them, as it counts as the payment of the link; \`verify\` names such a refund until you acknowledge it. Only ${own}, or none: dismiss this. Only ${other}: if the books have a payment of ${nameOf(o)} that has not gone back, or somebody has marked the invoice by hand for it, dismiss this; else ${markByHand(o, other)}`,
  };
  const asked = namesOf(c).find((n) => openReviewOf(s, 'conflicting_event', aboutCharge(o, n)) !== undefined);
  return sayOfLink(s, o, said, ctx, aboutCharge(o, asked ?? other));
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
  return (o.detail.captures ?? []).reduce((state, c) => {
    const booked = namesOf(c).find((name) => isBooked(s, name));
    return booked === undefined ? state : closeAbout(state, o, c, `${announced(booked)} is in the books`, ctx);
  }, s);
}

function closeAbout(s: LaneState, o: MorObjectRow, c: Capture, why: string, ctx: Ctx): LaneState {
  return namesOf(c).reduce((all, name) => closeAsked(all, o, why, ctx, aboutCharge(o, name)), s);
}

/** How the MoR called it: by its charge first. */
function namesOf({ charge, id }: Capture): readonly string[] {
  return [charge, id].filter((name) => name !== null);
}
