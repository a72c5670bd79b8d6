// Sentences of items about bank transfers.
import { markByHand } from '../mor-objects/words.js';
import { type Words } from '../domain/fact.js';
import { showMoney } from '../domain/money.js';

export const transferWords: Words<'transfer-unheard' | 'transfer-short'> = {
  'transfer-unheard': (f) => ({
    summary: `${f.object} is settled at the MoR, but no event said how much came`,
    proposal: `Ask the MoR to send proforma_invoice.settled again. If it cannot, ask for the amount and ${markByHand(f)}`,
  }),
  'transfer-short': (f) => ({
    summary: `${showMoney(f.received)} of ${showMoney(f.total)} came by bank transfer for proforma invoice ${f.proforma}; ${showMoney(f.missing)} is missing`,
    proposal: "Apply it as a part payment and collect the rest, or dismiss this and refund it in the MoR's portal.",
  }),
};
