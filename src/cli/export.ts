// `crossbill export …`: what an accountant takes away, as CSV that a spreadsheet opens safely, or as JSON lines.
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { csvLine } from '../csv/write-csv.js';
import { type Span } from '../domain/page.js';
import { type Export, ExportsStore } from '../ledger/exports.store.js';
import {
  cellsOf,
  type Columns,
  LEDGER_COLUMNS,
  objectOf,
  PAYMENT_COLUMNS,
  REFUND_COLUMNS,
} from '../ledger/export.view.js';
import { CliError, EXIT } from './exit-codes.js';
import { intoFile, Stopped, type Write } from './into-file.js';
import { parseMonth } from './month.js';
import { Progress } from './progress.js';
import { type Cli, oneOf, parseSince, type Session } from './session.js';
import { json } from './table.js';

export function addExport(program: Command, session: Session): void {
  const group = program
    .command('export')
    .description('write records as CSV or JSON lines, to standard output or a file');
  const leaf = <R>(
    name: string,
    what: string,
    columns: Columns<R>,
    rows: (e: ExportsStore, span: Span) => Export<R>,
  ): void =>
    void session
      .leaf(group, name, what, (cli) => run(cli, name, columns, rows))
      .option('--month <month>', 'only of this month, UTC: 2026-11', parseMonth)
      .option('--since <when>', 'only since: 2026-01-01, 30d, 12h', parseSince)
      .option('--format <format>', 'csv or jsonl', oneOf(['csv', 'jsonl']), 'csv')
      .option('--out <file>', 'write to this file, which is there once all of it is written; links are followed');
  leaf('ledger', 'every movement of money, by when it happened', LEDGER_COLUMNS, (e, span) => e.ledger(span));
  leaf('payments', 'money that the MoR took, by when it took it', PAYMENT_COLUMNS, (e, span) => e.payments(span));
  leaf('refunds', 'money that the MoR gave back, by when it did', REFUND_COLUMNS, (e, span) => e.refunds(span));
}

async function run<R>(
  cli: Cli,
  name: string,
  columns: Columns<R>,
  rows: (exports: ExportsStore, span: Span) => Export<R>,
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
    if (csv) await to(csvLine(Object.keys(columns)));
    for await (const { rows: page, part } of exported) {
      if (cli.io.signal.aborted) throw new Stopped();
      const lines = page.map((row) => (csv ? csvLine(cellsOf(columns, row)) : json(objectOf(columns, row))));
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
