// `crossbill export …`: what an accountant takes away, as CSV that a spreadsheet opens safely, or as JSON lines.
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { csvLine } from '../csv/write-csv.js';
import { type Span } from '../domain/page.js';
import { type CollectedPayment, type Export, ExportsStore, type PaidRefund } from '../ledger/exports.store.js';
import { type LedgerRow } from '../ledger/ledger.store.js';
import { type Fields, csvColumns, jsonRow } from '../console/fields.js';
import { ledgerFields } from '../ledger/ledger-entry.fields.js';
import { entryView, type LedgerEntryView } from '../ledger/ledger-entry.view.js';
import { paymentFields } from '../payments/payment.fields.js';
import { paymentView, type PaymentView } from '../payments/payment.view.js';
import { refundFields } from '../refunds/refund.fields.js';
import { listedRefundView, type RefundView } from '../refunds/refund.view.js';
import { CliError, EXIT } from './exit-codes.js';
import { intoFile, Stopped, type Write } from './into-file.js';
import { parseMonth } from './month.js';
import { Progress } from './progress.js';
import { type Cli, oneOf, parseSince, type Session } from './session.js';
import { json } from './table.js';

/** What is exported: its rows, each as the API shows it, and the fields of that. */
type Exported<R, V extends object> = {
  readonly rows: (exports: ExportsStore, span: Span) => Export<R>;
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
  view: ({ entry, payment }) => {
    const { morCustomerId, invoiceNumber } = entry;
    return paymentView({ payment, morCustomerId, invoiceNumber, refunds: [] });
  },
  fields: paymentFields,
};
const REFUNDS: Exported<PaidRefund, RefundView> = {
  rows: (exports, span) => exports.refunds(span),
  view: ({ entry, payment, refund }) => listedRefundView({ refund, payment, invoiceNumber: entry.invoiceNumber }),
  fields: refundFields,
};

export function addExport(program: Command, session: Session): void {
  const group = program
    .command('export')
    .description('write records as CSV or JSON lines, to standard output or a file');
  const leaf = <R, V extends object>(name: string, what: string, exported: Exported<R, V>): void =>
    void session
      .leaf(group, name, what, (cli) => run(cli, name, exported))
      .option('--month <month>', 'only of this month, UTC: 2026-11', parseMonth)
      .option('--since <when>', 'only since: 2026-01-01, 30d, 12h', parseSince)
      .option('--format <format>', 'csv or jsonl', oneOf(['csv', 'jsonl']), 'csv')
      .option('--out <file>', 'write to this file, which is there once all of it is written; links are followed');
  leaf('ledger', 'every movement of money, by when it happened', LEDGER);
  leaf('payments', 'money that the MoR took, by when it took it', PAYMENTS);
  leaf('refunds', 'money that the MoR gave back, by when it did', REFUNDS);
}

async function run<R, V extends object>(
  cli: Cli,
  name: string,
  { rows, view, fields }: Exported<R, V>,
): Promise<number> {
  const { month, since, out, format } = cli.options as {
    readonly month?: Span;
    readonly since?: Date;
    readonly out?: string;
    readonly format: string;
  };
  if (month !== undefined && since !== undefined)
    throw new CliError(EXIT.usage, 'argument', 'Use --month or --since, not both.');
  const csv = format === 'csv' && !cli.json;
  const world = await cli.open();
  const exported = rows(world.get(ExportsStore), month ?? { since });
  const write = async (to: Write): Promise<number> => {
    const progress = new Progress(cli.io);
    let written = 0;
    const columns = csvColumns(fields);
    if (csv) await to(csvLine(columns.map(([title]) => title)));
    for await (const { rows: page, part } of exported) {
      if (cli.io.signal.aborted) throw new Stopped();
      const lines = page
        .map(view)
        .map((row) => (csv ? csvLine(columns.map(([, cell]) => cell(row))) : json(jsonRow(fields, row))));
      await to(lines.join(''));
      progress.say(`written ${(written += page.length)} rows, ${Math.floor(part * 100)} %`);
    }
    progress.end();
    return written;
  };
  if (out === undefined) {
    await write(cli.io.out);
    return EXIT.ok;
  }
  const file = resolve(cli.io.cwd, out);
  const { written, isPlain } = await intoFile(file, cli.io.signal, write);
  // Behind another name may be standard output, and there it would stand among the rows.
  if (!isPlain) cli.io.err(`Wrote ${written} rows to ${file}.\n`);
  else await cli.print({ export: name, file, rows: written }, () => `Wrote ${written} rows to ${file}.\n`);
  return EXIT.ok;
}
