// Transfers join the engine.
import { type Subject } from '../engine/subject.js';
import { createProformaCall } from './rules/proforma-answer.js';
import { takeIssuanceFailed, takeIssued, takeSettled } from './rules/proforma-event.js';
import { unheardTransfers } from './rules/transfer-items.js';

export const transfers = {
  when: (lane) => lane.objects.some((o) => o.kind === 'proforma'),
  events: {
    'proforma_invoice.issued': takeIssued,
    'proforma_invoice.issuance_failed': takeIssuanceFailed,
    'proforma_invoice.settled': takeSettled,
  },
  calls: { create_proforma: createProformaCall },
  items: [unheardTransfers],
} satisfies Subject;
