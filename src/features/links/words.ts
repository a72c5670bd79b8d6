// Sentences of items about payment links.
import { markByHand } from '../../core/mor-objects/words.js';
import { showNames, showObserved } from '../../shared/domain/show-observed.js';
import { type Words } from '../../shared/domain/fact.js';
import { showMoney } from '../../shared/domain/money.js';
import { type LinkCode } from './facts.js';

export const linkWords: Words<LinkCode> = {
  'link-paid': (f) => ({
    summary: `link ${f.reference ?? ''} is paid, but the MoR does not say how much`,
    proposal: `Ask the MoR for the amount and ${markByHand(f)}`,
  }),
  'link-lost': (f) => {
    const why = f.why === 'gone' ? `the MoR does not know ${f.object}` : `the MoR gave no id for ${f.object}`;
    return {
      summary: f.announced
        ? `the MoR announced a payment, but ${why}`
        : `${why}; the link has ended, and Crossbill cannot tell whether the customer paid`,
      proposal: `Ask the MoR whether the customer paid. If not, dismiss this. If so, ${markByHand(f)}`,
    };
  },
  'link-not-paid': (f) => ({
    summary: `the MoR announced a payment on link ${f.reference ?? ''}, but the link's status is still ${f.status}`,
    proposal:
      'Ask the MoR whether the customer paid. Crossbill reads the link again, and records the payment once the status is PAID.',
  }),
  'link-unread': (f) => {
    const ended = f.ended ? ', which has ended' : '';
    return {
      summary: f.announced
        ? `the MoR announced a payment on ${f.object}, but does not show the link${ended}`
        : `the MoR does not show ${f.object}${ended}: Crossbill cannot tell whether the customer paid`,
      proposal: `The MoR's last answer: ${f.answer}. Ask the MoR why, and whether the customer paid. Crossbill reads the link again, and records the payment once the status is PAID.`,
    };
  },
  'link-part-paid': (f) => ({
    summary: `link ${f.reference ?? ''} has expired with ${showMoney(f.outstanding)} of ${showMoney(f.priced)} outstanding: the customer seems to have paid ${showMoney(f.part)}`,
    proposal: `Ask the MoR whether it took ${showMoney(f.part)}. Crossbill did not book the amount. If the MoR took it, mark it on the invoice by hand, or refund it in the MoR's portal.`,
  }),
  'further-announced': (f) => ({
    summary: `the MoR announced more than one payment on a payment link, and the ledger does not have ${f.further.map(showNames).join('; ')}. ${showObserved(f.observations)}`,
    proposal:
      "Ask the MoR which of these payments it took and has not refunded. If it took more than the invoice needs, refund the rest in the MoR's portal. Crossbill closes this item once the MoR has refunded the further money, or sends a payment event for it. Otherwise dismiss it with a note. Until then Crossbill charges nothing for the invoice.",
  }),
  'further-on-link': (f) => ({
    summary: `the customer paid ${showMoney(f.taken)} (payment ${f.payment}) on a payment link in addition to the first payment. ${showObserved(f.observations)}`,
    proposal:
      'Ask the MoR how often the customer paid. More than once? Refund the remaining amount of this payment. Only once? Dismiss this.',
  }),
  'recovery-refused': (f) => ({
    summary: `the MoR refused ${f.call}: ${f.said}`,
    proposal:
      'The MoR made no link for this renewal. Fix the error that the MoR named (in the RECOVERY_LINK settings, or in your arrangement with the MoR) and retry, or make a link by hand.',
  }),
};
