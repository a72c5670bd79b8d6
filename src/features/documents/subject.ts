// The engine's table for e-invoices: the rule for each event, call, item and choice.
import { type Subject } from '../../engine/subject.js';
import { takeEInvoice } from './rules/e-invoice.js';

export const documents = {
  events: {
    'e_invoice.issued': takeEInvoice,
    'e_invoice.issuance_failed': takeEInvoice,
    'e_invoice.cancelled': takeEInvoice,
  },
} satisfies Subject;
