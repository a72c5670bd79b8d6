// Compares a file of links with the known links. Stages all lines, compares them together, then writes all or none.
import type pg from 'pg';
import { type ImportRow, type LineProblem } from './rules/import-line.js';
import { IMPORT_PROBLEMS_KEPT } from '../../shared/policy.js';

export type ImportCheck = {
  /** The first problems, by line. */
  readonly problems: readonly LineProblem[];
  readonly problemsInAll: number;
  /** The number of lines that repeat an earlier line. */
  readonly repeated: number;
  /** The number of links in the file that Crossbill already knows. */
  readonly known: number;
  /** The first lines with a customer the database does not know yet: in no link, signup or invoice. */
  readonly strangers: readonly { readonly line: number; readonly customerId: string }[];
  readonly strangersInAll: number;
};

/** The time limit of the comparison. A file of 100 MB has two million lines, and comparing them takes minutes. */
const TIMEOUT_MS = 600_000;

const STRANGERS_KEPT = 200;

const patient = (text: string, values: unknown[] = []): pg.QueryConfig => {
  // By default the pool ends a query after some seconds. The types of `pg` lack the option for a longer limit.
  const query: pg.QueryConfig & { query_timeout: number } = { text, values, query_timeout: TIMEOUT_MS };
  return query;
};

/** Creates the temporary table for the file's lines. The end of the transaction drops the table. */
export async function makeStage(db: pg.PoolClient): Promise<void> {
  await db.query(`set local statement_timeout = ${TIMEOUT_MS}`);
  await db.query(`set local idle_in_transaction_session_timeout = ${TIMEOUT_MS}`);
  await db.query(
    'create temporary table staged_link (line integer not null, customer_id text not null, mor_customer_id text not null, reference text) on commit drop',
  );
}

export async function stage(db: pg.PoolClient, rows: readonly ImportRow[]): Promise<void> {
  await db.query('insert into staged_link select * from unnest($1::int[], $2::text[], $3::text[], $4::text[])', [
    rows.map((r) => r.line),
    rows.map((r) => r.customerId),
    rows.map((r) => r.morCustomerId),
    rows.map((r) => r.reference),
  ]);
}

/** Finds the lines that contradict an earlier line or a known link: a row for each line, with the first reason. */
const PROBLEMS = `
  with numbered as (
    select s.*,
           first_value(line) over same_customer as first_line, first_value(mor_customer_id) over same_customer as first_mor,
           first_value(reference) over same_link as first_reference, first_value(line) over same_link as reference_line,
           first_value(line) over same_mor as mor_line, first_value(customer_id) over same_mor as mor_customer
      from staged_link s
    window same_customer as (partition by customer_id order by line), same_mor as (partition by mor_customer_id order by line),
           same_link as (partition by customer_id, mor_customer_id order by reference is null, line)),
  judged as (
    select n.line, n.customer_id,
           case
             when n.mor_customer_id <> n.first_mor then
               format('line %s links this customer to %s, this one to %s', n.first_line, n.first_mor, n.mor_customer_id)
             when n.customer_id <> n.mor_customer then
               format('line %s links %s to another customer, %s', n.mor_line, n.mor_customer_id, n.mor_customer)
             when n.reference <> n.first_reference then
               format('line %s gives this customer the reference %s, this one %s', n.reference_line, n.first_reference, n.reference)
             when not exists (select from customer_link l where l.customer_id = n.customer_id and l.mor_customer_id = n.mor_customer_id) then
               coalesce(
                 (select format('this customer is linked to %s already', l.mor_customer_id) from customer_link l
                   where l.customer_id = n.customer_id order by seq limit 1),
                 (select format('%s is linked to another customer already, %s', l.mor_customer_id, l.customer_id) from customer_link l
                   where l.mor_customer_id = n.mor_customer_id order by seq limit 1))
           end as problem
      from numbered n)
  select line, customer_id, problem, count(*) over () as in_all from judged where problem is not null order by line limit $1`;

const STRANGERS = `
  select min(line) as line, s.customer_id, count(*) over () as in_all
    from staged_link s
   where not exists (select from invoice i where i.customer_id = s.customer_id)
     and not exists (select from payment p where p.customer_id = s.customer_id)
     and not exists (select from signup p where p.customer_id = s.customer_id)
     and not exists (select from customer_link l where l.customer_id = s.customer_id)
   group by s.customer_id order by 1 limit $1`;

const COUNTS = `
  select count(*) - count(distinct (customer_id, mor_customer_id)) as repeated,
         (select count(*) from (select distinct customer_id, mor_customer_id from staged_link) s
            join customer_link l using (customer_id, mor_customer_id)) as known
    from staged_link`;

export async function checkStaged(db: pg.PoolClient): Promise<ImportCheck> {
  await db.query(patient('analyze staged_link'));
  const problems = await db.query<{ line: number; customer_id: string; problem: string; in_all: string }>(
    patient(PROBLEMS, [IMPORT_PROBLEMS_KEPT]),
  );
  const strangers = await db.query<{ line: number; customer_id: string; in_all: string }>(
    patient(STRANGERS, [STRANGERS_KEPT]),
  );
  const counts = await db.query<{ repeated: string; known: string }>(patient(COUNTS));
  return {
    problems: problems.rows.map((r): LineProblem => ({ line: r.line, customerId: r.customer_id, problem: r.problem })),
    problemsInAll: Number(problems.rows[0]?.in_all ?? 0),
    repeated: Number(counts.rows[0]?.repeated ?? 0),
    known: Number(counts.rows[0]?.known ?? 0),
    strangers: strangers.rows.map((r) => ({ line: r.line, customerId: r.customer_id })),
    strangersInAll: Number(strangers.rows[0]?.in_all ?? 0),
  };
}

/** Writes the staged links. Returns the number of new links. */
export async function writeStaged(db: pg.PoolClient, linkedBy: string, at: Date): Promise<number> {
  const written = await db.query<{ made: string }>(
    patient(
      `with wanted as (
         select customer_id, mor_customer_id, max(reference) as reference, min(line) as line
           from staged_link group by 1, 2),
       written as (
         insert into customer_link (customer_id, mor_customer_id, reference, linked_by, linked_at)
         select customer_id, mor_customer_id, reference, $1, $2 from wanted order by line
             on conflict (customer_id, mor_customer_id)
                do update set reference = coalesce(excluded.reference, customer_link.reference)
         returning (xmax = 0) as made)
       select count(*) filter (where made) as made from written`,
      [linkedBy, at],
    ),
  );
  return Number(written.rows[0]?.made ?? 0);
}
