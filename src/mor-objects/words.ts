// Sentences of items about transfers, links and other objects at the MoR.
import { type FactOf, type Sentences, type Words } from '../domain/fact.js';
import { type OnObject } from '../domain/facts/parts.js';
import { showMoney } from '../domain/money.js';
import { showIso, showUntil } from '../domain/show-time.js';

export const objectWords: Words<
  | 'announced-otherwise'
  | 'may-stand'
  | 'still-payable'
  | 'unknown-proforma'
  | 'unknown-capture'
  | 'unknown-refund'
  | 'unknown-e-invoice'
  | 'unknown-dispute'
> = {
  'announced-otherwise': (f) => ({
    summary: `the MoR announced ${showMoney(f.announced)} for ${f.object}; Crossbill recorded ${f.recorded === null ? 'no amount' : showMoney(f.recorded)}`,
    proposal: 'Ask the MoR which amount is right. Crossbill keeps its first record.',
  }),
  'may-stand': (f) => ({
    summary: `Crossbill requested ${nameOf(f)}, got no reply, and withdrew the request: the MoR may have made it`,
    proposal:
      f.what === 'payment_link'
        ? "Nobody got the link's address. If the MoR's portal shows the link, do not send it. Crossbill would show a payment on the link. Dismiss this after that."
        : `Look in the MoR's portal for a proforma invoice whose reference begins with ${f.invoice}, and cancel it. Dismiss this after that.`,
  }),
  'still-payable': stillPayable,
  'unknown-proforma': (f) => ({
    summary: `a bank transfer was received for proforma invoice ${f.proforma}, which is not known here`,
    proposal: LOOK,
  }),
  'unknown-capture': (f) => ({
    summary: `a payment was captured (event ${f.event}) that is not known here: no invoice, link or signup`,
    proposal: LOOK,
  }),
  'unknown-refund': (f) => ({
    summary: `${showMoney(f.amount)} of payment ${f.payment} was given back (event ${f.event}), which is not known here; the event names no invoice`,
    proposal:
      "If it is a signup's payment, complete the signup: the refund is then recorded and this closes itself. Else look it up at the MoR.",
  }),
  'unknown-e-invoice': (f) => ({
    summary: `${f.type} for e-invoice ${f.eInvoice}, whose invoice is not known here`,
    proposal: 'Open the e-invoice at the MoR, find its invoice, and file it with your accounts.',
  }),
  'unknown-dispute': (f) => ({
    summary: `${f.type} (event ${f.event}) about a payment that is not known here${f.until === null ? '' : `, to be answered by ${showIso(f.until)}`}`,
    proposal: "Find the payment in the MoR's dashboard and act there in time.",
  }),
};

const LOOK = 'Look it up at the MoR. If it belongs to an invoice, see that the invoice is settled; else dismiss this.';

const nameOf = ({ what, object }: Pick<FactOf<'still-payable'>, 'what' | 'object'>): string =>
  `${what === 'payment_link' ? 'payment link' : 'proforma invoice'} ${object}`;

function stillPayable(f: FactOf<'still-payable'>): Sentences {
  if (f.what === 'payment_link')
    return {
      summary: `the invoice is ${f.status}, and ${nameOf(f)} can still be paid ${showUntil(f.until)}`,
      proposal:
        'Tell the customer not to use the link. A payment on it would be a second payment, and Crossbill would show it.',
    };
  return {
    summary: `the invoice is ${f.status}, and ${nameOf(f)} still asks for a transfer ${showUntil(f.until)}`,
    proposal:
      "Cancel it in the MoR's portal, or tell the customer not to pay it. A transfer for it would be a second payment, and Crossbill would show it.",
  };
}

/**
 * Tells a person how to mark an invoice for money on a link before Crossbill has booked the money. With the link's
 * reference on the mark, a later read of the link finds the mark.
 */
export function markByHand({ reference, charge }: OnObject): string {
  const name = reference ?? "the link's id at the MoR (ask for it)";
  const it = charge === null ? 'this payment' : `charge ${charge}`;
  const back = `Is the invoice void, or has other money paid it for good? Then do not mark it: have ${it} given back in the MoR's portal.`;
  const bill = `Has that other money been given back? Then bill ${it} with a new invoice.`;
  return `mark the invoice on Stripe by hand, with a payment record of that amount with reference ${name}. ${back} ${bill} Dismiss this after that: the ledger does not have the money until the MoR reports it.`;
}
