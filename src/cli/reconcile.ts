// `crossbill reconcile statement.csv`: the MoR's statement against the ledger; `crossbill statements`: the reports that were kept.
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { StatementBusy, type StatementRow, Statements } from '../domain/ports/statements.js';
import { CsvRefused } from '../csv/read-csv.js';
import { ReconcileFlow, type Reconciled } from '../statements/reconcile.flow.js';
import { type Mapping } from '../domain/statement.js';
import { MappingRefused, parseMapping } from '../statements/rules/mapping.js';
import { statementView } from '../statements/statement.view.js';
import { CliError, EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, need, parseCount, parseDay, type Session } from './session.js';
import { findingsCsv, reportText, shownFindings } from './statement-report.js';
import { plain, table, time } from './table.js';
import { actorOf, type World } from './world.js';

const WAYS = 'exit code 0 all agrees, 3 differences';

export function addReconcile(program: Command, session: Session): void {
  session
    .leaf(program, 'reconcile <statement.csv>', `compare a statement of the MoR with the ledger; ${WAYS}`, reconcile)
    .option('--mapping <file>', 'how to read its columns, as JSON; the flags below override it')
    .option(
      '--column <field=name>',
      'the column that holds type, charge, payment, refund, amount, currency, date or fee; again for each',
      pairs,
      {},
    )
    .option(
      '--type <kind=word>',
      'a word of the type column that stands for payment, refund, fee, returned or ignore; again for each',
      lists,
      {},
    )
    .option('--amounts <style>', 'dot (1,234.56, the default), comma (1.234,56) or minor (smallest units: 123456)')
    .option('--dates <style>', 'iso (2026-11-30, the default), dmy (30.11.2026) or mdy (11/30/2026)')
    .option('--currency <code>', 'of a statement without a currency column')
    .option('--delimiter <sign>', 'between the columns, or tab; default: taken from the first line')
    .option(
      '--since <day>',
      'look in the ledger from this day on (UTC) for what the statement lacks; default: its first date',
      parseDay,
    )
    .option('--until <day>', 'up to and including this day; default: its last date', parseDay)
    .option('--again', 'compare a known file again with the ledger as it is now')
    .option('--csv', 'write every finding as CSV, for a spreadsheet');
  const group = program.command('statements').description('statements that were reconciled');
  session
    .leaf(group, 'list', 'statements, newest first', list, true)
    .option('--limit <n>', 'how many to list', parseCount(100), 20)
    .option('--cursor <cursor>', 'continue after this cursor');
  session
    .leaf(group, 'show <statement>', `the report of a statement; ${WAYS}`, show)
    .option('--csv', 'write every finding as CSV, for a spreadsheet');
}

function pair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Use a name, an equals sign and a text.');
  return [text.slice(0, at), text.slice(at + 1)];
}

function pairs(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [name, value] = pair(text);
  return { ...before, [name]: value };
}

function lists(text: string, before: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> {
  const [name, value] = pair(text);
  return { ...before, [name]: [...(before[name] ?? []), value] };
}

/** The file's mapping with the flags laid over it. */
function mappingOf({ io, options }: Cli): Mapping {
  const flags = options as Record<string, Record<string, unknown>>;
  let file: Record<string, unknown> = {};
  if (typeof options['mapping'] === 'string') {
    const path = options['mapping'];
    try {
      const read: unknown = JSON.parse(readFileSync(resolve(io.cwd, path), 'utf8').replace(/^\ufeff/, ''));
      parseMapping(read); // its own mistakes are named before a flag can hide them
      file = read as Record<string, unknown>;
    } catch (e) {
      if (e instanceof MappingRefused) throw new CliError(EXIT.usage, e.code, `${path}: ${e.message}`);
      throw new CliError(EXIT.usage, 'mapping', `The file ${path} cannot be read as JSON.`);
    }
  }
  const given = ['amounts', 'dates', 'currency', 'delimiter'].flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name] as unknown] as const],
  );
  const over = (name: 'columns' | 'types', flag: 'column' | 'type') => ({
    ...(file[name] as object | undefined),
    ...flags[flag],
  });
  return parseMapping({
    ...file,
    ...Object.fromEntries(given),
    columns: over('columns', 'column'),
    types: over('types', 'type'),
  });
}

