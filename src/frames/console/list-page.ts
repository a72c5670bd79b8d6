// A page with a list: filters, sums of the selection, rows, older rows, actions on many rows, and the same rows as CSV.
import { type Request, type Response } from 'express';
import { mayDo } from '../api/access/roles.js';
import { toProblem } from '../api/http/problem.filter.js';
import { invalid, type Problem } from '../api/http/problem.js';
import { type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { type Acts, bulkForm, pickBox } from './bulk.js';
import { sessionOf } from './console.guard.js';
import { type CustomerNames } from './customer-names.js';
import { type Finder, type Sought } from './finder.js';
import { columnsOf, csvColumns, customersIn, type Fields } from './fields.js';
import { type Html, html, type Piece } from './html.js';
import { sendPage } from './layout.js';
import { type Column, type Filter, filterForm, pageOf, pager, table } from './list.js';
import { type Section } from './navigation.js';
import { csvLink, rowsOf, selectionLine, sendCsv, wantsCsv } from './selection.js';
import { capital } from './show.js';
import { type Typed, typedOf } from './typed.js';

type Values = Readonly<Record<string, string>>;

/** `V`: the chosen filters. `F`: the filter of the store. */
export type ListPage<R extends object, V extends object, F> = {
  readonly title: string;
  readonly section: Section;
  readonly path: string;
  readonly filters: readonly Filter[];
  /** The chosen filters by name. */
  readonly values: V;
  /** The filter with an empty value in the links to the next page and to the CSV. Absent: there is none. */
  readonly keep?: Values;
  /** Reads the filters. A mistake throws 400 with the filter's name, and then stands at the filter. */
  readonly filter: (values: V) => F;
  readonly read: (filter: F, page: PageRequest) => Promise<Page<R>>;
  /** The rows of the CSV in another order than the list's. Absent or null: newest first, at most CSV_ROWS. */
  readonly csv?: (filter: F) => AsyncGenerator<readonly R[]> | null;
  /** Sums the rows within the filters. Absent for rows without amounts. */
  readonly sums?: (filter: F) => Promise<SelectionSums>;
  /** The words after the sums, such as "taken or not". Absent: no words. */
  readonly summed?: string;
  readonly caption: string;
  /** The name of the CSV file, and the fields of the rows. */
  readonly fields: readonly [file: string, fields: Fields<R>];
  /** Finds the names of customers. Absent if no row has a customer. */
  readonly names?: CustomerNames;
  /** Finds the customer or the invoice of a filter. Absent if no filter is of these kinds. */
  readonly find?: Finder;
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

/** Sends the list as a page, or as CSV on request. A filter that names nothing shows its mistake in place of rows. */
export async function sendList<R extends object, V extends object, F>(
  req: Request,
  res: Response,
  list: ListPage<R, V, F>,
): Promise<void> {
  const [file, fields] = list.fields;
  const chosen = await resolved(list);
  if (wantsCsv(req)) {
    if (!chosen.ok) throw chosen.problem;
    const rows = list.csv?.(chosen.filter) ?? rowsOf((page) => list.read(chosen.filter, page));
    return sendCsv(res, file, csvColumns(fields), rows);
  }
  const { title, section } = list;
  if (chosen.ok) return sendPage(req, res, { title, section, body: await rowsPart(req, list, chosen) });
  const form = filterForm(list.path, list.filters, textsOf(list.values), {
    said: new Map(),
    mistakes: chosen.mistakes,
  });
  sendPage(req, res, { title, section, body: html`${list.above}${form}${list.below}` }, 400);
}

type Resolved<V, F> =
  | { readonly ok: true; readonly values: V; readonly filter: F }
  | { readonly ok: false; readonly problem: Problem; readonly mistakes: ReadonlyMap<string, Piece> };

/** Finds the customer and the invoice of the filters, and reads all filters. */
async function resolved<R extends object, V extends object, F>(list: ListPage<R, V, F>): Promise<Resolved<V, F>> {
  const texts = textsOf(list.values);
  const ids: Record<string, string> = {};
  for (const { name, kind } of list.filters) {
    const text = texts[name];
    if (text === undefined || list.find === undefined || (kind !== 'customer' && kind !== 'invoice')) continue;
    const sought = await list.find[kind](text);
    if (sought.ok) ids[name] = sought.id;
    else
      return {
        ok: false,
        problem: invalid(name, sought.why),
        mistakes: new Map([[name, choicesOf(list, name, sought)]]),
      };
  }
  const values = { ...list.values, ...ids };
  try {
    return { ok: true, values, filter: list.filter(values) };
  } catch (error) {
    const problem = toProblem(error);
    const mistakes = new Map(problem.errors.map(({ field, message }) => [field, `${capital(message)}.`]));
    if (!list.filters.some(({ name }) => mistakes.has(name))) throw error;
    return { ok: false, problem, mistakes };
  }
}

function choicesOf(
  { path, values }: { readonly path: string; readonly values: object },
  name: string,
  { why, choices }: Extract<Sought, { ok: false }>,
): Html {
  const to = (id: string): string => `${path}?${new URLSearchParams({ ...textsOf(values), [name]: id }).toString()}`;
  return html`${capital(why)}${choices.length === 0 ? '.' : ':'}
  ${choices.map(({ id, said }) => html`<a class="choice-link" href="${to(id)}"><bdi>${said}</bdi></a>`)}`;
}

/** The values as texts: a filter without a value is absent. */
function textsOf(values: object): Values {
  return Object.fromEntries(Object.entries(values).filter((e): e is [string, string] => typeof e[1] === 'string'));
}

async function rowsPart<R extends object, V extends object, F>(
  req: Request,
  list: ListPage<R, V, F>,
  { values: chosen, filter }: Extract<Resolved<V, F>, { ok: true }>,
): Promise<Html> {
  const { path, filters, sums, names, many } = list;
  const [, fields] = list.fields;
  const values = textsOf(chosen);
  const address = { ...list.keep, ...values };
  const page = pageOf(req);
  const [{ data: rows, nextCursor }, added] = await Promise.all([list.read(filter, page), sums?.(filter)]);
  const session = sessionOf(req);
  const typed = typedOf(req);
  const choose = many !== undefined && mayDo(session.role, 'ops') && rows.some((row) => many.label(row) !== null);
  const customer = values['customer_id'] ?? '';
  const known = await names?.of([...new Set([...customersIn(fields, rows), ...(customer === '' ? [] : [customer])])]);
  const columns = columnsOf(fields, known);
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
  const name = known?.get(customer);
  const said = new Map(name === undefined ? [] : [['customer_id', name]]);
  return html`${list.above}${filters.length > 0 && filterForm(path, filters, values, { said, mistakes: new Map() })}
  ${selection} ${shown}${pager(path, address, page.cursor, nextCursor)}
  ${choose && bulkForm(session, path, many.acts, { values: { ...address, from: page.cursor ?? '' }, typed })}
  ${list.below}`;
}
