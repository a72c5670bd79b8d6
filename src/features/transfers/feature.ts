// Proforma invoices and bank transfers: everything the rest of Crossbill gets from this folder.
import './facts.js';
import { feature } from '../../feature.js';
import { idAfter, readSettled } from './events.js';
import { applyIssuanceFailed, applyIssued, applySettled } from './rules/proforma.js';
import { transfers as lane } from './subject.js';
import { transferWords } from './words.js';

const mayBeUnderWay = (): boolean => true;

export const transfers = feature({
  name: 'transfers',
  modules: async () => [(await import('./transfers.module.js')).TransfersModule],
  lanes: [lane],
  events: {
    'proforma_invoice.issued': {
      read: idAfter('evt_issued_'),
      apply: applyIssued,
      unknown: () => null,
      mayBeUnderWay,
    },
    'proforma_invoice.issuance_failed': {
      read: idAfter('evt_issuance_failed_'),
      apply: applyIssuanceFailed,
      unknown: () => null,
      mayBeUnderWay,
    },
    'proforma_invoice.settled': {
      read: readSettled,
      apply: applySettled,
      unknown: ({ eventId: event, proformaInvoiceId: proforma }) => ({
        kind: 'conflicting_event',
        fact: { code: 'unknown-proforma', event, proforma },
      }),
      mayBeUnderWay,
      secondBody:
        'The MoR may have received another transfer. Crossbill did not book its money: ask the MoR how much money arrived in all.',
    },
  },
  callWords: {
    create_proforma: {
      toDo: 'request a proforma invoice from the MoR',
      done: 'Requested a proforma invoice from the MoR',
    },
  },
  words: transferWords,
});
