// Old, settled renewals in every table, written by the database itself: what a daemon leaves behind that ran for years.
import type pg from 'pg';
import { connectAlone } from '#src/store/connect.js';

/** Of the oldest renewals so many are rare: another type, status and reason than all that came after them. */
const RARE = 500;

/** Of the review items of the newest so many nobody has settled any. */
const OPEN = 3_000;

/** Of so many the events still have a body: a purge drops it. The others' was dropped long ago. */
const PURGED = 100_000;

/** In each table the rows of renewals `$1` to `$2` of `$3`: `n` of customer `c`, whose `first` it may be, at the time `at`. */
const ROWS: readonly string[] = [
  `insert into inbox_event (source, event_id, type, lane, body_sha256, status, received_at, decided_at, next_try_at)
   select s.source, s.name || n, case when n <= ${RARE} then s.rare_type else s.type end, 'in_old' || n, sha256(s.name::bytea),
          case when n > ${RARE} then 'done' else s.rare_status end, at, at, at
     from k, (values ('stripe', 'evt_old', 'invoice.created', 'invoice.voided', 'ignored'),
                     ('mor_payments', 'evt_pay_old', 'payment.succeeded', 'payment.failed', 'parked'))
               as s(source, name, type, rare_type, rare_status)`,
  `insert into event_body (event_id, received_at, body)
   select e.id, e.received_at, '\\x7b7d'::bytea from k join inbox_event e on e.lane = 'in_old' || n where n <= ${PURGED}`,
  `insert into invoice (invoice_id, customer_id, status, platform_status, billing_reason, currency, amount_due, amount_paid,
          amount_remaining, total, subscription_id, collection_method, number, platform_created_at, facts_at, read_at, first_seen_at)
   select 'in_old' || n, 'cus_old' || c, case when n <= ${RARE} then 'open' else 'paid' end, 'paid', 'subscription_cycle', 'EUR',
          2990, 2990, 0, 2990, 'sub_old' || c, 'charge_automatically', 'OLD-' || n, at, at, at, at from k`,
  `insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, processor_charge_id,
          processor_payment_intent_id, reference, succeeded_at, verdict_at, mark, mark_mode, payment_record_id, recorded_at)
   select 'pmt_old' || n, 'pay_old' || n, 'in_old' || n, 'cus_old' || c, 'renewal',
          case when n <= ${RARE} then 'failed' else 'succeeded' end, 2990, 'EUR', 'ch_old' || n, 'pi_old' || n, 'ch_old' || n,
          at, at, case when n <= ${RARE} then 'none' else 'confirmed' end, 'payment_record', 'pr_old' || n, at from k`,
  // Three steps of a renewal: it was expected, the payment came, the payment is marked.
  `insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
   select 'in_old' || n, s.version, at, s.version <> 2, false,
          case s.version
            when 1 then json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'customer_id', 'cus_old' || c, 'status', 'expected',
                'platform_status', 'draft', 'billing_reason', 'subscription_cycle', 'currency', 'EUR', 'amount_due', '2990', 'amount_paid', '0',
                'amount_remaining', '2990', 'total', '2990', 'read_attempts', 0, 'first_seen_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_old' || n, 'text', 'invoice.created', 'detail', json_build_object())))
            when 2 then json_build_object('f', 1,
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'payment_id', 'pay_old' || n, 'invoice_id', 'in_old' || n,
                'customer_id', 'cus_old' || c, 'origin', 'renewal', 'status', 'succeeded', 'amount', '2990', 'currency', 'EUR',
                'processor_charge_id', 'ch_old' || n, 'processor_payment_intent_id', 'pi_old' || n, 'reference', 'ch_old' || n,
                'succeeded_at', at, 'verdict_at', at, 'mark', 'reporting', 'mark_tries', 0, 'prove_attempts', 0, 'waived', json_build_array(),
                'amount_refunded', '0', 'recorded_at', at)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'lane', 'in_old' || n, 'peer', 'stripe', 'kind', 'report_payment',
                'subject', 'pmt_old' || n, 'generation', 1, 'key', 'crossbill:report_payment:pmt_old' || n, 'method', 'POST',
                'path', '/v1/payment_records/report_payment', 'status', 'pending', 'attempts', 0, 'next_try_at', at, 'replaying', false, 'created_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_pay_old' || n, 'text', 'payment.succeeded of 29.90 EUR', 'detail', json_build_object())))
            else json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'status', 'paid', 'platform_status', 'paid',
                'amount_paid', '2990', 'amount_remaining', '0', 'facts_at', at, 'read_at', at)),
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'mark', 'confirmed', 'mark_mode', 'payment_record',
                'payment_record_id', 'pr_old' || n)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'status', 'done', 'attempts', 1, 'last_status', 200)),
              'journal', json_build_array(json_build_object('kind', 'call', 'ref', 'msg_old' || n, 'text', 'report_payment: 200', 'detail', json_build_object()))) end,
          case when s.version = 2 then json_build_object('msg_old' || n, repeat('x', 200)) end
     from k, (values (1), (2), (3)) as s(version)`,
  `insert into refund (id, payment_row_id, invoice_id, mor_refund_id, amount, currency, status, origin, counted, mirror, created_at,
          succeeded_at)
   select 'ref_old' || n, 'pmt_old' || n, 'in_old' || n, 'rfnd_old' || n, 100, 'EUR',
          case when n <= ${RARE} then 'failed' else 'succeeded' end, 'api', true, 'done', at, at from k where n % 50 = 0`,
  `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
   select 'mor_receivable', 'unmarked_payments', 2990, 'EUR',
          case when n <= ${RARE} and s.reason = 'payment_marked' then 'dispute_lost' else s.reason end,
          'pmt_old' || n, 'in_old' || n, 'pmt_old' || n, at, at
     from k, (values ('payment_collected'), ('payment_marked')) as s(reason)`,
  `insert into review (id, kind, status, subject, invoice_id, payment_row_id, summary, proposal, created_at, due_at, resolved_at, resolved_by)
   select 'rev_old' || n, case when n <= ${RARE} then 'refund_gap' else 'amount_mismatch' end, case when n > $3 - ${OPEN} then 'open' else 'resolved' end,
          'pmt_old' || n, 'in_old' || n, 'pmt_old' || n, 'The amount differs.', 'Look.', at, at + interval '30 days',
          case when n <= $3 - ${OPEN} then at end, case when n <= $3 - ${OPEN} then 'ada' end from k where n % 100 = 0`,
  `insert into mor_object (id, kind, mor_id, invoice_id, status, amount, currency, created_at, updated_at)
   select 'obj_old' || n, 'payment_link', 'plink_old' || n, 'in_old' || n, 'PAID', 2990, 'EUR', at, at from k where n % 100 = 0`,
  `insert into mor_object (id, kind, mor_id, invoice_id, status, amount, currency, number, created_at, updated_at)
   select 'obj_pro_old' || n, 'proforma', 'pro_old' || n, 'in_old' || n, 'PAID', 2990, 'EUR', 'PF-' || n, at, at from k where n % 100 = 50`,
  `insert into customer_link (customer_id, mor_customer_id, linked_at)
   select 'cus_old' || c, 'mcus_old' || c, at from k where first`,
  `insert into notification (id, type, subject, invoice_id, format, body, status, attempts, created_at, delivered_at)
   select 'msg_told_old' || n, case when n <= ${RARE} then 'payment.failed' else 'invoice.marked_paid' end, 'in_old' || n, 'in_old' || n,
          'standard', '{}', case when n <= ${RARE} then 'dead' else 'delivered' end, 1, at, at from k where n % 10 = 0`,
  `insert into statement_line (statement_id, line, key, subject)
   select 'stm_old' || n % 24, n, 'ch_old' || n, 'payment:pmt_old' || n from k where n % 10 = 0`,
  `insert into statement_finding (statement_id, line, kind, charge, payment, invoice_id, amount, currency, detail)
   select 'stm_old' || n % 24, n, 'amount_differs', 'ch_old' || n, 'pay_old' || n, 'in_old' || n, 2980, 'EUR', 'The amount differs.'
     from k where n % 100 = 0`,
  `insert into signup (id, kind, customer_id, amount, currency, status, intent_id, mor_key, path, created_by, completed_at, created_at)
   select 'sgn_old' || n, 'payment', 'cus_old' || c, 2990, 'EUR', 'succeeded', 'int_old' || n, 'key_old' || n, '/v1', 'shop',
          case when n % 200 = 0 then null else at end, at from k where n % 100 = 0`,
  `insert into review (id, kind, status, subject, summary, proposal, created_at, resolved_at, resolved_by)
   select 'rev_sgn_old' || n, 'signup_overdue', 'resolved', 'sgn_old' || n, 'The signup has no payment.', 'Look.', at, at, 'ada'
     from k where n % 200 = 0`,
  `insert into audit (at, actor, role, action, target, source, outcome, status)
   select at, case when n <= ${RARE} then 'old-key' else 'shop' end, 'operator', case when n <= ${RARE} then 'event.retry' else 'signup.create' end,
          'sgn_old' || n, '127.0.0.1', 'done', 201 from k where n % 10 = 0`,
];

