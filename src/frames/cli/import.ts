// `crossbill import customers <file.csv>`: links Stripe customers to MoR customers, from a file.
import { resolve } from 'node:path';
import { CsvRefused } from '../../shared/csv/read-csv.js';
import {
  ImportCustomersService,
  type ImportReport,
  ImportStopped,
} from '../../core/customers/import-customers.service.js';
import { ColumnsRefused } from '../../core/customers/rules/import-line.js';
import { type Commands } from './commands.js';
import { CliError, EXIT } from './exit-codes.js';
import { counted, named, plain, table } from './table.js';

const SHOWN = 50;

export function addImport(on: Commands): void {
  on.group('import', on.about)
    .add(
      'customers <file.csv>',
      'link Stripe customers to MoR customers: columns customer, mor_customer_id and reference; Crossbill writes all lines or none',
    )
    .action(
      on.run(async (cli, file) => {
        const app = await cli.open();
        const run = (): Promise<ImportReport> =>
          cli
            .watch((progress) =>
              app.get(ImportCustomersService).run({
                path: resolve(cli.io.cwd, file),
                by: cli.by,
                signal: cli.io.signal,
                onProgress: (what, done, total) => progress.bar(what, done, total),
              }),
            )
            .catch((e: unknown) => {
              throw refusal(file, e);
            });
        const report = await app.change('customer.import', null, run, (made) => ({
          detail: { accepted: made.accepted, lines: made.lines, linked: made.made, problems: made.problemsInAll },
        }));
        const { made, ...rest } = report;
        await cli.print(named({ ...rest, linked: made }), () => render(report));
        return report.accepted ? EXIT.ok : EXIT.failed;
      }),
    );
}

function refusal(file: string, error: unknown): unknown {
  if (error instanceof CsvRefused || error instanceof ColumnsRefused)
    return new CliError(EXIT.failed, error.code, `${file}: ${error.message}`);
  if (error instanceof ImportStopped)
    return new CliError(error.code === 'interrupted' ? EXIT.failed : EXIT.unreachable, error.code, error.message);
  return error;
}

function render(importReport: ImportReport): string {
  const unused =
    importReport.unusedColumns.length === 0 ? '' : `Unused columns: ${plain(importReport.unusedColumns.join(', '))}.\n`;
  if (!importReport.accepted) {
    const rows = importReport.problems.slice(0, SHOWN).map((p) => [String(p.line), p.customerId ?? '', p.problem]);
    const more =
      importReport.problemsInAll > rows.length
        ? `and ${importReport.problemsInAll - rows.length} more; --json lists up to 1000\n`
        : '';
    const lines =
      importReport.problemsInAll === 1 ? '1 line is wrong' : `${importReport.problemsInAll} lines are wrong`;
    return `${table(['line', 'customer', 'problem'], rows)}${more}\nCrossbill wrote nothing: ${lines}. Correct the file and run the same command again.\n`;
  }
  const repeated = importReport.repeated === 0 ? '' : `, ${counted(importReport.repeated, 'repeated line')}`;
  const asked = importReport.strangersAsked
    ? 'had no invoice and no signup here; Stripe knows each of them'
    : 'have no invoice and no signup here, too many to ask Stripe about. A mistyped id never matches an invoice';
  const strangers = importReport.strangers === 0 ? '' : `${importReport.strangers} of them ${asked}.\n`;
  return `Read ${counted(importReport.lines, 'line')}: ${counted(importReport.made, 'customer')} linked, ${importReport.known} linked before${repeated}.\n${strangers}${unused}Crossbill cannot ask if the MoR knows these customers: their first renewals show it. \`crossbill status\` counts the renewals.\n`;
}
