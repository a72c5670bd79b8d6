// A list as nearly all of them are: filters, what the selection adds up to, the rows, the way to older ones, and the same rows as CSV.
import { type Request, type Response } from 'express';
import { type Page, type PageRequest, type SelectionSums } from '../domain/page.js';
import { type CustomerNames } from './customer-names.js';
import { columnsOf, csvColumns, customersIn, type Fields } from './fields.js';
import { html, type Piece } from './html.js';
import { sendPage } from './layout.js';
import { type Column, type Filter, filterForm, pageOf, pager, table } from './list.js';
import { type Section } from './navigation.js';
import { csvLink, type CsvColumn, selectionLine, sendCsv, wantsCsv } from './selection.js';

/** How rows are shown: by the fields of their noun, or by columns of the page's own. The text is the name of the CSV's file. */
type Shown<R> =
  | { readonly fields: readonly [file: string, fields: Fields<R>]; readonly names: CustomerNames }
  | {
      readonly columns: readonly Column<R>[];
      readonly csv: readonly [file: string, columns: readonly CsvColumn<R>[]];
    };

export type ListPage<R> = Shown<R> & {
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
  /** Why there are no rows: none that match the filters, or none yet, and then what will come. */
  readonly empty: { readonly filtered: string; readonly yet: Piece };
  readonly above?: Piece;
  readonly below?: Piece;
};

/** A page of rows as the API shows them. */
export function viewsOf<R, V>({ data, nextCursor }: Page<R>, view: (row: R) => V): Page<V> {
  return { data: data.map(view), nextCursor };
}

/** Sends the list as a page, or as CSV where that is asked for. */
export async function sendList<R extends object>(req: Request, res: Response, list: ListPage<R>): Promise<void> {
  const { title, section, path, filters, values, sums } = list;
  if (wantsCsv(req)) {
    const [file, columns] = 'csv' in list ? list.csv : [list.fields[0], csvColumns(list.fields[1])];
    return sendCsv(res, file, columns, list.read);
  }
  const page = pageOf(req);
  const [found, added] = await Promise.all([list.read(page), sums?.()]);
  const columns = 'columns' in list ? list.columns : await namedColumns(list.fields[1], list.names, found.data);
  const empty = Object.keys(values).length > 0 ? list.empty.filtered : list.empty.yet;
  const selection =
    added === undefined
      ? found.data.length > 0 && csvLink(path, values)
      : selectionLine(path, values, added, list.summed);
  const body = html`${list.above}${filters.length > 0 && filterForm(path, filters, values)} ${selection}
  ${table(list.caption, columns, found.data, empty)}${pager(path, values, page.cursor, found.nextCursor)} ${list.below}`;
  sendPage(req, res, { title, section, body });
}

async function namedColumns<R extends object>(
  list: Fields<R>,
  names: CustomerNames,
  rows: readonly R[],
): Promise<readonly Column<R>[]> {
  return columnsOf(list, await names.of(customersIn(list, rows)));
}
