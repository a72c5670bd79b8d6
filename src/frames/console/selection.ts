// All rows within a list's filters: their sums by currency, and the rows as CSV. Both have a limit, named on the page.
import { once } from 'node:events';
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

/** The rows of a list for its CSV: newest first, at most CSV_ROWS. */
export async function* rowsOf<R>(read: (page: PageRequest) => Promise<Page<R>>): AsyncGenerator<readonly R[]> {
  let cursor: string | null = null;
  for (let rows = 0; rows < CSV_ROWS;) {
    const page: Page<R> = await read({ limit: AT_ONCE, cursor });
    yield page.data;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
    rows += page.data.length;
  }
}

/** Sends the rows as CSV, page by page, as fast as the browser takes them. */
export async function sendCsv<R>(
  res: Response,
  name: string,
  columns: readonly CsvColumn<R>[],
  pages: AsyncGenerator<readonly R[]>,
): Promise<void> {
  // Read the first page before the headers go out, so an error becomes a page of the console.
  let page = await pages.next();
  begin(res, name);
  res.write(csvLine(columns.map(([title]) => title)));
  for (; page.done !== true; page = await pages.next()) {
    const text = page.value.map((row) => csvLine(columns.map(([, cell]) => cell(row)))).join('');
    if (text !== '' && !res.write(text)) await taken(res);
    if (res.destroyed) return void (await pages.return(undefined));
  }
  res.end();
}

/** Waits until the browser has taken everything written so far, or is gone. */
async function taken(res: Response): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  over.abort();
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
  const money = sums.filter((s) => s.currency === null || s.minor !== 0n);
  return html`<p class="selection">
    <span
      >${all ? count(rows) : `The newest ${count(rows)}`} ${rows === 1 ? 'row' : 'rows'}:
      ${(money.length > 0 ? money : sums).map(
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
