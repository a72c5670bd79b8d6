// Reads one page of a list, newest rows first. An index gives the order, so a page never reads the whole table.
import { type DataSource } from 'typeorm';
import { BadCursor, type Page, type PageRequest, type SelectionSums, type Span } from '../../shared/domain/page.js';

/**
 * The query of one page compares at most this many rows one by one, because some filters have no index (a currency, an
 * amount). At this limit the page may be short or empty, but has a cursor: the caller asks for the next page. The
 * comparison costs some 10 ms and 200 disk pages, even in a huge table.
 */
export const LOOKED_THROUGH = 5_000;

/** Takes a value and returns its placeholder in the statement: `$1`, `$2` and so on. */
export type Name = (value: unknown) => string;

/** Collects the parameters of a statement. */
export class Parameters {
  readonly values: unknown[] = [];
  readonly of: Name = (value) => `$${this.values.push(value)}`;
}

export type Walk = {
  /** A table or a subquery, under the name `x`. */
  readonly from: string;
  /** The column with the key of the row. */
  readonly key: string;
  /** The column with the row's number. Of two rows with the same time the row with the greater number is newer. */
  readonly number: string;
  /** The time for the order of the list, written as in its index. Null: the number orders the list. */
  readonly at: string | null;
  /** The leading columns of the index, before time and number. `where` gives each a fixed value. */
  readonly lead: readonly string[];
  /** Conditions for columns with an index. */
  readonly where: readonly string[];
  readonly parameters: Parameters;
  /** Columns without an index, to compare row by row. */
  readonly looked: readonly (readonly [column: string, value: string])[];
  /**
   * True if `where` leaves only a few rows. Their index has another order, so the query reads all these rows and sorts
   * them.
   */
  readonly few: boolean;
  /** Reverses the order, for an export. */
  readonly oldestFirst?: boolean;
};

type Found = { readonly key: string; readonly place: string };

/** Reads the keys of a page, in order. Throws BadCursor. */
export async function walk(orm: DataSource, walk: Walk, page: PageRequest): Promise<Page<string>> {
  const { of, values } = walk.parameters;
  const order = orderOf(walk);
  const found = (from: string, end: string): string => `select ${columns(walk)} from ${from} order by ${order} ${end}`;
  const rows = `${walk.from} where ${[...walk.where, ...after(walk, page.cursor)].join(' and ') || 'true'}`;
  const known = [...values];
  const looked = walk.looked.map(([column, value]) => `x.${column} = ${of(value)}`).join(' and ') || 'true';
  const from = walk.few
    ? `(select x.* from ${rows} offset 0) x where ${looked}`
    : walk.looked.length === 0
      ? rows
      : `(select x.* from ${rows} order by ${order} limit ${LOOKED_THROUGH}) x where ${looked}`;
  // Reads one more row than the page has, to see if there is a next page.
  const shown = await orm.query<Found[]>(found(from, `limit ${page.limit + 1}`), values);
  const data = shown.slice(0, page.limit).map((row) => row.key);
  if (shown.length > page.limit) return { data, nextCursor: shown[page.limit - 1]?.place ?? null };
  if (walk.few || walk.looked.length === 0) return { data, nextCursor: null };
  const [last] = await orm.query<Found[]>(found(rows, `offset ${LOOKED_THROUGH - 1} limit 1`), known);
  return { data, nextCursor: last?.place ?? null };
}

/**
 * Sums the amounts in the rows of a list, reading at most `LOOKED_THROUGH` rows. `amount`: a column with minor
 * units.
 */
export async function sumUp(orm: DataSource, walk: Walk, amount: string, countedIf = amount): Promise<SelectionSums> {
  const order = orderOf(walk);
  const columns = [...new Set(['currency', amount, countedIf, ...walk.looked.map(([column]) => column)])]
    .map((c) => `x.${c}`)
    .join(', ');
  const rows = `${walk.from} where ${walk.where.join(' and ') || 'true'}`;
  const seen = walk.few
    ? `select ${columns} from (select x.* from ${rows} offset 0) x limit ${LOOKED_THROUGH + 1}`
    : `select ${columns} from ${rows} order by ${order} limit ${LOOKED_THROUGH + 1}`;
  const looked =
    walk.looked.map(([column, value]) => `x.${column} = ${walk.parameters.of(value)}`).join(' and ') || 'true';
  const found = await orm.query<{ currency: string | null; rows: string; minor: string; seen: string }[]>(
    `with seen as materialized (${seen})
     select case when x.${amount} is not null then x.currency end as currency, count(*) as rows,
            coalesce(sum(x.${amount}) filter (where x.${countedIf} is not null), 0)::text as minor, (select count(*) from seen) as seen
       from seen x where ${looked} group by 1 order by 2 desc, 1`,
    walk.parameters.values,
  );
  return {
    sums: found.map((r) => ({ currency: r.currency, rows: Number(r.rows), minor: BigInt(r.minor) })),
    all: Number(found[0]?.seen ?? 0) <= LOOKED_THROUGH,
  };
}

function orderOf({ lead, at, number, oldestFirst }: Walk): string {
  const way = oldestFirst === true ? 'asc' : 'desc';
  const time = at === null ? [] : [`${at} ${way}`];
  return [...lead.map((c) => `x.${c}`), ...time, `x.${number} ${way}`].join(', ');
}

/**
 * The key and the place of a row. The place is exact to the microsecond: with a rounded place a row would appear twice,
 * or never.
 */
function columns({ key, number, at }: Walk): string {
  const time = at === null ? '' : `(extract(epoch from ${at}) * 1000000)::bigint || '.' || `;
  return `x.${key}::text as key, ${time}x.${number}::text as place`;
}

/** The condition for the rows after the cursor. */
function after({ number, at, parameters, oldestFirst }: Walk, cursor: string | null): readonly string[] {
  if (cursor === null) return [];
  const [, micros, n] = (at === null ? /^()(\d{1,18})$/ : /^(\d{1,17})\.(\d{1,18})$/).exec(cursor) ?? [];
  if (micros === undefined || n === undefined) throw new BadCursor('the cursor is not one of ours');
  const is = oldestFirst === true ? '>' : '<';
  if (at === null) return [`x.${number} ${is} ${parameters.of(n)}`];
  const time = `timestamptz 'epoch' + ${parameters.of(micros)}::bigint * interval '1 microsecond'`;
  return [`(${at}, x.${number}) ${is} (${time}, ${parameters.of(n)}::bigint)`];
}

/** The conditions for a time at or after `since` and before `until`. */
export function within(at: string, { since, until }: Span, { of }: Parameters): readonly string[] {
  return [
    ...(since === undefined ? [] : [`${at} >= ${of(since)}::timestamptz`]),
    ...(until === undefined ? [] : [`${at} < ${of(until)}::timestamptz`]),
  ];
}

/** The filters in use, by column. */
export function givenOf(filter: Readonly<Record<string, string | undefined>>): readonly (readonly [string, string])[] {
  return Object.entries(filter).filter((f): f is [string, string] => f[1] !== undefined);
}
