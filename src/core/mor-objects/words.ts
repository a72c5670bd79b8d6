// Sentences of items about transfers, links and other objects at the MoR.
import { type FactOf, type Sentences, type Words } from '../../shared/domain/fact.js';
import { type OnObject } from '../../shared/domain/facts/parts.js';
import { showMoney } from '../../shared/domain/money.js';
import { showUntil } from '../../shared/domain/show-time.js';

export const objectWords: Words<
  'announced-otherwise' | 'may-stand' | 'still-payable' | 'unknown-capture' | 'unknown-refund'
> = {
  'announced-otherwise': (f) => ({
    summary: `the MoR announced ${showMoney(f.announced)} for ${f.object}; Crossbill recorded ${f.recorded === null ? 'no amount' : showMoney(f.recorded)}`,
    proposal: 'Ask the MoR which amount is right. Crossbill keeps its first record.',
  }),
  'may-stand': (f) => ({
    summary: `Crossbill requested ${nameOf(f)}, got no reply, and withdrew the request: the MoR may have made it`,
    proposal:
      f.what === 'payment_link'
        ? "Nobody got the link's address. If the MoR's portal shows the link, do not send it. If somebody pays it, Crossbill shows the payment. Then dismiss this."
        : `Look in the MoR's portal for a proforma invoice whose reference begins with ${f.invoice}, and cancel it. Then dismiss this.`,
  }),
  'still-payable': stillPayable,
  'unknown-capture': (f) => ({
    summary: `the MoR captured a payment (event ${f.event}), but Crossbill has no invoice, link or signup for it`,
    proposal: FIND_MONEY,
  }),
  'unknown-refund': (f) => ({
    summary: `the MoR refunded ${showMoney(f.amount)} of payment ${f.payment} (event ${f.event}), but Crossbill does not know the payment, and the event names no invoice`,
    proposal:
      "If it is a signup's payment, complete the signup: Crossbill then records the refund and closes this item. Otherwise look the refund up at the MoR.",
  }),
};

/** What to do with money of the MoR that belongs to no known invoice. */
export const FIND_MONEY =
  'Find the payment at the MoR. If the money belongs to an invoice, make sure that Stripe shows the invoice as paid. Then dismiss this.';

const nameOf = ({ what, object }: Pick<FactOf<'still-payable'>, 'what' | 'object'>): string =>
  `${what === 'payment_link' ? 'payment link' : 'proforma invoice'} ${object}`;

function stillPayable(factOf: FactOf<'still-payable'>): Sentences {
  if (factOf.what === 'payment_link')
    return {
      summary: `the invoice is ${factOf.status}, and ${nameOf(factOf)} can still be paid ${showUntil(factOf.until)}`,
      proposal:
        'Tell the customer not to use the link: a payment on it would be a second payment. Crossbill shows such a payment.',
    };
  return {
    summary: `the invoice is ${factOf.status}, and ${nameOf(factOf)} still asks for a transfer ${showUntil(factOf.until)}`,
    proposal:
      "Cancel it in the MoR's portal, or tell the customer not to pay it: a transfer would be a second payment. Crossbill shows such a transfer.",
  };
}

/**
 * Tells a person how to mark an invoice by hand for a payment on a link, before Crossbill has booked the payment. The
 * mark has the link's reference, so Crossbill finds the mark after a later read of the link.
 */
export function markByHand({ reference, charge }: OnObject): string {
  const name = reference ?? "the link's id (ask the MoR for it)";
  const it = charge === null ? 'this payment' : `charge ${charge}`;
  const back = `Is the invoice void, or has other money paid it for good? Then do not mark it: refund ${it} in the MoR's portal.`;
  const bill = `Did that other money go back to the customer? Then make a new invoice for ${it}.`;
  return `mark the invoice on Stripe by hand: report a payment record of that amount with reference ${name}, and attach it. ${back} ${bill} Then dismiss this: the ledger does not have the money until the MoR reports it.`;
}
