// Lists the rows of one table, newest first and filtered.
import { Any, type FindOptionsWhere, type ObjectLiteral, type Repository } from 'typeorm';
import { type Page, type PageRequest, type SelectionSums, type Span } from '../../shared/domain/page.js';
import { snake } from './columns.js';
import { ledBy } from './led-by.js';
import { type Numbered, numberedWithin } from './number-at.js';
import { givenOf, type Name, Parameters, sumUp, type Walk, walk, within } from './walk.js';

/**
 * The SQL of an invoice's time in lists, written exactly as in the index: when Stripe made the invoice, otherwise when
 * Crossbill first saw it.
 */
export const INVOICE_AT = 'coalesce(x.platform_created_at, x.first_seen_at)';
/**
 * The time of a payment in lists: when the money moved, otherwise when the MoR last gave a verdict, otherwise when
 * Crossbill learned of the payment.
 */
export const PAYMENT_AT = 'coalesce(x.succeeded_at, x.verdict_at, x.recorded_at)';
/** The time of a refund in lists: when the money moved, otherwise when somebody requested the refund. */
export const REFUND_AT = 'coalesce(x.succeeded_at, x.created_at)';

export type ListOptions = {
  /**
   * Sets of fields, each with an index, the narrowest set first. The query uses the first set with all its fields in
   * the filter, and compares the other fields row by row.
   */
  readonly indexes: readonly (readonly string[])[];
  /** The SQL of the time of `x`, written exactly as in its index. Absent: the row number gives the order. */
  readonly at?: string;
  readonly span?: Span;
  /**
   * Use this in place of `at` if row numbers grow with time: the query then turns the filter's span of time into a span
   * of row numbers.
   */
  readonly numbered?: Numbered;
  /** Conditions that few rows match. Each condition has its own index, so the query uses none of `indexes`. */
  readonly few?: readonly ((of: Name) => string)[];
};

/** A list with filters: the values of the fields, and the options for index and order. */
export type FilteredList = { readonly fields: Filters; readonly options: ListOptions };

type Filters = Readonly<Record<string, string | undefined>>;

/**
 * A page of the rows with all values of `filter`. An undefined value filters nothing. `number`: the column with the row
 * number.
 */
export async function newestFirst<N extends 'seq' | 'id', T extends ObjectLiteral & Readonly<Record<N, string>>>(
  rows: Repository<T>,
  number: N,
  filter: Filters,
  { page, ...options }: ListOptions & { readonly page: PageRequest },
): Promise<Page<T>> {
  const key = keyOf(rows) ?? number;
  const { data, nextCursor } = await walk(rows.manager.connection, walkOf(rows, number, filter, options), page);
  return { data: await inOrder(rows, key, data), nextCursor };
}

/** Sums `amount` over the rows of `filter`, or over the newest few thousand if there are more. */
export function sumsOf<T extends ObjectLiteral>(
  rows: Repository<T>,
  filter: Filters,
  amount: string,
  options: ListOptions & {
    /** The column without which a row's amount does not count. Absent: each amount counts. */
    readonly countedIf?: string;
  },
): Promise<SelectionSums> {
  const { countedIf } = options;
  return sumUp(rows.manager.connection, walkOf(rows, 'seq', filter, options), amount, countedIf);
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
      // Only this form keeps the order of the index: see `ledBy`.
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

/** The rows with these keys, in the order of the keys. */
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
