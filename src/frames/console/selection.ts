// All rows within a list's filters: their sums by currency, and the rows as CSV. Both have a limit, named on the page.
import { type Request, type Response } from 'express';
import { csvLine } from '../../shared/csv/write-csv.js';
import { decimalFromMinor } from '../../shared/domain/money.js';
import { type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { queryText } from './list.js';
import { type Html, html, nothing } from './html.js';
import { secure } from './layout.js';
import { count, moneyText } from './show.js';

/** The most rows of a CSV. For a whole month there is `crossbill export`. */
export const CSV_ROWS = 5_000;
const AT_ONCE = 500;

export type CsvColumn<R> = readonly [name: string, cell: (row: R) => string];

/** An amount as a decimal number, for a spreadsheet: "29.90". Empty if unknown. */
export function plainAmount(minor: bigint | null, currency: string | null): string {
  return minor === null || currency === null ? '' : decimalFromMinor(minor, currency);
}

/** True if the request asks for CSV. */
export function wantsCsv(req: Request): boolean {
  return queryText(req, 'format') === 'csv';
}

/** Sends the filtered rows as CSV, newest first, at most CSV_ROWS. Writes each page of rows before the next read. */
export async function sendCsv<R>(
  res: Response,
  name: string,
  columns: readonly CsvColumn<R>[],
  read: (page: PageRequest) => Promise<Page<R>>,
): Promise<void> {
  // Read the first page before the headers go out, so an error becomes a page of the console.
  let page = await read({ limit: AT_ONCE, cursor: null });
  begin(res, name);
  res.write(csvLine(columns.map(([title]) => title)));
  for (let rows = 0; ; page = await read({ limit: AT_ONCE, cursor: page.nextCursor })) {
    for (const row of page.data) res.write(csvLine(columns.map(([, cell]) => cell(row))));
    rows += page.data.length;
    if (page.nextCursor === null || rows >= CSV_ROWS) break;
  }
  res.end();
}

/** Sends a short CSV in one piece. */
export function sendText(res: Response, name: string, lines: readonly (readonly string[])[]): void {
  begin(res, name);
  res.end(lines.map(csvLine).join(''));
}

function begin(res: Response, name: string): void {
  secure(res);
  res.setHeader('Content-Type', 'text/csv; charset=utf-8');
  res.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`);
}

function csvOf(path: string, values: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams({ ...values, format: 'csv' }).toString()}`;
}

/** A link to the CSV of a list without sums. */
export function csvLink(path: string, values: Readonly<Record<string, string>>): Html {
  return html`<p class="selection"><a href="${csvOf(path, values)}" download>CSV</a></p>`;
}

/**
 * Draws the sums of the rows within the filters, and a link to their CSV.
 * @param what the words after the sums, such as "taken or not"; empty: no words
 */
export function selectionLine(
  path: string,
  values: Readonly<Record<string, string>>,
  { sums, all }: SelectionSums,
  what = '',
): Html {
  if (sums.length === 0) return nothing;
  const rows = sums.reduce((n, s) => n + s.rows, 0);
  return html`<p class="selection">
    <span
      >${all ? count(rows) : `The newest ${count(rows)}`} ${rows === 1 ? 'row' : 'rows'}:
      ${sums.map(
        (s, i) =>
          html`${i > 0 && ', '}${
            s.currency === null
              ? html`<span class="dim">${count(s.rows)} without an amount</span>`
              : html`<strong class="money">${moneyText(s.minor, s.currency)}</strong>`
          }`,
      )}
      ${what}</span
    >
    <a href="${csvOf(path, values)}" download>CSV</a>
    ${
      !all &&
      html`<span class="dim"
        >Crossbill does not sum older rows. For any number of rows, choose a reason and whole days in the
        <a href="/console/ledger">ledger</a>. A CSV has at most ${count(CSV_ROWS)} rows.</span
      >`
    }
  </p>`;
}
