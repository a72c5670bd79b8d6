// The sentences of items about invoices: missing verdicts, stuck drafts, refused events.
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
      "Ask the customer. While it stands nothing else is tried: once it is cancelled in the MoR's portal, the renewal can be tried again.",
  }),
  'finalization-failed': (f) => ({
    summary: `Stripe could not finalize the invoice: ${f.said}`,
    proposal: 'Fix on Stripe what it names and finalize the invoice; a waiting payment is then marked automatically.',
  }),
  'draft-waits': (f) => ({
    summary: `${showMoney(f.taken)} was taken on ${showIso(f.since)}, but the invoice is still a draft`,
    proposal:
      'Finalize the invoice on Stripe (its auto_advance may be off); the waiting payment is then marked automatically.',
  }),
  'relay-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal: 'The MoR did not accept this event. Find out why, then retry; otherwise it may not charge this renewal.',
  }),
};
