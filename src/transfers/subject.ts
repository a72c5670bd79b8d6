// Transfers join the engine.
import { type Subject } from '../engine/subject.js';
import { createProformaCall } from './rules/proforma-answer.js';
import { takeIssuanceFailed, takeIssued, takeSettled } from './rules/proforma-event.js';
import { asRule } from '../engine/adapter.js';
import { settleTransfers } from './rules/settle-transfer.js';

export const transfers = {
  when: (lane) => lane.objects.some((o) => o.kind === 'proforma'),
  events: {
    'proforma_invoice.issued': takeIssued,
    'proforma_invoice.issuance_failed': takeIssuanceFailed,
    'proforma_invoice.settled': takeSettled,
  },
  calls: { create_proforma: createProformaCall },
  rest: [asRule(settleTransfers)],
} satisfies Subject;
