// A list as nearly all of them are: filters, what the selection adds up to, the rows, the way to older ones, and the same rows as CSV.
import { type Request, type Response } from 'express';
import { type Page, type PageRequest, type SelectionSums } from '../domain/page.js';
import { html, type Piece } from './html.js';
import { sendPage } from './layout.js';
import { type Column, type Filter, filterForm, pageOf, pager, table } from './list.js';
import { type Section } from './navigation.js';
import { csvLink, type CsvColumn, selectionLine, sendCsv, wantsCsv } from './selection.js';

export type ListPage<R> = {
  readonly title: string;
  readonly section: Section;
  readonly path: string;
  readonly filters: readonly Filter[];
  /** Those that were chosen: they stay in the address of the next page and of the CSV. */
  readonly values: Readonly<Record<string, string>>;
  readonly read: (page: PageRequest) => Promise<Page<R>>;
  /** What the selection adds up to; left out: its rows add up to nothing. */
  readonly sums?: () => Promise<SelectionSums>;
  /** What it is that was added up, where the list does not say. */
  readonly summed?: string;
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  /** The name of the file, and its columns. */
  readonly csv: readonly [name: string, columns: readonly CsvColumn<R>[]];
  /** Why there are no rows: none that match the filters, or none yet, and then what will come. */
  readonly empty: { readonly filtered: string; readonly yet: Piece };
  readonly above?: Piece;
  readonly below?: Piece;
};

/** Sends the list as a page, or as CSV where that is asked for. */
export async function sendList<R>(req: Request, res: Response, list: ListPage<R>): Promise<void> {
  const { title, section, path, filters, values, sums } = list;
  if (wantsCsv(req)) return sendCsv(res, ...list.csv, list.read);
  const page = pageOf(req);
  const [found, added] = await Promise.all([list.read(page), sums?.()]);
  const empty = Object.keys(values).length > 0 ? list.empty.filtered : list.empty.yet;
  const selection =
    added === undefined
      ? found.data.length > 0 && csvLink(path, values)
      : selectionLine(path, values, added, list.summed);
  const body = html`${list.above}${filters.length > 0 && filterForm(path, filters, values)} ${selection}
  ${table(list.caption, list.columns, found.data, empty)}${pager(path, values, page.cursor, found.nextCursor)}
  ${list.below}`;
  sendPage(req, res, { title, section, body });
}
