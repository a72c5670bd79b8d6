// The counters behind generated ids. A copy by logical replication (blue-green upgrades, moves to another host) has all
// rows, but its counters stand at the beginning: each new row would meet an id that is taken.
import { type Pool } from 'pg';

type Db = Pick<Pool, 'query'>;

/** A counter that stands behind the highest id in its table, by this many. */
export type Behind = { readonly counter: string; readonly table: string; readonly by: number };

// Only counters that this role may move. `quick`: an index finds the highest id. `lane_fence` belongs to no column.
const COUNTERS = `
  select c.oid::regclass::text as counter, coalesce(s.last_value, 0)::text as last,
         coalesce(d.refobjid::regclass::text, 'lane') as "table", coalesce(quote_ident(a.attname), 'fence') as "column",
         d.refobjid is null or exists (
           select from pg_index i where i.indrelid = d.refobjid and i.indkey[0] = d.refobjsubid and i.indpred is null) as quick
    from pg_sequences s
    join pg_class c on c.relname = s.sequencename and c.relnamespace = s.schemaname::regnamespace
    left join pg_depend d on d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
    left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
   where s.schemaname = current_schema() and has_sequence_privilege(c.oid, 'usage')
     and (d.refobjid is not null or s.sequencename = 'lane_fence')
   order by quick desc, 3`;

type Counter = {
  readonly counter: string;
  readonly last: string;
  readonly table: string;
  readonly column: string;
  readonly quick: boolean;
};

/** The counters behind their rows. Reads whole tables only if a counter with an index is behind. */
export async function countersBehind(db: Db): Promise<readonly Behind[]> {
  const { rows } = await db.query<Counter>(COUNTERS);
  const found: Behind[] = [];
  for (const { counter, last, table, column, quick } of rows) {
    if (!quick && found.length === 0) continue;
    const sql = `select greatest(coalesce(max(${column}), 0) - $1::bigint, 0)::text as by from ${table}`;
    const by = Number((await db.query<{ by: string }>(sql, [last])).rows[0]?.by ?? 0);
    if (by > 0) found.push({ counter, table, by });
  }
  return found;
}

const AT_ONCE = 1_000_000;

/**
 * Sets these counters forward. It counts instead of setting a number: replicas may do it at the same time, and a number
 * read a moment ago could set a counter back. Needs only the right to use the sequences.
 */
export async function setForward(db: Db, behind: readonly Behind[]): Promise<void> {
  for (const { counter, by } of behind)
    for (let left = by; left > 0; left -= AT_ONCE)
      await db.query('select count(nextval($1::regclass)) from generate_series(1, $2::int)', [
        counter,
        Math.min(left, AT_ONCE),
      ]);
}
