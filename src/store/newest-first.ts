// Lists of one table, the newest rows first, filtered.
import { Any, type FindOptionsWhere, type ObjectLiteral, type Repository } from 'typeorm';
import { type Page, type PageRequest, type SelectionSums, type Span } from '../domain/page.js';
import { snake } from './columns.js';
import { ledBy } from './led-by.js';
import { type Numbered, numberedWithin } from './number-at.js';
import { givenOf, type Name, Parameters, sumUp, type Walk, walk, within } from './walk.js';

/** The times for the order and the filters of lists, as in their indexes. Of an invoice: the time Stripe made it. */
export const INVOICE_AT = 'coalesce(x.platform_created_at, x.first_seen_at)';
/** The time of the money; before it, the MoR's last verdict; before any, our first knowledge of the payment. */
export const PAYMENT_AT = 'coalesce(x.succeeded_at, x.verdict_at, x.recorded_at)';
/** The time of the refund's money; before it, the time of its request. */
export const REFUND_AT = 'coalesce(x.succeeded_at, x.created_at)';

export type ListOptions = {
  /**
   * Sets of fields, each with an index, the narrowest first. The query uses the index of the first set in the filter, and
   * compares the other fields row by row.
   */
  readonly indexes: readonly (readonly string[])[];
  /** The time of the list's order and filter, of `x`, as in its indexes; left out: the order of the numbers. */
  readonly at?: string;
  readonly span?: Span;
  /** In place of `at`, where the numbers grow with the time: the rows of the span lie between these numbers. */
  readonly numbered?: Numbered;
  /** Conditions with few rows, found by an index of another order, in place of a leading one. */
  readonly few?: readonly ((of: Name) => string)[];
};

/** The filters of a list of money: the leading index, the time of its order, and the comparisons row by row. */
export type FilteredList = { readonly fields: Filters; readonly options: ListOptions };

type Filters = Readonly<Record<string, string | undefined>>;

/** The rows with all these values; an undefined value filters nothing. `number`: the counting column of the rows. */
export async function newestFirst<N extends 'seq' | 'id', T extends ObjectLiteral & Readonly<Record<N, string>>>(
  rows: Repository<T>,
  number: N,
  filter: Filters,
  page: PageRequest,
  options: ListOptions,
): Promise<Page<T>> {
  const key = keyOf(rows) ?? number;
  const { data, nextCursor } = await walk(rows.manager.connection, walkOf(rows, number, filter, options), page);
  return { data: await inOrder(rows, key, data), nextCursor };
}

/** The sums of these rows, of the newest few thousand. */
export function sumsOf<T extends ObjectLiteral>(
  rows: Repository<T>,
  filter: Filters,
  amount: string,
  options: ListOptions,
): Promise<SelectionSums> {
  return sumUp(rows.manager.connection, walkOf(rows, 'seq', filter, options), amount);
}

function keyOf<T extends ObjectLiteral>(rows: Repository<T>): string | undefined {
  return rows.metadata.primaryColumns[0]?.propertyName;
}

function walkOf<T extends ObjectLiteral>(
  rows: Repository<T>,
  number: 'seq' | 'id',
  filter: Filters,
  { indexes, at, span = {}, numbered, few = [] }: ListOptions,
): Walk {
  const parameters = new Parameters();
  const given = givenOf(filter);
  const named = (fields: readonly string[]): boolean => fields.every((field) => filter[field] !== undefined);
  const lead = few.length === 0 ? (indexes.find(named) ?? []) : [];
  const leads = given.filter(([field]) => lead.includes(field));
  return {
    from: `${rows.metadata.tableName} x`,
    key: snake(keyOf(rows) ?? number),
    number,
    at: at ?? null,
    lead: lead.map(snake),
    where: [
      // See `ledBy`: only the index's own order.
      ...leads.map(([field, value]) => ledBy(`x.${snake(field)}`, parameters.of(value))),
      ...few.map((condition) => condition(parameters.of)),
      ...(at === undefined ? [] : within(at, span, parameters)),
      ...(numbered === undefined ? [] : numberedWithin(`x.${number}`, numbered, parameters)),
    ],
    parameters,
    looked: given.filter(([field]) => !lead.includes(field)).map(([field, value]) => [snake(field), value]),
    few: few.length > 0,
  };
}

/** The rows of these keys, in their order. */
export async function inOrder<T extends ObjectLiteral>(
  rows: Repository<T>,
  key: string,
  keys: readonly string[],
): Promise<T[]> {
  const found = await rows.findBy({ [key]: Any([...keys]) } as FindOptionsWhere<T>);
  const byKey = new Map<string, T>(found.map((row) => [String(row[key]), row]));
  return keys.flatMap((k) => {
    const row = byKey.get(k);
    return row === undefined ? [] : [row];
  });
}
