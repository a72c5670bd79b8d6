// Old, settled renewals in every table, written by the database itself: what a daemon leaves behind that ran for years.
import type pg from 'pg';
import { connectAlone } from '#src/store/connect.js';

/** Of the oldest renewals so many are rare: another type, status and reason than all that came after them. */
const RARE = 500;

/** Of so many the events still have a body: a purge drops it. The others' was dropped long ago. */
const PURGED = 100_000;

/** In each table the rows of renewals `$1` to `$2`. Old: three days to two years; so today's counts are of today's rows. */
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
          amount_remaining, total, subscription_id, collection_method, platform_created_at, facts_at, read_at, first_seen_at)
   select 'in_old' || n, 'cus_old' || n / 12, case when n <= ${RARE} then 'open' else 'paid' end, 'paid', 'subscription_cycle', 'EUR',
          2990, 2990, 0, 2990, 'sub_old' || n / 12, 'charge_automatically', at, at, at, at from k`,
  `insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, processor_charge_id,
          processor_payment_intent_id, reference, succeeded_at, verdict_at, mark, mark_mode, payment_record_id, recorded_at)
   select 'pmt_old' || n, 'pay_old' || n, 'in_old' || n, 'cus_old' || n / 12, 'renewal',
          case when n <= ${RARE} then 'failed' else 'succeeded' end, 2990, 'EUR', 'ch_old' || n, 'pi_old' || n, 'ch_old' || n,
          at, at, case when n <= ${RARE} then 'none' else 'confirmed' end, 'payment_record', 'pr_old' || n, at from k`,
  // Three steps of a renewal: it was expected, the payment came, the payment is marked.
  `insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
   select 'in_old' || n, s.version, at, s.version <> 2, false,
          case s.version
            when 1 then json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'customer_id', 'cus_old' || n / 12, 'status', 'expected',
                'platform_status', 'draft', 'billing_reason', 'subscription_cycle', 'currency', 'EUR', 'amount_due', '2990', 'amount_paid', '0',
                'amount_remaining', '2990', 'total', '2990', 'read_attempts', 0, 'first_seen_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_old' || n, 'text', 'invoice.created')))
            when 2 then json_build_object('f', 1,
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'payment_id', 'pay_old' || n, 'invoice_id', 'in_old' || n,
                'customer_id', 'cus_old' || n / 12, 'origin', 'renewal', 'status', 'succeeded', 'amount', '2990', 'currency', 'EUR',
                'processor_charge_id', 'ch_old' || n, 'processor_payment_intent_id', 'pi_old' || n, 'reference', 'ch_old' || n,
                'succeeded_at', at, 'verdict_at', at, 'mark', 'reporting', 'mark_tries', 0, 'prove_attempts', 0, 'waived', json_build_array(),
                'amount_refunded', '0', 'recorded_at', at)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'lane', 'in_old' || n, 'peer', 'stripe', 'kind', 'report_payment',
                'subject', 'pmt_old' || n, 'generation', 1, 'key', 'crossbill:report_payment:pmt_old' || n, 'method', 'POST',
                'path', '/v1/payment_records/report_payment', 'status', 'pending', 'attempts', 0, 'next_try_at', at, 'replaying', false, 'created_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_pay_old' || n, 'text', 'payment.succeeded of 29.90 EUR')))
            else json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'status', 'paid', 'platform_status', 'paid',
                'amount_paid', '2990', 'amount_remaining', '0', 'facts_at', at, 'read_at', at)),
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'mark', 'confirmed', 'mark_mode', 'payment_record',
                'payment_record_id', 'pr_old' || n)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'status', 'done', 'attempts', 1, 'last_status', 200)),
              'journal', json_build_array(json_build_object('kind', 'call', 'ref', 'msg_old' || n, 'text', 'report_payment: 200'))) end,
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
  `insert into review (id, kind, status, subject, invoice_id, payment_row_id, summary, proposal, created_at, resolved_at, resolved_by)
   select 'rev_old' || n, case when n <= ${RARE} then 'refund_gap' else 'amount_mismatch' end, 'resolved', 'pmt_old' || n, 'in_old' || n,
          'pmt_old' || n, 'The amount differs.', 'Look.', at, at, 'ada' from k where n % 100 = 0`,
  `insert into mor_object (id, kind, mor_id, invoice_id, status, amount, currency, created_at, updated_at)
   select 'obj_old' || n, 'payment_link', 'plink_old' || n, 'in_old' || n, 'PAID', 2990, 'EUR', at, at from k where n % 100 = 0`,
  `insert into signup (id, kind, customer_id, amount, currency, status, intent_id, mor_key, path, created_by, completed_at, created_at)
   select 'sgn_old' || n, 'payment', 'cus_old' || n / 12, 2990, 'EUR', 'succeeded', 'int_old' || n, 'key_old' || n, '/v1', 'shop',
          case when n % 200 = 0 then null else at end, at from k where n % 100 = 0`,
  `insert into review (id, kind, status, subject, summary, proposal, created_at, resolved_at, resolved_by)
   select 'rev_sgn_old' || n, 'signup_overdue', 'resolved', 'sgn_old' || n, 'The signup has no payment.', 'Look.', at, at, 'ada'
     from k where n % 200 = 0`,
  `insert into audit (at, actor, role, action, target, source, outcome, status)
   select at, case when n <= ${RARE} then 'old-key' else 'shop' end, 'operator', case when n <= ${RARE} then 'event.retry' else 'signup.create' end,
          'sgn_old' || n, '127.0.0.1', 'done', 201 from k where n % 10 = 0`,
];

