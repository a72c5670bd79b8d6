// Sentences of items about invoices: missing verdicts, stuck drafts, refused events.
import { type Words } from '../../domain/fact.js';
import { showMoney } from '../../domain/money.js';
import { showIso } from '../../domain/show-time.js';

export const invoiceWords: Words<
  'no-verdict' | 'transfer-overdue' | 'finalization-failed' | 'draft-waits' | 'relay-refused'
> = {
  'no-verdict': (f) => ({
    summary: `no verdict from the MoR for ${f.due === null ? 'money' : showMoney(f.due)} since ${f.since}${f.letGo === null ? '' : `; it named payment ${f.letGo.payment}, of charge ${f.letGo.charge ?? ''}, which is booked for another invoice`}`,
    proposal: 'Ask the MoR whether it charged the customer; bank debits take days. The invoice stays open until then.',
  }),
  'transfer-overdue': (f) => ({
    summary: `the renewal was refused, and proforma invoice ${f.proforma} was to be paid by ${showIso(f.dueAt)}: no transfer for it is known`,
    proposal:
      "Ask the customer about the transfer. While the proforma invoice is open, Crossbill tries nothing else. To charge again instead, cancel the proforma invoice in the MoR's portal, then retry the renewal.",
  }),
  'finalization-failed': (f) => ({
    summary: `Stripe could not finalize the invoice: ${f.said}`,
    proposal: 'Fix the named fault on Stripe and finalize the invoice; Crossbill then marks a waiting payment.',
  }),
  'draft-waits': (f) => ({
    summary: `${showMoney(f.taken)} was taken on ${showIso(f.since)}, but the invoice is still a draft`,
    proposal: 'Finalize the invoice on Stripe (its auto_advance may be off); Crossbill then marks the waiting payment.',
  }),
  'relay-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal: 'The MoR did not accept this event. Find out why, then retry; otherwise it may not charge this renewal.',
  }),
};
