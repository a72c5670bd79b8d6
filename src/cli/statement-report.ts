// The report of a statement: as text for a person, as CSV for a spreadsheet.
import { decimalFromMinor } from '../domain/money.js';
import { type KeptFinding, type StatementRow, type Statements } from '../domain/ports/statements.js';
import { isDifference } from '../domain/statement.js';
import { findingView, type FindingView, statementView } from '../statements/statement.view.js';
import { csvLine } from '../csv/write-csv.js';
import { amount, table } from './table.js';

/** Findings that are named in text and JSON; --csv and the API name all. */
const MOST_SHOWN = 1_000;
const PAGE = 1_000;

/** The first of them, and how many more there are not named here: true when there are any. */
export async function shownFindings(
  statements: Statements,
  id: string,
): Promise<{ readonly findings: readonly FindingView[]; readonly more: boolean }> {
  const page = await statements.findings(id, null, { limit: MOST_SHOWN, cursor: null });
  return { findings: page.data.map(findingView), more: page.nextCursor !== null };
}

const COLUMNS: Readonly<Record<string, (f: KeptFinding) => string>> = {
  line: (f) => (f.line === null ? '' : String(f.line)),
  kind: (f) => f.kind,
  charge: (f) => f.charge ?? '',
  payment: (f) => f.payment ?? '',
  refund: (f) => f.refund ?? '',
  invoice_id: (f) => f.invoiceId ?? '',
  amount: (f) => (f.amount === null || f.currency === null ? '' : decimalFromMinor(f.amount, f.currency)),
  currency: (f) => f.currency ?? '',
  ledger_amount: (f) =>
    f.ledgerAmount === null || f.ledgerCurrency === null ? '' : decimalFromMinor(f.ledgerAmount, f.ledgerCurrency),
  ledger_currency: (f) => f.ledgerCurrency ?? '',
  detail: (f) => f.detail,
};

/** Every finding, in pieces. */
export async function* findingsCsv(statements: Statements, id: string): AsyncGenerator<string> {
  const columns = Object.entries(COLUMNS);
  yield csvLine(columns.map(([name]) => name));
  for (let cursor: string | null = null; ;) {
    const page: Awaited<ReturnType<Statements['findings']>> = await statements.findings(id, null, {
      limit: PAGE,
      cursor,
    });
    yield page.data.map((f) => csvLine(columns.map(([, of]) => of(f)))).join('');
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  only_statement: 'only the statement has it',
  only_ledger: 'only the ledger has it',
  amount_differs: 'another amount',
  currency_differs: 'another currency',
  status_differs: 'another status',
  ids_differ: 'ids of different things',
  line_twice: 'a line twice',
  negative_amount: 'a negative amount',
  debit_returned: 'a returned debit, not booked',
  unknown_type: 'an unknown type',
  unreadable: 'a line that cannot be read',
  fee: 'fee',
  return_booked: 'returned debit, booked',
};

const SUMS = ['payment', 'refund', 'returned', 'fee', 'fee_column'] as const;

export function reportText(row: StatementRow, findings: readonly FindingView[], more: boolean): string {
  const view = statementView(row);
  const { lines, agree, counts, since, until } = view;
  const out = [`Statement ${row.id} (${row.fileName}): ${lines} lines, ${agree} agree with the ledger.\n`];
  if (counts['ignored'] !== undefined) out.push(`${counts['ignored']} lines are of a type that is ignored.\n`);
  for (const [currency, sums] of Object.entries(row.totals)) {
    const parts = SUMS.flatMap((kind) => {
      const sum = sums[kind];
      return sum === undefined ? [] : [`${kind.replaceAll('_', ' ')} ${amount(sum, currency)}`];
    });
    out.push(`Sums: ${parts.join(', ')}.\n`);
  }
  out.push(
    since === null || until === null
      ? 'No date is known: what only the ledger has was not looked for. Map the date column, or say --since and --until with --again.\n'
      : `What only the ledger has was looked for from ${since.slice(0, 10)} to ${lastDay(until)} (UTC, whole days). What the MoR moved on the first or the last day may stand in the statement before or after.\n`,
  );
  if ((counts['other_currencies'] ?? 0) > 0)
    out.push(
      `${counts['other_currencies']} movements of these days are in currencies that the statement does not have, and were not compared.\n`,
    );
  const rows = (wanted: boolean): string[][] =>
    findings
      .filter((f) => isDifference(f.kind as KeptFinding['kind']) === wanted)
      .map((f) => [
        f.line === null ? '-' : String(f.line),
        NAMES[f.kind] ?? f.kind,
        f.refund ?? f.payment ?? f.charge ?? '-',
        amount(f.amount === null ? null : BigInt(f.amount), f.currency?.toUpperCase() ?? null),
        f.detail,
      ]);
  const heads = ['line', 'what', 'about', 'amount', 'in words'];
  const [differences, told] = [rows(true), rows(false)];
  if (differences.length > 0) out.push('\nDifferences\n', table(heads, differences));
  if (told.length > 0) out.push('\nFees, and returns that are booked\n', table(heads, told));
  if (more)
    out.push(`The first ${MOST_SHOWN} are named. All of them: \`crossbill statements show ${row.id} --csv\`.\n`);
  out.push(
    view.outcome === 'agrees'
      ? '\nThe statement and the ledger agree.\n'
      : `\n${view.differences} differences. Nothing was changed.\n`,
  );
  if ((counts['debit_returned'] ?? 0) > 0)
    out.push(
      `A return is booked by a person, payment by payment: \`crossbill returned <payment> --reference "${row.id} line <n>" --on <day>\`.\n`,
    );
  return out.join('');
}

function lastDay(until: string): string {
  return new Date(Date.parse(until) - 1).toISOString().slice(0, 10);
}
