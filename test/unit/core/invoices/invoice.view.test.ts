// Why Crossbill ignores an invoice, as the API says it.
import { expect, it } from '@jest/globals';
import { ignoredBecause } from '../../../../src/core/invoices/invoice.view.js';
import { INVOICE, type InvoiceRow } from '../../../../src/shared/domain/invoice-row.js';
import { newRow } from '../../../../src/shared/domain/row.js';
import { NOW } from '../../../support/builders/channel-lane.js';

it.each<[string | null, Partial<InvoiceRow>]>([
  [null, { status: 'review' }],
  ['not_enrolled', { enrolled: false }],
  ['signup', { billingReason: 'subscription_create' }],
  ['nothing_due', { platformStatus: 'open', amountDue: 0n }],
  ['only_in_review', { platformStatus: 'unknown' }],
])('the API gives %s as the reason to ignore an invoice', (reason, over) => {
  const invoice = newRow(INVOICE, { invoiceId: 'in_1', firstSeenAt: NOW, status: 'ignored', ...over });
  expect(ignoredBecause(invoice)).toBe(reason);
});