/** Before the first of them: what is as many however many renewals there are. */
const ONCE: readonly string[] = [
  `insert into statement (id, file_name, sha256, mapping, mapping_sha256, file_bytes, status, counts, by, created_at, finished_at)
   select 'stm_old' || n, 'old' || n || '.csv', sha256(n::text::bytea), '{}', sha256('old'), 1, 'done', '{"lines": 1}', 'ada',
          now() - interval '30 days' * n, now() - interval '30 days' * n from generate_series(0, 23) as n`,
  `insert into verify_run (id, started_at, finished_at, outcome)
   select 'vrf_old' || n, now() - interval '1 day' * n, now() - interval '1 day' * n, 'clean' from generate_series(730, 1, -1) as n`,
  `insert into door_answers (door, hour, status, n)
   select door, date_trunc('hour', now()) - interval '1 hour' * h, status, 1000
     from unnest(array['stripe', 'mor_payments', 'mor_events']) as door, generate_series(0, 71) as h, unnest(array[200, 401, 503]) as status`,
  `insert into door_refusal (door, at, status, why, address)
   select door, now() - interval '1 minute' * n, 401, 'mismatch', '192.0.2.1'
     from unnest(array['stripe', 'mor_payments', 'mor_events']) as door, generate_series(100, 1, -1) as n`,
];

