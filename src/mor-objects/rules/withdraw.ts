// When nothing more is asked of the customer, and what becomes of a request for a proforma invoice or a link that the MoR has not answered.
import { heardAt, type MorObjectRow } from '../../domain/mor-object.js';
import { isOver, isPayable } from '../../domain/status.js';
import { type Call } from '../../engine/call.js';
import { type Lane } from '../../engine/draft.js';
import { isOfSharedCharge, moneyAnnounced, moneyOnItsWay, moneyUndecided } from '../../engine/open-money.js';

/** The code of a request that is refused, or taken back, because nothing more is to be paid. */
export const NOT_PAYABLE = 'invoice_not_payable';

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
