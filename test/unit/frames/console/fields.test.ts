// One list of fields for each noun: the names of the API in every table and file.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import {
  columnsOf,
  csvColumns,
  customersIn,
  type Fields,
  jsonRow,
  terminalTable,
} from '../../../../src/frames/console/fields.js';
import { html } from '../../../../src/frames/console/html.js';
import { selectionLine } from '../../../../src/frames/console/selection.js';
import { status } from '../../../../src/frames/console/show.js';
import { auditFields } from '../../../../src/core/audit/audit.fields.js';
import { AuditView } from '../../../../src/core/audit/audit.view.js';
import { CustomerLinkView } from '../../../../src/core/customers/customer-link.view.js';
import { customerFields } from '../../../../src/core/customers/customer.fields.js';
import { disputeFields } from '../../../../src/features/losses/disputes/dispute.fields.js';
import { linkedCustomerFields, outsideFields } from '../../../../src/features/enrolment/enrolment.fields.js';
import { eventFields } from '../../../../src/core/events/event.fields.js';
import { EventWithBodyView } from '../../../../src/core/events/event.view.js';
import { invoiceFields } from '../../../../src/core/invoices/invoice.fields.js';
import { InvoiceListView } from '../../../../src/core/invoices/invoice.view.js';
import { ledgerFields } from '../../../../src/core/ledger/ledger-entry.fields.js';
import { LedgerEntryView } from '../../../../src/core/ledger/ledger-entry.view.js';
import { DisputeView } from '../../../../src/core/mor-objects/mor-object.view.js';
import { moveFields } from '../../../../src/features/moves/move.fields.js';
import { MoveView } from '../../../../src/features/moves/move.view.js';
import { notificationFields } from '../../../../src/features/notifications/notification.fields.js';
import { NotificationView } from '../../../../src/features/notifications/notification.view.js';
import { paymentFields } from '../../../../src/core/payments/payment.fields.js';
import { PaymentView } from '../../../../src/core/payments/payment.view.js';
import { refundFields } from '../../../../src/core/refunds/refund.fields.js';
import { RefundView } from '../../../../src/core/refunds/refund.view.js';
import { retryFields } from '../../../../src/features/retries/retry.fields.js';
import { RetriesView } from '../../../../src/core/invoices/retry.view.js';
import { reviewFields } from '../../../../src/core/reviews/review.fields.js';
import { ReviewView } from '../../../../src/core/reviews/review.view.js';

/** The names that OpenAPI has. */
function namesIn(...views: readonly (new () => object)[]): ReadonlySet<string> {
  return new Set(
    views.flatMap((view) => {
      const found: unknown = Reflect.getMetadata('swagger/apiModelPropertiesArray', view.prototype as object);
      return Array.isArray(found) ? found.map((name) => String(name).replace(/^:/, '')) : [];
    }),
  );
}

const refund: RefundView = {
  id: 'ref_1',
  mor_refund_id: null,
  payment_id: 'pay_1',
  invoice_id: 'in_1',
  invoice_number: 'INV-7',
  customer_id: 'cus_1',
  amount: 1234,
  currency: 'kwd',
  status: 'succeeded',
  reason: null,
  processor_refund_id: null,
  origin: 'api',
  mirror: 'done',
  credit_note_id: null,
  created_at: '2026-11-22T03:40:00.000Z',
  succeeded_at: null,
};

const nouns: readonly [string, Fields<never>, ReadonlySet<string>][] = [
  ['payments', paymentFields, namesIn(PaymentView)],
  ['refunds', refundFields, namesIn(RefundView)],
  ['invoices', invoiceFields, namesIn(InvoiceListView)],
  ['customers', customerFields, namesIn(CustomerLinkView)],
  ['ledger', ledgerFields, namesIn(LedgerEntryView)],
  ['disputes', disputeFields, namesIn(DisputeView, PaymentView)], // with what the payment belongs to
  ['reviews', reviewFields, namesIn(ReviewView)],
  ['events', eventFields, namesIn(EventWithBodyView)],
  ['notifications', notificationFields, namesIn(NotificationView)],
  ['audit', auditFields, namesIn(AuditView)],
  ['moves', moveFields, namesIn(MoveView)],
  ['linked customers', linkedCustomerFields, new Set([...namesIn(CustomerLinkView), 'move'])],
  ['invoices left alone', outsideFields, namesIn(InvoiceListView)],
  // The state is the list's own; the invoice has the due time in its timeline.
  ['retries', retryFields, new Set([...namesIn(InvoiceListView, RetriesView), 'state', 'expected_by'])],
];
it.each(nouns)(
  'the console page, the CSV, `crossbill export` and the option `--json` for %s use exactly the field names of the API',
  (_, list, api) => {
    expect(api.size).toBeGreaterThan(5);
    const names = list.map(([name]) => name);
    expect(names.filter((name) => !api.has(name))).toEqual([]);
    expect(csvColumns(list).map(([name]) => name)).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
  },
);

it('the CSV of refunds has decimal amounts, the JSON has the API’s values, and neither has customer names', () => {
  const csv = Object.fromEntries(csvColumns(refundFields).map(([name, cell]) => [name, cell(refund)]));
  expect(csv).toMatchObject({ amount: '1.234', currency: 'KWD', customer_id: 'cus_1', succeeded_at: '' });
  expect(jsonRow(refundFields, refund)).toMatchObject({ amount: 1234, currency: 'kwd', succeeded_at: null });
  expect(terminalTable(refundFields, [refund]).rows[0]).toContain('1.234 KWD');
});

it('a console table shows ids last, a customer’s name where known, and no column twice', () => {
  const names = new Map([['cus_1', 'Ada <Lovelace>']]);
  const columns = columnsOf(refundFields, names);
  expect(columns.at(-1)?.label).toBe('Refund');
  const shown = html`${columns.map((c) => c.cell(refund))}`.toString();
  expect(shown).toContain('Ada &lt;Lovelace&gt;');
  expect(customersIn(refundFields, [refund, refund])).toEqual(['cus_1']);
  expect(columnsOf(refundFields, names, ['customer_id']).map((c) => c.label)).not.toContain('Customer');
});

it('a payment without money shows when the MoR refused it, not when Crossbill learned of it', () => {
  const view = {
    ...{ succeeded_at: null, verdict_at: '2026-09-17T18:38:00.000Z', created_at: '2026-11-28T17:29:00.000Z' },
  } as PaymentView;
  const [, taken] = paymentFields.find(([name]) => name === 'succeeded_at') ?? [];
  const said = (payment: PaymentView): string => String(html`${taken?.page?.cell?.(payment)}`);
  expect(said(view)).toMatch(/tried .*17 Sep 2026/);
  expect(said({ ...view, verdict_at: null })).toMatch(/tried .*28 Nov 2026/);
});

it('the sums of a list leave out currencies without money, unless no currency has any', () => {
  const none = { currency: 'GBP', rows: 2, minor: 0n };
  const some = { currency: 'EUR', rows: 1, minor: 900n };
  const said = (...sums: { currency: string; rows: number; minor: bigint }[]): string =>
    String(selectionLine('/console/retries', {}, { sums, all: true }));
  expect(said(none, some)).toMatch(/3\s+rows[^]*9\.00 EUR/);
  expect(said(none, some)).not.toContain('GBP');
  expect(said(none)).toContain('0.00 GBP');
});

it('a status of the MoR in capitals reads like any other status', () => {
  expect(String(status('PENDING_TAX_TRANSACTION'))).toContain('pending tax transaction');
});
