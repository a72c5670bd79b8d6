// Sentences of items about payment links.
import { markByHand } from '../mor-objects/words.js';
import { showNames, showObserved } from '../domain/show-observed.js';
import { type Words } from '../domain/fact.js';
import { showMoney } from '../domain/money.js';

export const linkWords: Words<
  | 'link-paid'
  | 'link-lost'
  | 'link-unread'
  | 'link-not-paid'
  | 'link-part-paid'
  | 'further-announced'
  | 'further-on-link'
  | 'recovery-refused'
> = {
  'link-paid': (f) => ({
    summary: `link ${f.reference ?? ''} is paid, but the MoR does not say how much`,
    proposal: `Ask the MoR for the amount and ${markByHand(f)}`,
  }),
  'link-lost': (f) => {
    const why = f.why === 'gone' ? `the MoR does not know ${f.object}` : `the MoR gave no id for ${f.object}`;
    return {
      summary: f.announced
        ? `a payment was announced, and ${why}`
        : `${why}; the link has ended, and nobody knows whether the customer paid`,
      proposal: `Ask the MoR whether the customer paid. If not, dismiss this. If so, ${markByHand(f)}`,
    };
  },
  'link-not-paid': (f) => ({
    summary: `a payment on link ${f.reference ?? ''} was announced, but the link still says ${f.status}`,
    proposal:
      'Ask the MoR whether the customer paid. The link is read again; the payment is recorded once it says PAID.',
  }),
  'link-unread': (f) => {
    const ended = f.ended ? ', which has ended' : '';
    return {
      summary: f.announced
        ? `a payment on ${f.object} was announced, and the MoR does not show the link${ended}`
        : `the MoR does not show ${f.object}${ended}: whether it was paid is not known`,
      proposal: `The last read: ${f.answer}. Find out why, and ask whether the customer paid. The link is read again; the payment is recorded once it says PAID.`,
    };
  },
  'link-part-paid': (f) => ({
    summary: `link ${f.reference ?? ''} has expired with ${showMoney(f.outstanding)} of ${showMoney(f.priced)} outstanding: ${showMoney(f.part)} seems to be paid`,
    proposal: `Ask the MoR whether ${showMoney(f.part)} was taken. Crossbill did not book the amount. If the MoR took it, mark it on the invoice by hand, or have it given back in the MoR's portal.`,
  }),
  'further-announced': (f) => ({
    summary: `more than one payment was announced on a payment link, and the books do not have ${f.further.map(showNames).join('; ')}. ${showObserved(f.observations)}`,
    proposal:
      "Ask the MoR which of these payments it took and has not given back. If it took more than the invoice needs, have the rest given back in the MoR's portal. This closes once all of the further money was given back, or its own payment event arrives. Else dismiss it with a note. Nothing is charged for the invoice until then.",
  }),
  'further-on-link': (f) => ({
    summary: `${showMoney(f.taken)} of payment ${f.payment} was taken on a payment link beside the first payment. ${showObserved(f.observations)}`,
    proposal:
      'Ask the MoR how often the customer paid. More than once? Refund the remaining amount of this payment. Only once? Dismiss this.',
  }),
  'recovery-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal:
      "The MoR made no link for this renewal. Fix what the MoR's answer names (the RECOVERY_LINK settings, or your arrangement with the MoR) and retry, or make a link by hand.",
  }),
};