async function reconcile(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const file = need(args);
  const { since, until } = cli.options as { since?: Date; until?: Date };
  if (cli.json && cli.options['csv'] === true) throw new CliError(EXIT.usage, 'usage', 'use --json or --csv, not both');
  if (since !== undefined && until !== undefined && since > until)
    throw new CliError(EXIT.usage, 'usage', '--since is after --until');
  const mapping = orUsage(() => mappingOf(cli));
  const world = await cli.open();
  const flow = world.get(ReconcileFlow);
  const progress = new Progress(cli.io);
  const path = resolve(cli.io.cwd, file);
  const run = async (): Promise<Reconciled> => {
    try {
      return await flow.run({
        path,
        fileName: plain(basename(path)).slice(0, 255),
        mapping,
        by: actorOf(cli.io),
        again: cli.options['again'] === true,
        since: since ?? null,
        until: until ?? null,
        signal: cli.io.signal,
        onProgress: (what, done, total) => progress.bar(what, done, total),
      });
    } catch (e) {
      if (e instanceof MappingRefused) throw new CliError(EXIT.usage, e.code, e.message);
      if (e instanceof CsvRefused || e instanceof StatementBusy)
        throw new CliError(EXIT.failed, e.code, `${file}: ${e.message}`);
      throw e;
    } finally {
      progress.end();
    }
  };
  const { row, how } = await world.change('statement.reconcile', null, run, (made) => ({
    target: made.row.id,
    detail: { how: made.how, file: made.row.fileName },
  }));
  if (how === 'interrupted') {
    const message = `Interrupted before line ${row.nextLine}. The same command resumes there.`;
    throw new CliError(EXIT.failed, 'interrupted', message);
  }
  if (how === 'resumed') cli.io.err('It resumed where an earlier run was interrupted.\n');
  if (how === 'known') {
    const when = time(row.finishedAt);
    cli.io.err(
      `This file was reconciled at ${when} under this mapping: here is that report. --again compares it again.\n`,
    );
  }
  return report(cli, world, row);
}

function orUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (e) {
    if (e instanceof MappingRefused) throw new CliError(EXIT.usage, e.code, e.message);
    throw e;
  }
}

async function report(cli: Cli, world: World, row: StatementRow): Promise<number> {
  const statements = world.get(Statements);
  if (cli.options['csv'] === true) {
    for await (const text of findingsCsv(statements, row.id)) await cli.io.out(text);
  } else {
    const { findings, more } = await shownFindings(statements, row.id);
    await cli.print({ ...statementView(row), findings, more }, () => reportText(row, findings, more));
  }
  const view = statementView(row);
  if (view.outcome === 'reading') return EXIT.unfinished;
  return view.outcome === 'agrees' ? EXIT.ok : EXIT.differences;
}

async function list(cli: Cli): Promise<number> {
  const world = await cli.open();
  const { limit, cursor } = cli.options as { limit: number; cursor?: string };
  const page = await world.get(Statements).list({ limit, cursor: cursor ?? null });
  const views = page.data.map(statementView);
  const next = page.nextCursor === null ? {} : { next_cursor: page.nextCursor };
  await cli.print({ data: views, ...next }, () => {
    const rows = views.map((s) => [
      s.id,
      s.created_at.slice(0, 19) + 'Z',
      s.outcome,
      String(s.lines),
      String(s.differences),
      s.file_name,
    ]);
    const more = page.nextCursor === null ? '' : `more: --cursor ${page.nextCursor}\n`;
    return table(['id', 'reconciled', 'outcome', 'lines', 'differences', 'file'], rows) + more;
  });
  return EXIT.ok;
}

async function show(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const id = need(args);
  const world = await cli.open();
  const row = await world.get(Statements).find(id);
  if (row === null)
    throw new CliError(EXIT.failed, 'not_found', `There is no statement ${id}. \`crossbill statements\` lists them.`);
  return report(cli, world, row);
}
