// Finds the row numbers for a time, in tables with rows numbered in order of arrival.
import { type DataSource } from 'typeorm';
import { type Span } from '../../shared/domain/page.js';
import { type Parameters, within } from './walk.js';

/**
 * Of two rows the row with the greater number may be older, by this time at most: the clocks of processes differ, and
 * transactions run in parallel.
 */
const APART = `interval '10 minutes'`;

/** The search ends when its two bounds are at most this many rows apart. A page has about as many rows. */
const NEAR = 64;

export type Numbers = { readonly above: string; readonly below: string };
const ALL: Numbers = { above: '0', below: '9223372036854775807' };

/**
 * Finds row numbers that enclose all rows at or after `since` and before `until`. They also enclose rows up to some ten
 * minutes outside the span. An absent `since` or `until` sets no bound. The time needs no index: a binary search looks
 * up some twenty rows by number.
 * @param table a table with the columns `number` and `at`; `at` grows with `number`
 */
export async function numbersWithin(
  orm: DataSource,
  table: string,
  at: string,
  { since, until }: Span,
  number = 'id',
): Promise<Numbers> {
  if (since === undefined && until === undefined) return ALL;
  const found = await orm.query<Numbers[]>(
    `select ${side({ table, number, at, time: '$1::timestamptz', away: '-', end: 'lo', none: ALL.above })} as above,
            ${side({ table, number, at, time: '$2::timestamptz', away: '+', end: 'hi', none: ALL.below })} as below`,
    [since ?? null, until ?? null],
  );
  return found[0] ?? ALL;
}

/** A span of the time `at`, and the row numbers enclosing it. */
export type Numbered = { readonly at: string; readonly span: Span; readonly numbers: Numbers };

/** The conditions of the span, found through the column `number`. None if the span has no bound. */
export function numberedWithin(
  number: string,
  { at, span, numbers }: Numbered,
  parameters: Parameters,
): readonly string[] {
  const when = within(at, span, parameters);
  if (when.length === 0) return [];
  const { of } = parameters;
  return [`${number} > ${of(numbers.above)}::bigint`, `${number} < ${of(numbers.below)}::bigint`, ...when];
}

/** One bound of a search. `away`: where a row's time may differ from its number; `none`: the bound if `time` is null. */
type Bound = {
  readonly table: string;
  readonly number: string;
  readonly at: string;
  readonly time: string;
  readonly away: '-' | '+';
  readonly end: 'lo' | 'hi';
  readonly none: string;
};

/** The SQL of a binary search for one bound: rows up to `lo` are older than the time, and rows from `hi` on are not. */
function side({ table, number, at, time, away, end, none }: Bound): string {
  return `case when ${time} is null then ${none} else (
    with recursive probe(lo, hi) as (
      select 0::bigint, coalesce((select max(${number}) from ${table}), 0) + 1
      union all
      select case when r.at < ${time} ${away} ${APART} then r.id else p.lo end,
             case when r.at < ${time} ${away} ${APART} then p.hi else (p.lo + p.hi) / 2 end
        from probe p left join lateral (
          select t.${number} as id, t.${at} as at from ${table} t
           where t.${number} >= (p.lo + p.hi) / 2 and t.${number} < p.hi order by t.${number} limit 1) r on true
       where p.hi - p.lo > ${NEAR})
    select ${end} from probe order by hi - lo limit 1) end::text`;
}
