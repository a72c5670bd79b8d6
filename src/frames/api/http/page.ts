// The pages of lists: newest first, in the form `{data, next_cursor?}`, with `limit` and `cursor`.
import { type Type } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { type Page, type PageRequest } from '../../../shared/domain/page.js';
import { Many, TextIfAny } from './docs.js';
import { IsText, Matches } from './rules.js';

const DEFAULT_LIMIT = 20;

export class PageQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: DEFAULT_LIMIT })
  @IsOptional()
  @Matches(/^([1-9]\d?|100)$/, 'must be an integer from 1 to 100')
  limit?: string;

  @TextIfAny('`next_cursor` of the page before.')
  @IsOptional()
  @IsText()
  cursor?: string;
}

export function pageRequest(query: PageQuery): PageRequest {
  return { limit: query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit), cursor: query.cursor ?? null };
}

export type PageView<V> = { readonly data: readonly V[]; readonly next_cursor?: string };

export function pageView<T, V>(page: Page<T>, view: (row: T) => V): PageView<V> {
  const data = page.data.map(view);
  return page.nextCursor === null ? { data } : { data, next_cursor: page.nextCursor };
}

/** Makes a class that describes a page of `item`, for the OpenAPI document. */
export function pageOf(item: Type): Type {
  class PageOf {
    @Many(item) data!: unknown[];
    @TextIfAny('Left out on the last page.') next_cursor?: string;
  }
  Object.defineProperty(PageOf, 'name', { value: `PageOf${item.name}` });
  return PageOf;
}

/** Leaves out the filters without a value. */
export function given<K extends string>(filter: Readonly<Record<K, string | undefined>>): Partial<Record<K, string>> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Partial<
    Record<K, string>
  >;
}
