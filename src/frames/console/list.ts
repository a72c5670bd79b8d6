// Draws a list: filters, a table (cards on a phone), and a link to older rows.
import { type Request } from 'express';
import { type PageRequest } from '../../shared/domain/page.js';
import { invalid } from '../api/http/problem.js';
import { isPlainText } from '../api/http/rules.js';
import { formOf } from './form.js';
import { type Html, html, nothing, type Piece } from './html.js';
import { words } from './show.js';
import { mistakeNote } from './typed.js';

const ROWS = 25;

export type Filter = {
  readonly name: string;
  readonly label: string;
  /** The words the reader chooses from. Absent: free text. */
  readonly options?: readonly string[];
  /** The label of the empty choice. Absent: "any". */
  readonly any?: string;
  /** The kind of input. Absent: plain text. `customer` and `invoice` take what people call them (finder.ts). */
  readonly kind?: 'date' | 'month' | 'amount' | 'currency' | 'customer' | 'invoice';
};

/** The filters of lists with customers or invoices. */
export const CUSTOMER_FILTER = { name: 'customer_id', label: 'Customer', kind: 'customer' } as const;
export const INVOICE_FILTER = { name: 'invoice_id', label: 'Invoice', kind: 'invoice' } as const;

/** What the filters show beside their values. */
export type FilterNotes = {
  /** Words in place of a value, such as a customer's name in place of the id. */
  readonly said: ReadonlyMap<string, string>;
  /** The mistakes, by the filter's name. */
  readonly mistakes: ReadonlyMap<string, Piece>;
};

/** Reads the chosen filters from the address. Throws 400 for a value outside the options. */
export function chosen<N extends string>(
  req: Request,
  filters: readonly (Filter & { readonly name: N })[],
): Partial<Record<N, string>> {
  const found: Partial<Record<N, string>> = {};
  for (const { name, options } of filters) {
    const value = queryText(req, name);
    if (value === '') continue;
    if (options !== undefined && !options.includes(value)) throw invalid(name, `must be one of ${options.join(', ')}`);
    found[name] = value;
  }
  return found;
}

/**
 * Reads a parameter of the address, without blanks around it. Empty if absent. A form for many rows has the filters of
 * its list, to draw the list again.
 */
export function queryText(req: Request, name: string): string {
  const value: unknown = req.method === 'POST' ? formOf(req).text(name) : req.query[name];
  if (value === undefined || value === '') return '';
  if (!isPlainText(value)) throw invalid(name, 'must be one text of at most 255 characters');
  return value.trim();
}

/** True if the address has the parameter, even an empty one. */
export function isAsked(req: Request, name: string): boolean {
  return req.method === 'POST' ? formOf(req).has(name) : req.query[name] !== undefined;
}

export function pageOf(req: Request): PageRequest {
  const cursor = queryText(req, req.method === 'POST' ? 'from' : 'cursor');
  return { limit: ROWS, cursor: cursor === '' ? null : cursor };
}

/** Draws each chosen filter as a chip to remove it, and a form for further filters. */
export function filterForm(
  action: string,
  filters: readonly Filter[],
  values: Readonly<Record<string, string>>,
  { said, mistakes }: FilterNotes,
): Html {
  return html`<div class="chips">
    ${filters.map((f) => values[f.name] !== undefined && !mistakes.has(f.name) && chip(action, f, values, said.get(f.name)))}
    <details ${mistakes.size > 0 && html`open`}>
      <summary class="button quiet">+ Filter</summary>
      <form class="filters card" action="${action}" method="get">
        ${filters.map((f) => html`<p>${field(f, values[f.name] ?? '', mistakes.get(f.name) ?? null)}</p>`)}
        <p class="buttons"><button>Filter</button></p>
      </form>
    </details>
  </div>`;
}

function chip(
  action: string,
  { name, label, options }: Filter,
  values: Readonly<Record<string, string>>,
  said?: string,
): Html {
  const value = values[name] ?? '';
  const remaining = new URLSearchParams({ ...values, [name]: '' }); // an empty value keeps the page's default filter off
  return html`<a class="chip" href="${action}?${remaining.toString()}"
    >${label}: <strong><bdi>${said ?? (options === undefined ? value : words(value))}</bdi></strong>
    <span aria-hidden="true">×</span><span class="unseen"> (remove this filter)</span></a
  >`;
}

