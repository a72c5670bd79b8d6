// Invoice files and e-invoices of the MoR: everything the rest of Crossbill gets from this folder.
import { type DocumentCode } from './facts.js';
import { type EventRow, feature } from '../../feature.js';
import { type Words } from '../../shared/domain/fact.js';
import { applyEInvoice } from './rules/e-invoice.js';

type Type = 'e_invoice.issued' | 'e_invoice.issuance_failed' | 'e_invoice.cancelled';

const eInvoice: EventRow<Type> = {
  apply: applyEInvoice,
  unknown: ({ eventId: event, kind: type, eInvoiceId }) => ({
    kind: 'conflicting_event',
    fact: { code: 'unknown-e-invoice', event, type, eInvoice: eInvoiceId ?? event },
  }),
  mayBeUnderWay: ({ eInvoiceId }) => eInvoiceId !== null,
};

const words: Words<DocumentCode> = {
  'unknown-e-invoice': (f) => ({
    summary: `the MoR sent ${f.type} for e-invoice ${f.eInvoice}, but Crossbill does not know its invoice`,
    proposal: 'Open the e-invoice at the MoR, find its invoice, and file it with your accounts.',
  }),
};

export const documents = feature({
  name: 'documents',
  modules: async () => [(await import('./documents.module.js')).DocumentsModule],
  events: {
    'e_invoice.issued': eInvoice,
    'e_invoice.issuance_failed': eInvoice,
    'e_invoice.cancelled': eInvoice,
  },
  words,
});
