// `crossbill invoices`, `payments`: the lists of the API at a terminal, by the same filters.
import { type Command } from 'commander';
import { parseCurrency } from '../domain/money.js';
import { type Page } from '../domain/page.js';
import { InvoicesStore } from '../invoices/invoices.store.js';
import { PaymentsStore } from '../payments/payments.store.js';
import { type Fields, terminalTable } from '../console/fields.js';
import { invoiceFields } from '../invoices/invoice.fields.js';
import { paymentFields } from '../payments/payment.fields.js';
import { INVOICE_STATUSES, invoiceListView } from '../invoices/invoice.view.js';
import { PAYMENT_STATUSES, paymentView } from '../payments/payment.view.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Cli, oneOf, parseCount, parseSince, type Session } from './session.js';
import { table } from './table.js';

export function addLists(program: Command, session: Session): void {
  withFilters(session.leaf(program, 'invoices', 'invoices, newest first', invoices), 'when Stripe made them')
    .option('--status <status>', INVOICE_STATUSES.join(', '), oneOf(INVOICE_STATUSES))
    .option('--currency <code>', 'ISO 4217');
  withFilters(session.leaf(program, 'payments', 'payments, newest first', payments), 'when the money was taken')
    .option('--status <status>', PAYMENT_STATUSES.join(', '), oneOf(PAYMENT_STATUSES))
    .option('--currency <code>', 'ISO 4217')
    .option('--invoice <in_id>', "only this invoice's");
}

function withFilters(command: Command, when: string): Command {
  return command
    .option('--customer <id>', "only this customer's, by the merchant's own id")
    .option('--since <when>', `only since (${when}): 2026-01-01, 30d, 12h`, parseSince)
    .option('--limit <n>', 'how many to list', parseCount(100), 20)
    .option('--cursor <cursor>', 'continue after this cursor');
}

async function invoices(cli: Cli): Promise<number> {
  const filter = { ...asked(cli), status: textIn(cli, 'status') };
  const page = await (await cli.open()).get(InvoicesStore).list(filter, pageOf(cli));
  return shown(cli, page, invoiceListView, invoiceFields);
}

async function payments(cli: Cli): Promise<number> {
  const filter = { ...asked(cli), status: textIn(cli, 'status'), invoiceId: textIn(cli, 'invoice') };
  const page = await (await cli.open()).get(PaymentsStore).list(filter, pageOf(cli));
  return shown(cli, page, paymentView, paymentFields);
}

/** As JSON like the API's answer; as a table with how to go on. */
async function shown<T, V extends object>(
  cli: Cli,
  page: Page<T>,
  view: (row: T) => V,
  fields: Fields<V>,
): Promise<number> {
  const data = page.data.map(view);
  const next = page.nextCursor === null ? {} : { next_cursor: page.nextCursor };
  await cli.print({ data, ...next }, () => {
    const more = page.nextCursor === null ? '' : `more: --cursor ${page.nextCursor}\n`;
    const { heads, rows } = terminalTable(fields, data);
    return table(heads, rows) + more;
  });
  return EXIT.ok;
}

function asked(cli: Cli): { since: Date | undefined; currency: string | undefined; customerId: string | undefined } {
  const given = textIn(cli, 'currency');
  const currency = parseCurrency(given);
  if (given !== undefined && currency === null)
    throw new CliError(EXIT.usage, 'argument', 'The currency must be a code of three letters (ISO 4217), such as EUR.');
  const since = cli.options['since'] as Date | undefined;
  return { since, currency: currency ?? undefined, customerId: textIn(cli, 'customer') };
}

function pageOf(cli: Cli): { limit: number; cursor: string | null } {
  return { limit: cli.options['limit'] as number, cursor: textIn(cli, 'cursor') ?? null };
}

function textIn(cli: Cli, name: string): string | undefined {
  const value: unknown = cli.options[name];
  return typeof value === 'string' ? value : undefined;
}