const TABLES = ['inbox_event', 'invoice', 'payment', 'lane_log', 'refund', 'ledger_entry'];

/** Each step within memory; the order of the ids is the order of the times. */
const STEP = 250_000;

/**
 * Fills up to `renewals` old renewals: two ledger entries, two events and three steps of the log each. Indexes and
 * keys of the large tables are dropped for it and made again, as a dump is restored; then the tables are vacuumed and counted.
 * Nothing else may use the database meanwhile.
 */
export async function fillBooks(url: string, renewals: number): Promise<void> {
  const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
  try {
    await db.query(`set maintenance_work_mem = '400MB'; set max_parallel_maintenance_workers = 2`);
    const found = await db.query<{ n: string }>(`select count(*) as n from invoice where invoice_id like 'in_old%'`);
    const have = Number(found.rows[0]?.n ?? 0);
    const drop = renewals - have >= STEP ? await definitions(db) : [];
    for (const d of [...drop].reverse()) await db.query(d.drop);
    for (let from = have + 1; from <= renewals; from += STEP) {
      const to = Math.min(renewals, from + STEP - 1);
      // $3 at once: the same number of days lies between the first and the last, however many there are.
      const k = `with k as materialized (select n, now() - interval '3 days' - interval '700 days' * (1 - n / $3::float8) as at
                                           from generate_series($1::int, $2::int) as n)`;
      for (const sql of ROWS) await db.query(`${k} ${sql}`, [from, to, renewals]);
    }
    for (const d of drop) await db.query(d.make);
    await db.query('vacuum analyze');
  } finally {
    await db.end();
  }
}

type Definition = { readonly drop: string; readonly make: string };

/** Primary and unique keys, then indexes, then foreign keys of the large tables, in the order in which they are made. */
async function definitions(db: pg.Client): Promise<readonly Definition[]> {
  const found = await db.query<Definition>(
    `select 'alter table ' || c.conrelid::regclass || ' drop constraint ' || quote_ident(c.conname) as drop,
            'alter table ' || c.conrelid::regclass || ' add constraint ' || quote_ident(c.conname) || ' ' || pg_get_constraintdef(c.oid) as make,
            case c.contype when 'f' then 2 else 0 end as rank
       from pg_constraint c where c.contype in ('p', 'u', 'f')
        and (c.conrelid = any($1::regclass[]) or c.contype = 'f' and c.confrelid = any($1::regclass[]))
     union all
     select 'drop index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid), 1
       from pg_index i where i.indrelid = any($1::regclass[])
        and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u'))
     order by rank`,
    [TABLES],
  );
  return found.rows;
}
