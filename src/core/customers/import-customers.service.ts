// Imports links between Stripe customers and MoR customers from a file. Checks the whole file, then writes all of it or
// nothing.
import { Injectable } from '@nestjs/common';
import { headerOf, isBlank, recordsOf, sizeOf } from '../../shared/csv/read-csv.js';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { CustomerLinksRepository } from './customer-links.repository.js';
import { type ImportCheck } from './link-import.js';
import { type ImportRow, type LineProblem, bindColumns, type Columns, readImportLine } from './rules/import-line.js';
import { IMPORT_PROBLEMS_KEPT } from '../../shared/policy.js';

/** The most rows in one insert into the temporary table. */
const ROWS_AT_ONCE = 2_000;

export type ImportReport = {
  /** The number of lines with content, without the header. */
  readonly lines: number;
  /** False: the file has problems, so Crossbill wrote nothing. */
  readonly accepted: boolean;
  readonly made: number;
  readonly known: number;
  readonly repeated: number;
  /** The first problems, by line. */
  readonly problems: readonly LineProblem[];
  readonly problemsInAll: number;
  /**
   * The number of customers unknown to the database. Crossbill asked Stripe about each, or about none if there are too
   * many.
   */
  readonly strangers: number;
  readonly strangersAsked: boolean;
  readonly unusedColumns: readonly string[];
};

export type ImportOptions = {
  readonly path: string;
  readonly by: string;
  readonly signal: AbortSignal;
  readonly onProgress: (what: 'read' | 'asked Stripe for', done: number, total: number) => void;
};

/** The operator stopped the import, or Stripe did not reply. Nothing was written. */
export class ImportStopped extends Error {
  constructor(
    readonly code: 'interrupted' | 'stripe_unavailable',
    message: string,
  ) {
    super(message);
  }
}

@Injectable()
export class ImportCustomersService {
  constructor(
    private readonly links: CustomerLinksRepository,
    private readonly reader: BillingReader,
  ) {}

  /** Imports a file. Throws CsvRefused, ColumnsRefused or ImportStopped before any write. */
  async run(options: ImportOptions): Promise<ImportReport> {
    const size = await sizeOf(options.path);
    const { header, delimiter, next } = await headerOf(options.path, null);
    const file: File = { columns: bindColumns(header), delimiter, byte: next.nextByte, line: next.nextLine, size };
    const mayAsk = (check: ImportCheck): boolean => check.strangersInAll <= check.strangers.length;
    const first = await this.pass(options, file, (check) => check.strangersInAll === 0 || !mayAsk(check));
    if (first.problemsInAll > 0 || first.written !== null) return reportOf(first, file, mayAsk(first));
    // Some customers occur in no link, invoice or signup. A mistyped customer id would never match an invoice, so
    // Crossbill asks Stripe about each such customer. If there are too many, Crossbill asks about none.
    const unknown = await this.unknownToStripe(first.strangers, options);
    if (unknown.length > 0) return reportOf({ ...first, problems: unknown, problemsInAll: unknown.length }, file, true);
    return reportOf(await this.pass(options, file, () => true), file, true);
  }

  /**
   * Reads the whole file one time.
   * @param write decides after the last line, if no line has a problem: true writes all lines, false writes none
   */
  private async pass(options: ImportOptions, file: File, write: (check: ImportCheck) => boolean): Promise<Passed> {
    const wrong: LineProblem[] = [];
    const count = { lines: 0, wrong: 0 };
    async function* rows(): AsyncGenerator<readonly ImportRow[]> {
      let some: ImportRow[] = [];
      for await (const placed of recordsOf(options.path, file)) {
        if (options.signal.aborted) throw new ImportStopped('interrupted', 'Interrupted: nothing was written.');
        if (isBlank(placed)) continue;
        count.lines++;
        const read = readImportLine(placed.record, placed.line, file.columns);
        if (read.ok) some.push(read.row);
        else if (++count.wrong <= IMPORT_PROBLEMS_KEPT) wrong.push(read.problem);
        if (some.length < ROWS_AT_ONCE) continue;
        options.onProgress('read', placed.nextByte, file.size);
        yield some;
        some = [];
      }
      if (some.length > 0) yield some;
      options.onProgress('read', file.size, file.size);
    }
    const isFine = (check: ImportCheck): boolean => count.wrong + check.problemsInAll === 0;
    const { check, written } = await this.links.import(rows(), options.by, (c) => isFine(c) && write(c));
    const problems = [...wrong, ...check.problems].sort((a, b) => a.line - b.line).slice(0, IMPORT_PROBLEMS_KEPT);
    return { ...check, problems, problemsInAll: count.wrong + check.problemsInAll, lines: count.lines, written };
  }

  private async unknownToStripe(strangers: ImportCheck['strangers'], options: ImportOptions): Promise<LineProblem[]> {
    const unknown: LineProblem[] = [];
    for (const [i, { line, customerId }] of strangers.entries()) {
      if (options.signal.aborted) throw new ImportStopped('interrupted', 'Interrupted: nothing was written.');
      const read = await this.reader.readCustomer(customerId);
      if (!read.ok) {
        const message = `Crossbill could not ask Stripe for the unknown customer ${customerId} (${read.message}). It wrote nothing: run this again.`;
        throw new ImportStopped('stripe_unavailable', message);
      }
      if (read.value === null)
        unknown.push({ line, customerId, problem: 'Stripe knows no such customer, or has deleted it' });
      options.onProgress('asked Stripe for', i + 1, strangers.length);
    }
    return unknown;
  }
}

type File = {
  readonly columns: Columns;
  readonly delimiter: string;
  readonly byte: number;
  readonly line: number;
  readonly size: number;
};
type Passed = ImportCheck & { readonly lines: number; readonly written: number | null };

function reportOf(payment: Passed, { columns }: File, strangersAsked: boolean): ImportReport {
  return {
    lines: payment.lines,
    accepted: payment.problemsInAll === 0,
    made: payment.written ?? 0,
    known: payment.known,
    repeated: payment.repeated,
    problems: payment.problems,
    problemsInAll: payment.problemsInAll,
    strangers: payment.strangersInAll,
    strangersAsked,
    unusedColumns: columns.unused,
  };
}