/** As the daemon keeps them: the sums of days are close behind the entries. */
const FOLD: readonly string[] = [
  'delete from ledger_day',
  `insert into ledger_day (day, currency, reason, debit_account, credit_account, entries, amount)
   select (moved_at at time zone 'UTC')::date, currency, reason, debit_account, credit_account, count(*), sum(amount)
     from ledger_entry group by 1, 2, 3, 4, 5`,
  'update ledger_fold set up_to = n, noted = n from (select coalesce(max(id), 0) as n from ledger_entry) newest',
];

const TABLES = [
  'inbox_event',
  'invoice',
  'payment',
  'lane_log',
  'refund',
  'ledger_entry',
  'notification',
  'statement_line',
];

/** While no key binds them, so many connections write, each its own tables. */
const HANDS = [/^(inbox_event|event_body)$/, /^(invoice|payment)$/, /^(?!(inbox_event|event_body|invoice|payment)$)/];
const tableOf = (sql: string): string => /into (\w+)/.exec(sql)?.[1] ?? '';

export type Filling = {
  /** The newest renewal is so many days old and the oldest 700 more. Left out: three, so that today's counts are of today's own rows. */
  readonly restDays?: number;
  /** Of one renewal in so many the log is written: half of the time and of the disk. Left out: of each. */
  readonly logOfEach?: number;
  /** Renewals of each customer. Left out: twelve, a year of months. */
  readonly ofCustomer?: number;
  readonly said?: (done: string) => void;
};

/** Each step within memory; the order of the ids is the order of the times. */
const STEP = 250_000;

/**
 * Fills up to `renewals` old renewals: two ledger entries, two events and three steps of the log each. Indexes and
 * keys of the large tables are dropped for it and made again, as a dump is restored; then the tables are vacuumed and counted.
 * Nothing else may use the database meanwhile. What is there already is not written again.
 */
export async function fillBooks(
  url: string,
  renewals: number,
  { restDays = 3, logOfEach = 1, ofCustomer = 12, said = () => undefined }: Filling = {},
): Promise<void> {
  const connect = async (): Promise<pg.Client> => {
    const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
    await db.query(`set maintenance_work_mem = '400MB'; set max_parallel_maintenance_workers = 2`);
    return db;
  };
  const db = await connect();
  const hands = [db];
  try {
    const found = await db.query<{ n: string }>(`select count(*) as n from invoice where invoice_id like 'in_old%'`);
    const have = Number(found.rows[0]?.n ?? 0);
    if (have > 0 && have >= renewals) return;
    if (have === 0) for (const sql of ONCE) await db.query(sql);
    const drop = renewals - have >= STEP ? await definitions(db) : [];
    for (const d of [...drop].reverse()) await db.query(d.drop);
    while (drop.length > 0 && hands.length < HANDS.length) hands.push(await connect());
    const work = async (hand: pg.Client, tables: RegExp): Promise<void> => {
      const rows = ROWS.filter((sql) => tables.test(tableOf(sql)));
      for (let from = have + 1; from <= renewals; from += STEP) {
        const to = Math.min(renewals, from + STEP - 1);
        // $3 at once: the same number of days lies between the first and the last, however many there are.
        const k = `with k as materialized (select n, n / ${ofCustomer} as c, n % ${ofCustomer} = 0 as first, now() - interval '${restDays} days' - interval '700 days' * (1 - n / $3::float8) as at
                                             from generate_series($1::int, $2::int) as n)`;
        for (const sql of rows) {
          const some = tableOf(sql) === 'lane_log' ? ` where n % ${logOfEach} = 0` : '';
          await hand.query(`${k} ${sql}${some}`, [from, to, renewals]);
        }
        said(`${to} of ${renewals} renewals in ${[...new Set(rows.map(tableOf))].join(', ')}`);
      }
      for (const d of drop.filter((x) => x.rank < FOREIGN && tables.test(x.of))) {
        await hand.query(d.make);
        said(d.make);
      }
    };
    await Promise.all(hands.map((hand, i) => work(hand, hands.length === 1 ? /./ : (HANDS[i] ?? /^$/))));
    for (const d of drop.filter((x) => x.rank === FOREIGN)) await db.query(d.make);
    for (const sql of FOLD) await db.query(sql);
    await db.query('vacuum analyze');
  } finally {
    await Promise.all(hands.map((hand) => hand.end()));
  }
}

/** The rank of foreign keys: they are made last, since they lock two tables each and need the keys of both. */
const FOREIGN = 2;
type Definition = { readonly of: string; readonly rank: number; readonly drop: string; readonly make: string };

/** Primary and unique keys, then indexes, then foreign keys of the large tables, in the order in which they are made. */
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
