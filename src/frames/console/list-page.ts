// A page with a list: filters, sums of the selection, rows, older rows, actions on many rows, and the same rows as CSV.
import { type Request, type Response } from 'express';
import { mayDo } from '../api/access/caller.js';
import { type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { type Acts, bulkForm, pickBox } from './bulk.js';
import { sessionOf } from './console.guard.js';
import { type CustomerNames } from './customer-names.js';
import { columnsOf, csvColumns, customersIn, type Fields } from './fields.js';
import { type Html, html, type Piece } from './html.js';
import { sendPage } from './layout.js';
import { type Column, type Filter, filterForm, pageOf, pager, table } from './list.js';
import { type Section } from './navigation.js';
import { csvLink, selectionLine, sendCsv, wantsCsv } from './selection.js';
import { type Typed, typedOf } from './typed.js';

export type ListPage<R extends object> = {
  readonly title: string;
  readonly section: Section;
  readonly path: string;
  readonly filters: readonly Filter[];
  /** The chosen filters by name. */
  readonly values: Readonly<Record<string, string>>;
  /** The filters in the links to the next page and to the CSV. Absent: the same as `values`. */
  readonly address?: Readonly<Record<string, string>>;
  readonly read: (page: PageRequest) => Promise<Page<R>>;
  /** Sums the rows within the filters. Absent for rows without amounts. */
  readonly sums?: () => Promise<SelectionSums>;
  /** The words after the sums, such as "taken or not". Absent: no words. */
  readonly summed?: string;
  readonly caption: string;
  /** The name of the CSV file, and the fields of the rows. */
  readonly fields: readonly [file: string, fields: Fields<R>];
  /** Finds the names of customers. Absent if no row has a customer. */
  readonly names?: CustomerNames;
  /**
   * Draws the rows in place of the table.
   * @param boxes the form for the boxes of the rows; null: no row has a box
   */
  readonly show?: (rows: readonly R[], boxes: Typed | null, empty: Piece) => Html;
  /** The operator's actions on many rows. `label` gives a row's id and name; null means nobody can choose the row. */
  readonly many?: { readonly acts: Acts; readonly label: (row: R) => readonly [id: string, name: string] | null };
  /** The text for an empty list. `filtered`: no row matches the filters. `yet`: there are no rows so far. */
  readonly empty: { readonly filtered: string; readonly yet: Piece };
  readonly above?: Piece;
  readonly below?: Piece;
};

/** Turns a page of rows into the API's form. */
export function viewsOf<R, V>({ data, nextCursor }: Page<R>, view: (row: R) => V): Page<V> {
  return { data: data.map(view), nextCursor };
}

/** Sends the list as a page, or as CSV on request. */
export async function sendList<R extends object>(req: Request, res: Response, list: ListPage<R>): Promise<void> {
  const { title, section, path, filters, values, address = values, sums, names, many } = list;
  const [file, fields] = list.fields;
  if (wantsCsv(req)) return sendCsv(res, file, csvColumns(fields), list.read);
  const page = pageOf(req);
  const [{ data: rows, nextCursor }, added] = await Promise.all([list.read(page), sums?.()]);
  const session = sessionOf(req);
  const typed = typedOf(req);
  const choose = many !== undefined && mayDo(session.role, 'ops') && rows.some((row) => many.label(row) !== null);
  const columns = columnsOf(fields, await names?.of(customersIn(fields, rows)));
  const box: Column<R> = {
    label: 'Choose',
    phone: 'below',
    cell: (row) => {
      const [id, name] = many?.label(row) ?? [];
      return id !== undefined && name !== undefined && pickBox(id, name, typed);
    },
  };
  const empty = Object.keys(values).length > 0 ? list.empty.filtered : list.empty.yet;
  const selection =
    added === undefined ? rows.length > 0 && csvLink(path, address) : selectionLine(path, address, added, list.summed);
  const shown =
    list.show?.(rows, choose ? typed : null, empty) ??
    table(list.caption, choose ? [box, ...columns] : columns, rows, empty);
  const body = html`${list.above}${filters.length > 0 && filterForm(path, filters, values)} ${selection}
  ${shown}${pager(path, address, page.cursor, nextCursor)}
  ${choose && bulkForm(session, path, many.acts, { ...address, from: page.cursor ?? '' }, typed)} ${list.below}`;
  sendPage(req, res, { title, section, body });
}