const PLACEHOLDERS = { customer: 'E-mail, name or id', invoice: 'Number or id' } as const;

function field({ name, label, options, any = 'any', kind }: Filter, value: string, mistake: Piece): Html {
  const id = `filter-${name}`;
  if (options === undefined) {
    const about =
      kind === 'date'
        ? html`type="${/^(\d{4}-\d{2}-\d{2})?$/.test(value) ? 'date' : 'text'}"`
        : kind === 'month'
          ? html`type="${/^(\d{4}-\d{2})?$/.test(value) ? 'month' : 'text'}"`
          : kind === 'amount'
            ? html`inputmode="decimal" size="8" placeholder="29.90"`
            : kind === 'currency'
              ? html`size="4" placeholder="EUR"`
              : kind === undefined
                ? html`spellcheck="false"`
                : html`spellcheck="false" placeholder="${PLACEHOLDERS[kind]}"`;
    const wrong = mistake !== null && html`aria-invalid="true" aria-describedby="${id}-mistake" autofocus`;
    return html`<label for="${id}">${label}</label>
      <input id="${id}" name="${name}" value="${value}" maxlength="255" autocomplete="off" ${about} ${wrong} />
      ${mistakeNote(`${id}-mistake`, mistake)}`;
  }
  return html`<label for="${id}">${label}</label>
    <select id="${id}" name="${name}">
      <option value="">${any}</option>
      ${options.map((o) => html`<option value="${o}" ${o === value && html`selected`}>${words(o)}</option>`)}
    </select>`;
}

export type Column<R> = {
  readonly label: string;
  readonly cell: (row: R) => Piece;
  /** True: aligns the column to the right, for amounts and counts. */
  readonly number?: boolean;
  /**
   * The cell's place on a phone, where a row has two lines. The first line has `lead` (the row's name), and `side` to
   * its right. The second line has `below`. `none`: on a phone only the row's own page shows the value. If no column of
   * a table has a place, each row becomes a card with all names and values.
   */
  readonly phone?: 'lead' | 'side' | 'below' | 'none';
};

/**
 * Draws a table with ARIA roles. Where it has too little room, such as on a phone, CSS turns the table into cards, and
 * browsers then drop its table roles. A table with many columns needs more room.
 */
export function table<R>(caption: string, columns: readonly Column<R>[], rows: readonly R[], empty: Piece): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  const compact = columns.some((c) => c.phone !== undefined);
  // An amount takes half a column more: it does not wrap.
  const wide = columns.reduce((sum, c) => sum + (c.number === true ? 1.5 : 1), 0);
  const room = wide > 7.5 ? 'room full' : wide > 5.5 ? 'room wide' : 'room';
  return html`<div class="rows">
    <div class="${room}">
      <table role="table" ${compact && html`class="compact"`}>
        <caption>
          ${caption}
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            ${columns.map((c) => html`<th role="columnheader" scope="col" ${c.number && html`class="number"`}>${c.label}</th>`)}
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${rows.map(
            (row) =>
              html`<tr role="row">
                ${columns.map(
                  (c) =>
                    html`<td role="cell" data-label="${c.label}" ${classOf(c, compact)}><div>${c.cell(row)}</div></td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

function classOf<R>({ number, phone }: Column<R>, compact: boolean): Html | false {
  const names = [number === true && 'number', compact && `at-${phone ?? 'below'}`].filter((name) => name !== false);
  return names.length > 0 && html`class="${names.join(' ')}"`;
}

/** Draws the links to older rows and back to the newest rows. The links keep the filters. */
export function pager(
  action: string,
  values: Readonly<Record<string, string>>,
  cursor: string | null,
  next: string | null,
): Html {
  if (cursor === null && next === null) return nothing;
  const to = (extra: Record<string, string>): string => {
    const query = new URLSearchParams({ ...values, ...extra }).toString();
    return query === '' ? action : `${action}?${query}`;
  };
  return html`<nav class="pager" aria-label="Pages">
    ${cursor !== null && html`<a href="${to({})}">Newest</a>`}
    ${next !== null && html`<a href="${to({ cursor: next })}" rel="next">Older</a>`}
  </nav>`;
}

/** The link below a short table to the whole list. Null: the table is empty. */
export function more(rows: readonly unknown[], path: string, name: string): Html | null {
  return rows.length === 0 ? null : html`<p class="pager"><a href="${path}">${name}</a></p>`;
}
