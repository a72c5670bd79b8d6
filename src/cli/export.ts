// `crossbill export …`: what an accountant takes away, as CSV that a spreadsheet opens safely, or as JSON lines.
import { lstat, open, readlink, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command } from 'commander';
import { csvLine } from '../csv/write-csv.js';
import { type Span } from '../domain/ports/books.js';
import { type Export, Exports } from '../domain/ports/exports.js';
import {
  cellsOf,
  type Columns,
  LEDGER_COLUMNS,
  objectOf,
  PAYMENT_COLUMNS,
  REFUND_COLUMNS,
} from '../ledger/export.view.js';
import { CliError, EXIT } from './exit-codes.js';
import { parseMonth } from './month.js';
import { Progress } from './progress.js';
import { type Cli, oneOf, parseSince, type Session } from './session.js';
import { json } from './table.js';

type Write = (text: string) => Promise<void>;

export function addExport(program: Command, session: Session): void {
  const group = program
    .command('export')
    .description('write records as CSV or JSON lines, to standard output or a file');
  const leaf = <R>(
    name: string,
    what: string,
    columns: Columns<R>,
    rows: (e: Exports, span: Span) => Export<R>,
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
  rows: (exports: Exports, span: Span) => Export<R>,
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
  const exported = rows(world.get(Exports), month ?? { since });
  const write = async (to: Write): Promise<number> => {
    const progress = new Progress(cli.io);
    let written = 0;
    if (csv) await to(csvLine(Object.keys(columns)));
    for await (const { rows: page, part } of exported) {
      if (cli.io.signal.aborted) throw new CliError(EXIT.failed, 'stopped', 'Stopped: the export is not complete.');
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
  const { written, isPlain } = await intoFile(file, write);
  // Behind another name may be standard output, and there it would stand among the rows.
  if (!isPlain) cli.io.err(`Wrote ${written} rows to ${file}.\n`);
  else await cli.print({ export: name, file, rows: written }, () => `Wrote ${written} rows to ${file}.\n`);
  return EXIT.ok;
}

/** The file gets its name when all is in it: what has the name is whole. Links are followed. */
async function intoFile(
  file: string,
  write: (to: Write) => Promise<number>,
): Promise<{ readonly written: number; readonly isPlain: boolean }> {
  const onDisk = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (e) {
      const why = codeOf(e) === null ? '' : ` (${String(codeOf(e))})`;
      const message = `${file} cannot be written${why}. See that its folder is there, is yours to write, and has room.`;
      throw new CliError(EXIT.failed, 'not_written', message);
    }
  };
  const found = await onDisk(stat(file).catch((e: unknown) => (codeOf(e) === 'ENOENT' ? null : Promise.reject(e))));
  // A FIFO, a device, a pipe behind /dev/stdout: it has a reader, and takes what comes as it comes.
  const isPlain = found === null || found.isFile();
  const target = isPlain ? await onDisk(endOfLinks(file)) : file;
  const part = isPlain ? `${target}.part` : target;
  const handle = await onDisk(open(part, 'w'));
  try {
    const written = await write((text) => onDisk(handle.writeFile(text)));
    await onDisk(handle.close());
    if (isPlain) await onDisk(rename(part, target));
    return { written, isPlain };
  } catch (e) {
    await handle.close().catch(() => undefined); // it may be closed
    if (isPlain) await rm(part, { force: true });
    throw e;
  }
}

/** Where a name leads in the end, also when nothing is there yet. */
async function endOfLinks(file: string, follow = 40): Promise<string> {
  const found = await lstat(file).catch((e: unknown) => (codeOf(e) === 'ENOENT' ? null : Promise.reject(e)));
  if (found === null || !found.isSymbolicLink() || follow === 0) return file;
  return endOfLinks(resolve(dirname(file), await readlink(file)), follow - 1);
}

function codeOf(e: unknown): string | null {
  return typeof e === 'object' && e !== null && 'code' in e ? String(e.code) : null;
}
