// `crossbill import customers <file.csv>`: links of customers to the MoR that were made elsewhere.
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { CsvRefused } from '../csv/read-csv.js';
import { ImportCustomersFlow, type ImportReport, ImportStopped } from '../customers/import-customers.flow.js';
import { ColumnsRefused } from '../customers/rules/import-line.js';
import { CliError, EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, need, type Session } from './session.js';
import { plain, table } from './table.js';
import { actorOf } from './world.js';

const SHOWN = 50;

export function addImport(program: Command, session: Session): void {
  const group = program.command('import').description('what was made elsewhere, from a file');
  session.leaf(
    group,
    'customers <file.csv>',
    'link customers to their customers at the MoR: columns customer, mor_customer_id and reference; all lines are written, or none',
    importCustomers,
  );
}

async function importCustomers(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const file = need(args);
  const world = await cli.open();
  const flow = world.get(ImportCustomersFlow);
  const progress = new Progress(cli.io);
  const run = async (): Promise<ImportReport> => {
    try {
      return await flow.run({
        path: resolve(cli.io.cwd, file),
        by: actorOf(cli.io),
        signal: cli.io.signal,
        onProgress: (what, done, total) => progress.bar(what, done, total),
      });
    } catch (e) {
      if (e instanceof CsvRefused || e instanceof ColumnsRefused)
        throw new CliError(EXIT.failed, e.code, `${file}: ${e.message}`);
      if (e instanceof ImportStopped)
        throw new CliError(e.code === 'interrupted' ? EXIT.failed : EXIT.unreachable, e.code, e.message);
      throw e;
    } finally {
      progress.end();
    }
  };
  const report = await world.change('customer.import', null, run, (made) => ({
    detail: { accepted: made.accepted, lines: made.lines, linked: made.made, problems: made.problemsInAll },
  }));
  await cli.print(view(report), () => page(report));
  return report.accepted ? EXIT.ok : EXIT.failed;
}

/** For scripts. */
function view(r: ImportReport): Record<string, unknown> {
  return {
    lines: r.lines,
    accepted: r.accepted,
    linked: r.made,
    known: r.known,
    repeated: r.repeated,
    problems: r.problems.map((p) => ({ line: p.line, customer_id: p.customerId, problem: p.problem })),
    problems_in_all: r.problemsInAll,
    not_known_here: r.strangers,
    asked_stripe: r.strangersAsked,
    unused_columns: r.unusedColumns,
  };
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** For people. */
function page(r: ImportReport): string {
  const columns =
    r.unusedColumns.length === 0 ? '' : `Columns that are not used: ${plain(r.unusedColumns.join(', '))}.\n`;
  if (!r.accepted) {
    const rows = r.problems.slice(0, SHOWN).map((p) => [String(p.line), p.customerId ?? '', p.problem]);
    const more =
      r.problemsInAll > rows.length ? `and ${r.problemsInAll - rows.length} more; --json lists up to 1000\n` : '';
    const lines = r.problemsInAll === 1 ? '1 line is wrong' : `${r.problemsInAll} lines are wrong`;
    return `${table(['line', 'customer', 'what is wrong'], rows)}${more}\nNothing was written: ${lines}. Mend the file and run the same command again.\n`;
  }
  const repeated = r.repeated === 0 ? '' : `, ${counted(r.repeated, 'repeated line')}`;
  const strangers =
    r.strangers === 0
      ? ''
      : r.strangersAsked
        ? `${r.strangers} of them had no invoice and no signup here; Stripe knows each of them.\n`
        : `${r.strangers} of them have no invoice and no signup here, too many to ask Stripe for: a mistyped id would never match an invoice.\n`;
  return `Read ${counted(r.lines, 'line')}: ${counted(r.made, 'customer')} linked, ${r.known} linked so before${repeated}.\n${strangers}${columns}Whether the MoR knows its customers cannot be asked: the first renewal tells. \`crossbill status\` shows how far it is.\n`;
}
