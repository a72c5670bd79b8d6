// Sentences of items about bank transfers.
import { markByHand } from '../../core/mor-objects/words.js';
import { type Words } from '../../shared/domain/fact.js';
import { showMoney } from '../../shared/domain/money.js';

export const transferWords: Words<'transfer-unheard' | 'transfer-short'> = {
  'transfer-unheard': (f) => ({
    summary: `${f.object} is settled at the MoR, but Crossbill got no event with the amount of the transfer`,
    proposal: `Ask the MoR to send proforma_invoice.settled again. If it cannot, ask for the amount, and ${markByHand(f)}`,
  }),
  'transfer-short': (f) => ({
    summary: `the customer transferred only ${showMoney(f.received)} of ${showMoney(f.total)} for proforma invoice ${f.proforma}; ${showMoney(f.missing)} is missing`,
    proposal:
      "Apply the transfer as a part payment and collect the rest, or refund it in the MoR's portal and dismiss this.",
  }),
};
