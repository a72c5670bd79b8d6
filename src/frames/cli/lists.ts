// `crossbill invoices` and `crossbill payments`: show the API's lists at a terminal, with the same filters.
import { given } from '../api/http/page.js';
import { invoiceFields } from '../../core/invoices/invoice.fields.js';
import { INVOICE_STATUSES } from '../../core/invoices/invoice.view.js';
import { InvoicesController } from '../../core/invoices/invoices.controller.js';
import { paymentFields } from '../../core/payments/payment.fields.js';
import { PAYMENT_STATUSES } from '../../core/payments/payment.view.js';
import { PaymentsController } from '../../core/payments/payments.controller.js';
import { type Commands } from './commands.js';
import { oneOf, parseCurrency, parseSince } from './options.js';

const sinceOf = (text: string): string => parseSince(text).toISOString();

export function addInvoices(on: Commands): void {
  withFilters(on, 'invoices', 'when Stripe made them')
    .option('--status <status>', INVOICE_STATUSES.join(', '), oneOf(INVOICE_STATUSES))
    .action(
      on.run(async (cli, { status, currency, customer, since, limit, cursor }) => {
        const query = given({ status, currency, customer, since, limit, cursor });
        await cli.printPage(await (await cli.open()).get(InvoicesController).list(query), invoiceFields);
      }),
    );
}

export function addPayments(on: Commands): void {
  withFilters(on, 'payments', 'when the money was taken')
    .option('--status <status>', PAYMENT_STATUSES.join(', '), oneOf(PAYMENT_STATUSES))
    .option('--invoice <in_id>', "only this invoice's")
    .action(
      on.run(async (cli, { status, invoice, currency, customer, since, limit, cursor }) => {
        const query = given({ status, invoice_id: invoice, currency, customer, since, limit, cursor });
        await cli.printPage(await (await cli.open()).get(PaymentsController).list(query), paymentFields);
      }),
    );
}

function withFilters(on: Commands, noun: 'invoices' | 'payments', when: string) {
  return on
    .addList(noun, on.about)
    .option('--customer <id>', "only this customer's, by the merchant's own id")
    .option('--since <when>', `only since (${when}): 2026-01-01, 30d, 12h`, sinceOf)
    .option('--currency <code>', 'ISO 4217', parseCurrency);
}
