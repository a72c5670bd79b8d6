// Sentences of items about invoices: missing verdicts, stuck drafts, refused events.
import { type Words } from '../../../shared/domain/fact.js';
import { showMoney } from '../../../shared/domain/money.js';
import { showIso } from '../../../shared/domain/show-time.js';

export const invoiceWords: Words<
  'no-verdict' | 'transfer-overdue' | 'finalization-failed' | 'draft-waits' | 'relay-refused'
> = {
  'no-verdict': (f) => ({
    summary: `the MoR has sent no verdict for ${f.due === null ? 'this invoice' : showMoney(f.due)} since ${showIso(f.since)}${f.letGo === null ? '' : `; it reported payment ${f.letGo.payment} of charge ${f.letGo.charge ?? ''}, but the ledger has that charge for another invoice`}`,
    proposal: f.charges
      ? 'Ask the MoR whether it charged the customer; bank debits take days. If it did not, retry: Crossbill asks it to charge the amount due now.'
      : 'Ask the MoR whether it charged the customer; bank debits take days. The invoice stays open until the MoR answers.',
  }),
  'transfer-overdue': (f) => ({
    summary: `the MoR could not charge the renewal, and no transfer has arrived for proforma invoice ${f.proforma}, due by ${showIso(f.dueAt)}`,
    proposal:
      "Ask the customer about the transfer. While the proforma invoice is open, Crossbill does not charge again. To charge again, cancel the proforma invoice in the MoR's portal, then retry the renewal.",
  }),
  'finalization-failed': (f) => ({
    summary: `Stripe could not finalize the invoice: ${f.said}`,
    proposal: 'Correct this error on Stripe and finalize the invoice. Crossbill then marks a waiting payment.',
  }),
  'draft-waits': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)} on ${showIso(f.since)}, but the invoice is still a draft`,
    proposal: 'Finalize the invoice on Stripe (its auto_advance may be off). Crossbill then marks the waiting payment.',
  }),
  'relay-refused': (f) => ({
    summary: `the MoR's relay address refused the call ${f.call}: ${f.said}`,
    proposal:
      'Without the relayed invoice.created event the MoR perhaps never charges this renewal. Fix the error, then retry.',
  }),
};
