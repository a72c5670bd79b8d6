// When nothing more is asked of the customer, and what becomes of a request for a proforma invoice or a link that the MoR has not answered.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { announcedAt, heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { isOver, isPayable } from '../../domain/status.js';
import { effectName } from '../../domain/payment-name.js';
import { type Call } from '../../engine/call.js';
import { isDismissed } from '../../engine/change.js';
import { type Lane } from '../../engine/draft.js';
import { isOfSharedCharge } from '../../ledger/rules/one-charge.js';
import { isFurtherItem } from './announced.js';
import { nameOf } from './mor-object.js';

/** The code of a request that is refused, or taken back, because nothing more is to be paid. */
export const NOT_PAYABLE = 'invoice_not_payable';

/** Stages in which a payment that was taken does not keep the rest of its invoice from being collected. */
const SETTLED: ReadonlySet<PaymentRow['mark']> = new Set<PaymentRow['mark']>(['closed', 'confirmed', 'parked']);

/** The money that may still pay the invoice, as a part of a sentence; null: none is on its way. Asked beside it, the customer may pay twice. */
export function moneyOnItsWay(payments: readonly PaymentRow[]): string | null {
  const coming = payments.find((p) => p.mark === 'proving');
  if (coming !== undefined)
    return `payment ${effectName(coming)} of its signup is not settled yet, and its money may still come`;
  const taken = payments.find((p) => p.succeededAt !== null && !SETTLED.has(p.mark));
  return taken === undefined ? null : `payment ${effectName(taken)} was taken and is being marked`;
}

/**
 * The money that was taken for the invoice and waits for a person's word, as a part of a sentence; null: none does. What is due still counts
 * it: asked now, the customer would pay it again.
 */
export function moneyUndecided({ payments, reviews }: Pick<LaneState, 'payments' | 'reviews'>): string | null {
  const open = reviews.filter((r) => r.status === 'open');
  const p = payments.find(
    (x) =>
      x.mark === 'parked' &&
      open.some((r) => r.paymentRowId === x.id && (x.succeededAt !== null || isOfSharedCharge(r))),
  );
  return p === undefined
    ? null
    : `payment ${effectName(p)} was taken and waits for a person. Decide its review item first`;
}

/**
 * A payment on a link that the MoR has announced and that nobody has confirmed or looked into yet, or a further one, as a part of a sentence;
 * null: there is none.
 */
export function moneyAnnounced({ objects, reviews }: Pick<LaneState, 'objects' | 'reviews'>): string | null {
  const o = objects.find((x) => announcedAt(x) !== null && !isLookedInto(reviews, [x.id], heardAt(x)));
  if (o !== undefined) return notConfirmed(o);
  const isOpen = reviews.some((r) => r.status === 'open' && isFurtherItem(r));
  return isOpen ? 'a further payment on its payment link was announced. Decide its review item first' : null;
}

export function notConfirmed(o: MorObjectRow): string {
  return `a payment on ${nameOf(o)} was announced, and is not confirmed yet`;
}

/** A person dismissed an item of one of these subjects, and not before `since`. */
export function isLookedInto(
  reviews: LaneState['reviews'],
  subjects: readonly (string | null)[],
  since: Date | null,
): boolean {
  return reviews.some((r) => r.kind === 'conflicting_event' && subjects.includes(r.subject) && isDismissed(r, since));
}

/**
 * A request without a reply is not sent again once the invoice is over, or its money is announced, on its way, or waits for a person: whoever
 * got the link would pay a second time. Nor once another amount is due. The MoR may have made it all the same: a person is told (`mayStand`).
 */
export const requestUnwanted = {
  unwanted: (lane: Lane, { object: o }: Call): string | null => {
    // A payment on it was announced, so it is there: the same key brings its name, by which it is read.
    if (o !== undefined && heardAt(o) !== null) return null;
    const status = lane.invoice?.platformStatus ?? 'unknown';
    if (isOver(status)) return `the invoice is ${status}`;
    return moneyOnItsWay(lane.payments) ?? moneyUndecided(lane) ?? moneyAnnounced(lane) ?? otherAmount(lane, o);
  },
  takenBack: (lane: Lane, { row, object: o }: Call, why: string): void => {
    if (o === undefined || o.morId !== null) return;
    const refusal = { status: 409, code: NOT_PAYABLE, message: `It is not asked for any more: ${why}.`, errors: [] };
    // Its first try may be under way, or its answer may have been lost with a process that died: a try is counted when it is answered.
    const mayStand = row.attempts > 0 || row.createdAt < lane.now;
    o.detail = { ...o.detail, refusal, ...(mayStand ? { mayStand } : {}) };
    // One that is made by itself is made again: of what is due now, or once a person says that the money was another invoice's.
    const isAsked = lane.reviews.some((r) => r.status === 'open' && isOfSharedCharge(r));
    o.status = (why === OTHER_AMOUNT || isAsked) && o.detail.automatic === true ? 'REPLACED' : 'REFUSED';
    o.updatedAt = lane.now;
  },
};

const OTHER_AMOUNT = 'another amount is due now';

/** Made now it would ask the customer for too much, or too little. Null: it would not. */
function otherAmount({ invoice }: Lane, o: Pick<MorObjectRow, 'amount'> | undefined): string | null {
  const amount = o?.amount ?? null;
  const due = isPayable(invoice) ? (invoice?.amountRemaining ?? null) : null;
  return amount === null || due === null || amount === due ? null : OTHER_AMOUNT;
}
