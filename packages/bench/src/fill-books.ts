// Fills every table with old, settled renewals, as if a daemon had run for years. The rows come from SQL inside the
// database, so no client sends them.
import type pg from 'pg';
import { connectAlone } from '#src/frames/store/connect.js';
import { ONCE, PURGED, RENEWALS, ROWS } from './fill-rows.js';

/** Sums the ledger entries by day, as the daemon does soon after each entry. */
const FOLD: readonly string[] = [
  'delete from ledger_day',
  `insert into ledger_day (day, currency, reason, debit_account, credit_account, entries, amount)
   select (moved_at at time zone 'UTC')::date, currency, reason, debit_account, credit_account, count(*), sum(amount)
     from ledger_entry group by 1, 2, 3, 4, 5`,
  'update ledger_fold set up_to = n, noted = n from (select coalesce(max(id), 0) as n from ledger_entry) newest',
];

const TABLES = ['inbox_event', 'invoice', 'payment', 'lane_log', 'refund', 'ledger_entry', 'notification'];

/**
 * The tables of each connection: several connections write at once. That works because the fill drops the foreign keys
 * first.
 */
const WRITERS = [
  /^(inbox_event|event_body)$/,
  /^(invoice|payment)$/,
  /^ledger_entry$/,
  /^(?!(inbox_event|event_body|invoice|payment|ledger_entry)$)/,
];
const tableOf = (sql: string): string => /into (\w+)/.exec(sql)?.[1] ?? '';

export type Filling = {
  /**
   * The newest renewal is this many days old, the oldest 700 days older. Default: three, so today's counts contain only
   * rows of today's measurement.
   */
  readonly restDays?: number;
  /**
   * One renewal in this many gets its log, because logs take half of the time and of the disk. Default: 1, every
   * renewal.
   */
  readonly logOfEach?: number;
  readonly said?: (done: string) => void;
};

/** The number of renewals per transaction. More would not fit into memory. */
const STEP = 250_000;

/**
 * Stores the progress of each connection, and the keys and indexes to create at the end. An interrupted fill resumes
 * there.
 */
const PROGRESS = `
  create schema if not exists filling;
  create table if not exists filling.hand (hand text primary key, up_to integer not null default 0);
  create table if not exists filling.key (place integer primary key, of_table text not null, rank integer not null, make text not null)`;

/**
 * Writes old renewals until there are `renewals`: two ledger entries, two events and three log rows each. As when
 * restoring a dump, it first drops the indexes and keys of the large tables and creates them again at the end. Then it
 * vacuums and analyzes the tables. Nothing else may use the database meanwhile. It skips existing rows, and an
 * interrupted fill resumes.
 */
export async function fillBooks(
  url: string,
  renewals: number,
  { restDays = 3, logOfEach = 1, said = () => undefined }: Filling = {},
): Promise<void> {
  const connect = async (): Promise<pg.Client> => {
    const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
    await db.query(`set maintenance_work_mem = '400MB'; set max_parallel_maintenance_workers = 2`);
    return db;
  };
  const db = await connect();
  const manual = [db];
  try {
    await db.query(PROGRESS);
    const have = await upTo(db, 'all');
    if (have >= renewals) return;
    if ((await upTo(db, 'keys')) === 0)
      await inOne(db, 'keys', 1, async () => {
        if (have === 0) for (const sql of ONCE) await db.query(sql);
        const drop = renewals - have >= STEP ? await definitions(db) : [];
        for (const d of [...drop].reverse()) await db.query(d.drop);
        for (const [i, d] of drop.entries())
          await db.query('insert into filling.key values ($1, $2, $3, $4)', [i, d.of, d.rank, d.make]);
      });
    const { rows: keys } = await db.query<Key>(
      'select place, of_table as of, rank, make from filling.key order by place',
    );
    const make = (hand: pg.Client, key: Key): Promise<void> =>
      inOne(hand, null, 0, async () => {
        await hand.query(key.make);
        await hand.query('delete from filling.key where place = $1', [key.place]);
        said(key.make);
      });
    const work = async (hand: pg.Client, tables: RegExp): Promise<void> => {
      const rows = ROWS.filter((sql) => tables.test(tableOf(sql)));
      for (let from = (await upTo(hand, tables.source)) + 1; from <= renewals; from += STEP) {
        const to = Math.min(renewals, from + STEP - 1);
        const k = `with k as materialized (${RENEWALS(restDays)})`;
        await inOne(hand, tables.source, to, async () => {
          for (const sql of rows) {
            // Only the oldest renewals have event bodies. For the others the join would read all events for nothing.
            if (tableOf(sql) === 'event_body' && from > PURGED) continue;
            const some = tableOf(sql) === 'lane_log' ? ` where n % ${logOfEach} = 0` : '';
            await hand.query(`${k} ${sql}${some}`, [from, to, renewals]);
          }
        });
        said(`${to} of ${renewals} renewals in ${[...new Set(rows.map(tableOf))].join(', ')}`);
      }
      for (const key of keys.filter((x) => x.rank < FOREIGN && tables.test(x.of))) await make(hand, key);
    };
    if (keys.length === 0) for (const tables of WRITERS) await work(db, tables);
    else {
      while (manual.length < WRITERS.length) manual.push(await connect());
      await Promise.all(manual.map((hand, i) => work(hand, WRITERS[i] ?? /^$/)));
    }
    for (const key of keys.filter((x) => x.rank === FOREIGN)) await make(db, key);
    for (const sql of FOLD) await db.query(sql);
    await db.query('vacuum analyze');
    await db.query('delete from filling.hand where hand = $1', ['keys']);
    await inOne(db, 'all', renewals, () => Promise.resolve());
  } finally {
    await Promise.all(manual.map((hand) => hand.end()));
  }
}

async function upTo(db: pg.Client, hand: string): Promise<number> {
  const found = await db.query<{ up_to: number }>('select up_to from filling.hand where hand = $1', [hand]);
  return found.rows[0]?.up_to ?? 0;
}

/** Does the work and records its end in one transaction. */
async function inOne(db: pg.Client, hand: string | null, done: number, work: () => Promise<void>): Promise<void> {
  await db.query('begin');
  await work();
  if (hand !== null)
    await db.query('insert into filling.hand values ($1, $2) on conflict (hand) do update set up_to = excluded.up_to', [
      hand,
      done,
    ]);
  await db.query('commit');
}

/** The rank of foreign keys. They come last, because they lock two tables each and need the keys of both. */
const FOREIGN = 2;
type Definition = { readonly of: string; readonly rank: number; readonly drop: string; readonly make: string };
type Key = Omit<Definition, 'drop'> & { readonly place: number };

/** The definitions of the large tables in the order to create them: primary and unique keys, indexes, foreign keys. */
async function definitions(db: pg.Client): Promise<readonly Definition[]> {
  const found = await db.query<Definition>(
    `select c.conrelid::regclass::text as of, 'alter table ' || c.conrelid::regclass || ' drop constraint ' || quote_ident(c.conname) as drop,
            'alter table ' || c.conrelid::regclass || ' add constraint ' || quote_ident(c.conname) || ' ' || pg_get_constraintdef(c.oid) as make,
            case c.contype when 'f' then ${FOREIGN} else 0 end as rank
       from pg_constraint c where c.contype in ('p', 'u', 'f')
        and (c.conrelid = any($1::regclass[]) or c.contype = 'f' and c.confrelid = any($1::regclass[]))
     union all
     select i.indrelid::regclass::text, 'drop index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid), 1
       from pg_index i where i.indrelid = any($1::regclass[])
        and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u'))
     order by rank`,
    [TABLES],
  );
  return found.rows;
}
