// Sentences of items about bank transfers.
import { FIND_MONEY, markByHand } from '../../core/mor-objects/words.js';
import { type Words } from '../../shared/domain/fact.js';
import { type TransferCode } from './facts.js';

export const transferWords: Words<TransferCode> = {
  'transfer-unheard': (f) => ({
    summary: `${f.object} is settled at the MoR, but Crossbill got no event with the amount of the transfer`,
    proposal: `Ask the MoR to send proforma_invoice.settled again. If it cannot, ask for the amount, and ${markByHand(f)}`,
  }),
  'unknown-proforma': (f) => ({
    summary: `the MoR received a bank transfer for proforma invoice ${f.proforma}, but Crossbill does not know that proforma invoice`,
    proposal: FIND_MONEY,
  }),
};
