// The engine's table for bank transfers: the rule for each event, call, item and choice.
import { nextLookup } from '../../engine/lookup.js';
import { type Subject } from '../../engine/subject.js';
import {
  createProformaCall,
  proformaLookup,
  takeIssuanceFailed,
  takeIssued,
  takeSettled,
  unheardTransfers,
} from './rules/proforma.js';

export const transfers = {
  when: (lane) => lane.objects.some((o) => o.kind === 'proforma'),
  events: {
    'proforma_invoice.issued': takeIssued,
    'proforma_invoice.issuance_failed': takeIssuanceFailed,
    'proforma_invoice.settled': takeSettled,
  },
  calls: { create_proforma: createProformaCall },
  items: [unheardTransfers],
  lookups: [nextLookup(proformaLookup)],
} satisfies Subject;
