// Pages of a table, the newest rows first, by the number that the database gives each row.
import { type ObjectLiteral, type Repository } from 'typeorm';
import { BadCursor, type Page, type PageRequest } from '../domain/ports/books.js';
import { ledBy } from './led-by.js';

const BEFORE_ALL = '9223372036854775807';

/** A cursor is a row's number as text; anything else is no cursor of ours. */
export function cursorOf(cursor: string | null): string {
  if (cursor === null) return BEFORE_ALL;
  if (!/^\d{1,18}$/.test(cursor)) throw new BadCursor('the cursor is not one of ours');
  return cursor;
}

export type ListOptions = {
  /** Sets of fields with an index each, the narrowest first: the first one that the filter names leads. */
  readonly indexes: readonly (readonly string[])[];
  /** In the words of the index, where it holds a part of the table only. */
  readonly and?: string | undefined;
};

/** The rows with all these values; a value that is undefined filters nothing. `number`: the column that counts the rows. */
export async function newestFirst<N extends 'seq' | 'id', T extends ObjectLiteral & Readonly<Record<N, string>>>(
  rows: Repository<T>,
  number: N,
  filter: Readonly<Record<string, string | undefined>>,
  page: PageRequest,
  { indexes, and }: ListOptions,
): Promise<Page<T>> {
  const query = rows.createQueryBuilder('x').where(`x.${number} < :cursor`, { cursor: cursorOf(page.cursor) });
  if (and !== undefined) query.andWhere(and);
  const lead = indexes.find((fields) => fields.every((field) => filter[field] !== undefined)) ?? [];
  for (const field of lead) query.addOrderBy(`x.${field}`);
  for (const [field, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    // See `ledBy`: the order is that of the index, and of no other.
    query.andWhere(lead.includes(field) ? ledBy(`x.${field}`, `:${field}`) : `x.${field} = :${field}`, {
      [field]: value,
    });
  }
  // One row too many tells whether there is a next page.
  const found = await query
    .addOrderBy(`x.${number}`, 'DESC')
    .limit(page.limit + 1)
    .getMany();
  const data = found.slice(0, page.limit);
  return { data, nextCursor: found.length > page.limit ? (data.at(-1)?.[number] ?? null) : null };
}
