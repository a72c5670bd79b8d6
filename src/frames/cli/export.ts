// `crossbill export …`: writes records for an accountant, as CSV safe for a spreadsheet or as JSON lines.
import { resolve } from 'node:path';
import { csvLine } from '../../shared/csv/write-csv.js';
import { type Span } from '../../shared/domain/page.js';
import {
  type CollectedPayment,
  type Export,
  ExportsRepository,
  type PaidRefund,
} from '../../core/ledger/exports.repository.js';
import { type LedgerRow } from '../../core/ledger/ledger.repository.js';
import { type Fields, csvColumns, jsonRow } from '../console/fields.js';
import { ledgerFields } from '../../core/ledger/ledger-entry.fields.js';
import { entryView, type LedgerEntryView } from '../../core/ledger/ledger-entry.view.js';
import { paymentFields } from '../../core/payments/payment.fields.js';
import { paymentView, type PaymentView } from '../../core/payments/payment.view.js';
import { refundFields } from '../../core/refunds/refund.fields.js';
import { listedRefundView, type RefundView } from '../../core/refunds/refund.view.js';
import { wrongUsage } from './exit-codes.js';
import { type Cli } from './cli.js';
import { type Commands } from './commands.js';
import { intoFile, Stopped, type Write } from './into-file.js';
import { oneOf, parseMonth, parseSince } from './options.js';
import { json } from './table.js';

/** One kind of export: a read of its rows, a function for a row's form in the API, and the fields of the CSV. */
type Exported<R, V extends object> = {
  readonly rows: (exports: ExportsRepository, span: Span) => Export<R>;
  readonly view: (row: R) => V;
  readonly fields: Fields<V>;
};

const LEDGER: Exported<LedgerRow, LedgerEntryView> = {
  rows: (exports, span) => exports.ledger(span),
  view: entryView,
  fields: ledgerFields,
};
const PAYMENTS: Exported<CollectedPayment, PaymentView> = {
  rows: (exports, span) => exports.payments(span),
  view: ({ entry: { morCustomerId, invoiceNumber }, payment }) =>
    paymentView({ payment, morCustomerId, invoiceNumber, refunds: [] }),
  fields: paymentFields,
};
const REFUNDS: Exported<PaidRefund, RefundView> = {
  rows: (exports, span) => exports.refunds(span),
  view: ({ entry, payment, refund }) => listedRefundView({ refund, payment, invoiceNumber: entry.invoiceNumber }),
  fields: refundFields,
};

export function addExport(on: Commands): void {
  const group = on.group('export', on.about);
  const add = <R, V extends object>(name: string, about: string, exported: Exported<R, V>): unknown =>
    group
      .add(name, about)
      .option('--month <month>', 'only of this month, UTC: 2026-11', parseMonth)
      .option('--since <when>', 'only since: 2026-01-01, 30d, 12h', parseSince)
      .option('--format <format>', 'csv or jsonl', oneOf(['csv', 'jsonl']), 'csv')
      .option('--out <file>', 'write to this file; it appears when it is complete')
      .action(
        on.run(async (cli, { month, since, format, out }) => {
          if (month !== undefined && since !== undefined) throw wrongUsage('Use --month or --since, not both.');
          const rows = exported.rows((await cli.open()).get(ExportsRepository), month ?? { since });
          const write = (to: Write): Promise<number> =>
            writeRows(cli, rows, exported, { csv: format === 'csv' && !cli.json, to });
          if (out === undefined) return void (await write(cli.io.out));
          const file = resolve(cli.io.cwd, out);
          const written = await intoFile(file, write);
          await cli.print({ export: name, file, rows: written }, () => `Wrote ${written} rows to ${file}.\n`);
        }),
      );
  add('ledger', 'all movements of money, by their time', LEDGER);
  add('payments', 'payments to the MoR, by the time of payment', PAYMENTS);
  add('refunds', 'refunds from the MoR, by the time of refund', REFUNDS);
}

/** Writes page by page, as fast as `to` accepts the pages. Returns the number of rows. */
function writeRows<R, V extends object>(
  cli: Cli,
  pages: Export<R>,
  { view, fields }: Exported<R, V>,
  { csv, to }: { readonly csv: boolean; readonly to: Write },
): Promise<number> {
  const columns = csvColumns(fields);
  const line = (row: V): string => (csv ? csvLine(columns.map(([, cell]) => cell(row))) : json(jsonRow(fields, row)));
  return cli.watch(async (progress) => {
    let written = 0;
    if (csv) await to(csvLine(columns.map(([title]) => title)));
    for await (const { rows, part } of pages) {
      if (cli.io.signal.aborted) throw new Stopped();
      await to(rows.map((row) => line(view(row))).join(''));
      progress.say(`written ${(written += rows.length)} rows, ${Math.floor(part * 100)} %`);
    }
    return written;
  });
}
