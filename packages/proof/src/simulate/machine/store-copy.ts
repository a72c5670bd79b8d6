// A copy of the whole database in a separate schema: made at one moment of a run, restored at a later one.
import type pg from 'pg';

type Table = { readonly name: string; readonly columns: string };
type Sequence = { readonly name: string; readonly value: string; readonly called: boolean };

/** The tables and their columns, without generated columns. A partition needs no entry: its table covers it. */
const TABLES_SQL = `
  select quote_ident(c.relname) as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     and c.relname not like '%migration%'
   group by c.relname order by c.relname`;
const SEQUENCES_SQL = `
  select quote_ident(sequencename) as name, coalesce(last_value, 1) as value, last_value is not null as called
    from pg_sequences where schemaname = 'public' and sequencename not like '%migration%'`;

export class StoreCopy {
  private tables: readonly Table[] | null = null;
  private sequences: readonly Sequence[] = [];

  /** `db` must skip triggers: the triggers of append-only tables refuse the deletes of a restore. */
  constructor(private readonly db: pg.Client) {}

  async keep(): Promise<void> {
    const tables = (this.tables ??= await this.made());
    await this.db.query(
      tables
        .map((t) => `delete from kept.${t.name}; insert into kept.${t.name} select ${t.columns} from ${t.name}`)
        .join('; '),
    );
    this.sequences = (await this.db.query<Sequence>(SEQUENCES_SQL)).rows;
  }

  async putBack(numbers: boolean): Promise<void> {
    const { tables } = this;
    if (tables === null) throw new Error('no copy was kept');
    const back = tables.map(
      ({ name, columns }) =>
        `delete from ${name}; insert into ${name} (${columns}) overriding system value select ${columns} from kept.${name}`,
    );
    const set = numbers ? this.sequences.map((s) => `select setval('${s.name}', ${s.value}, ${s.called})`) : [];
    await this.db.query([...back, ...set].join('; '));
  }

  /** Creates the tables for the copy, unless the database has them. */
  private async made(): Promise<readonly Table[]> {
    const { rows } = await this.db.query<Table>(TABLES_SQL);
    const make = rows.map(
      (t) => `create unlogged table if not exists kept.${t.name} as select ${t.columns} from ${t.name} with no data`,
    );
    await this.db.query(['create schema if not exists kept', ...make].join('; '));
    return rows;
  }
}
