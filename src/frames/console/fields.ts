// Declares each field of a row (payment, refund, ledger entry …) once, for the page, the CSV, the export and the
// command line's table. Names, values and order are those of the API's view.
import { showMoney } from '../../shared/domain/money.js';
import { type Piece } from './html.js';
import { type Column } from './list.js';
import { type CsvColumn, plainAmount } from './selection.js';
import { amount, copyId, customerLink, foreign, linkTo, moneyLink, status, time, words } from './show.js';

/** Customers' names from Stripe, by customer id. */
export type Names = ReadonlyMap<string, string>;

type Kind = 'text' | 'count' | 'word' | 'status' | 'time' | 'money' | 'currency' | 'id' | 'customer';
type Folder = 'invoices' | 'payments' | 'refunds';

/** A field on a page. Most fields need only a label. */
type OnPage<V> = {
  readonly label: string;
  readonly phone?: Column<V>['phone'];
  readonly number?: boolean;
  /** The console folder of the row's own page, such as `invoices`. Present: the amount links to this page. */
  readonly link?: Folder;
  /** The text for an absent value. */
  readonly none?: string;
  readonly cell?: (view: V) => Piece;
};

export type Field<V> = { readonly kind: Kind; readonly folder: Folder | null; readonly page: OnPage<V> | null };
export type Fields<V> = readonly (readonly [name: keyof V & string, field: Field<V>])[];

type Make = <V>(page?: string | OnPage<V>) => Field<V>;

function make(kind: Kind, folder: Folder | null = null): Make {
  return (page) => ({ kind, folder, page: typeof page === 'string' ? { label: page } : (page ?? null) });
}

/** Makes fields of each kind. A field without a label appears only in the CSV and the export. */
export const field = {
  text: make('text'),
  count: make('count'),
  /** A word of the API, such as a reason or the `code` of a fact. */
  word: make('word'),
  status: make('status'),
  time: make('time'),
  /** An amount in smallest units of the view's `currency`. */
  money: make('money'),
  currency: make('currency'),
  /** An id. The page shows it last, as a copy button. */
  id: make('id'),
  customer: make('customer'),
  ref: <V>(folder: Folder, page?: string | OnPage<V>): Field<V> => make('text', folder)(page),
} as const;

/** Declares the fields of one kind of row, such as a payment. Their names are members of the API's view. */
export function fields<V extends object>(list: { readonly [K in keyof V & string]?: Field<V> }): Fields<V> {
  const names = Object.keys(list) as (keyof V & string)[];
  return names.flatMap((name) => {
    const one = list[name];
    return one === undefined ? [] : [[name, one] as const];
  });
}

/**
 * The columns of a table.
 * @param without fields to leave out, for example a value equal in every row
 */
export function columnsOf<V extends object>(
  list: Fields<V>,
  names: Names = new Map(),
  without: readonly (keyof V)[] = [],
): readonly Column<V>[] {
  const onPage = list.flatMap(([name, { kind, folder, page }]) =>
    page === null || without.includes(name) ? [] : [{ name, kind, folder, page }],
  );
  const isId = ({ kind }: { kind: Kind }): boolean => kind === 'id';
  return [...onPage.filter((f) => !isId(f)), ...onPage.filter(isId)].map(({ name, kind, folder, page }) => ({
    label: page.label,
    number: page.number ?? (kind === 'money' || kind === 'count'),
    phone: page.phone ?? 'none',
    cell: (view) => {
      if (page.cell !== undefined) return page.cell(view);
      const text = textIn(view, name);
      if (folder !== null) return linkTo(folder, text);
      const rowId = 'id' in view ? String(view.id) : '';
      if (page.link !== undefined) return moneyLink(page.link, rowId, minorIn(text), currencyIn(view));
      return cellOf(kind, text, currencyIn(view), names, page.none);
    },
  }));
}

function cellOf(kind: Kind, text: string | null, currency: string | null, names: Names, none?: string): Piece {
  switch (kind) {
    case 'status':
      return text === null ? foreign(null) : status(text);
    case 'word':
      return foreign(text === null ? null : words(text));
    case 'time':
      return time(text === null ? null : new Date(text), none);
    case 'money':
      return amount(minorIn(text), currency);
    case 'id':
      return copyId(text);
    case 'customer':
      return customerLink(text, names.get(text ?? ''));
    case 'text':
    case 'count':
    case 'currency':
      return foreign(text);
  }
}

/** The ids of all customers in the rows, without repeats. */
export function customersIn<V extends object>(list: Fields<V>, views: readonly V[]): readonly string[] {
  const found = list.filter(([, { kind, page }]) => kind === 'customer' && page !== null);
  return [...new Set(views.flatMap((view) => found.flatMap(([name]) => textIn(view, name) ?? [])))];
}

/** The columns of a CSV: amounts as decimals, currencies in capitals, unknown values empty. */
export function csvColumns<V extends object>(list: Fields<V>): readonly CsvColumn<V>[] {
  return list.map(([name, { kind }]) => [
    name,
    (view) => {
      const [text, currency] = [textIn(view, name), currencyIn(view)];
      if (kind === 'money') return plainAmount(minorIn(text), currency);
      return kind === 'currency' ? (text ?? '').toUpperCase() : (text ?? '');
    },
  ]);
}

/** One row of the JSON export. Unknown values are null. */
export function jsonRow<V extends object>(list: Fields<V>, view: V): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(([name]) => [name, view[name] ?? null]));
}

/** The heads and cells of a terminal's table, with the same fields as the page. */
export function terminalTable<V extends object>(
  list: Fields<V>,
  views: readonly V[],
): { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const onPage = list.filter(([, { page }]) => page !== null);
  const cell = (view: V, name: keyof V, kind: Kind): string => {
    const [text, currency] = [textIn(view, name), currencyIn(view)];
    if (text === null || (kind === 'money' && currency === null)) return '-';
    return kind === 'money' ? showMoney({ minor: BigInt(text), currency: currency ?? '' }) : text;
  };
  return {
    heads: onPage.map(([name]) => name),
    rows: views.map((view) => onPage.map(([name, { kind }]) => cell(view, name, kind))),
  };
}

function textIn<V>(view: V, name: keyof V): string | null {
  const value: unknown = view[name];
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'object' && value !== null && 'code' in value) return String(value.code);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const minorIn = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

function currencyIn(view: object): string | null {
  return 'currency' in view && typeof view.currency === 'string' ? view.currency.toUpperCase() : null;
}
