// The rows of old, settled renewals in every table, as SQL statements. As in a real database, the bank declined 3 % at
// first, 3 % have a dispute, 2 % a refund, and 1 % a review item. For 2 % there is also an ignored invoice of a
// customer outside the MoR. The newest declines, disputes and review items are still open.

/** This many of the oldest renewals are rare: their type, status and reason differ from all later ones. */
const RARE = 500;

/** An amount in the fact of a review item. */
const SUM = `json_build_object('minor', amount::text, 'currency', currency)`;

/** The review items of this many newest renewals are still open. */
const OPEN = 3_000;

/**
 * This many of the oldest renewals still have the bodies of their events, so the bench can measure a purge of bodies.
 */
export const PURGED = 100_000;

/** Among this many newest renewals, those with a decline have no successful payment yet. */
const NEWEST = 3_000;

/** Renewals of each customer: one for each month of a year. */
export const OF_CUSTOMER = 12;

/**
 * Selects renewals by their number `n`, each with its customer `c`. `first` is true for the customer's first renewal.
 * `retried` is true if the bank declined at first, one renewal in 33. Most amounts are in euros.
 */
export const RENEWALS = (restDays: number): string => `
  select n, n / ${OF_CUSTOMER} as c, n % ${OF_CUSTOMER} = 0 as first, at, amount, currency, retried, retried and n > $3 - ${NEWEST} as unpaid
    from (select n, (array[2990, 2990, 990, 4990, 2990, 9900, 2990])[n % 7 + 1]::bigint as amount,
                 (array['EUR', 'EUR', 'EUR', 'GBP', 'EUR', 'EUR', 'EUR', 'USD', 'EUR', 'EUR'])[n % 10 + 1] as currency,
                 n % 100 in (1, 34, 67) as retried,
                 -- $3 at once: the same number of days lies between the first and the last, however many there are.
                 now() - interval '${restDays} days' - interval '700 days' * (1 - n / $3::float8) as at
            from generate_series($1::int, $2::int) as n) r`;

const DECLINED = `(array['insufficient_funds', 'do_not_honor', 'expired_card', 'insufficient_funds'])[n % 4 + 1]`;

/** One statement for each table: writes the rows of renewals `$1` to `$2` of `$3`. */
export const ROWS: readonly string[] = [
  `insert into inbox_event (source, event_id, type, lane, body_sha256, status, received_at, decided_at, next_try_at)
   select s.source, s.name || n, case when n <= ${RARE} then s.rare_type else s.type end, 'in_old' || n, sha256(s.name::bytea),
          case when n > ${RARE} then 'done' else s.rare_status end, at, at, at
     from k, (values ('stripe', 'evt_old', 'invoice.created', 'invoice.voided', 'ignored'),
                     ('mor_payments', 'evt_pay_old', 'payment.succeeded', 'payment.failed', 'parked'))
               as s(source, name, type, rare_type, rare_status)`,
  `insert into event_body (event_id, received_at, body)
   select e.id, e.received_at, '\\x7b7d'::bytea from k join inbox_event e on e.lane = 'in_old' || n where n <= ${PURGED}`,
  `insert into invoice (invoice_id, customer_id, status, platform_status, billing_reason, currency, amount_due, amount_paid,
          amount_remaining, total, subscription_id, collection_method, number, platform_created_at, facts_at, read_at, first_seen_at,
          retries, next_try_at)
   select 'in_old' || n, 'cus_old' || c, case when n <= ${RARE} then 'void' when unpaid then 'open' else 'paid' end,
          case when n <= ${RARE} then 'void' when unpaid then 'open' else 'paid' end, 'subscription_cycle', currency,
          amount, case when unpaid then 0 else amount end, case when unpaid then amount else 0 end, amount, 'sub_old' || c,
          'charge_automatically', 'OLD-' || n, at, at, at, at,
          case when retried then jsonb_build_object(
            'refusal', jsonb_build_object('at', at, 'heardAt', at, 'eventId', 'evt_no_old' || n, 'outcome', 'failed', 'kind',
              case when n % 100 = 34 then 'hard' else 'soft' end, 'code', ${DECLINED}),
            'retries', jsonb_build_array(jsonb_build_object('number', 1, 'at', at, 'kind', 'soft', 'by', null, 'ref', 'evt_again_old' || n,
              'means', case when n % 100 = 34 then 'link' else 'charge' end, 'minor', amount::text, 'withdrawn', false)),
            'waitingSince', null, 'askedAt', null,
            'ended', case when n % 100 = 67 then jsonb_build_object('at', at, 'how', 'nothing', 'why', null) end) end,
          case when unpaid and n % 100 = 1 then at + interval '3 days' end
     from k`,
  `insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, processor_charge_id,
          processor_payment_intent_id, reference, succeeded_at, verdict_at, mark, mark_mode, payment_record_id, recorded_at)
   select 'pmt_old' || n, 'pay_old' || n, 'in_old' || n, 'cus_old' || c, 'renewal',
          case when n <= ${RARE} then 'requires_action' else 'succeeded' end, amount, currency, 'ch_old' || n, 'pi_old' || n, 'ch_old' || n,
          at, at, case when n <= ${RARE} then 'none' else 'confirmed' end, 'payment_record', 'pr_old' || n, at from k where not unpaid`,
  // A refused payment before the successful one, or instead of it.
  `insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, processor_payment_intent_id, verdict_at,
          failure_message, decline_code, mark, recorded_at)
   select 'pmt_no_old' || n, 'pay_no_old' || n, 'in_old' || n, 'cus_old' || c, 'renewal', 'failed', amount, currency, 'pi_no_old' || n,
          at - interval '1 hour', 'The bank refused the charge.', ${DECLINED}, 'none', at - interval '1 hour' from k where retried`,
  `insert into invoice (invoice_id, customer_id, status, platform_status, billing_reason, currency, amount_due, amount_paid,
          amount_remaining, total, number, enrolled, platform_created_at, facts_at, read_at, first_seen_at)
   select 'in_left_old' || n, 'cus_left_old' || c, 'ignored', 'paid', 'subscription_cycle', currency, amount, amount, 0, amount,
          'LEFT-' || n, false, at, at, at, at from k where n % 50 = 20`,
  // The three log rows of a renewal: it was expected, its payment arrived, the payment has its mark.
  `insert into lane_log (lane, version, at, at_rest, snapshot, change, bodies)
   select 'in_old' || n, s.version, at, s.version <> 2, false,
          case s.version
            when 1 then json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'customer_id', 'cus_old' || c, 'status', 'expected',
                'platform_status', 'draft', 'billing_reason', 'subscription_cycle', 'currency', currency, 'amount_due', amount::text, 'amount_paid', '0',
                'amount_remaining', amount::text, 'total', amount::text, 'read_attempts', 0, 'first_seen_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_old' || n, 'text', 'invoice.created', 'detail', json_build_object())))
            when 2 then json_build_object('f', 1,
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'payment_id', 'pay_old' || n, 'invoice_id', 'in_old' || n,
                'customer_id', 'cus_old' || c, 'origin', 'renewal', 'status', 'succeeded', 'amount', amount::text, 'currency', currency,
                'processor_charge_id', 'ch_old' || n, 'processor_payment_intent_id', 'pi_old' || n, 'reference', 'ch_old' || n,
                'succeeded_at', at, 'verdict_at', at, 'mark', 'reporting', 'mark_tries', 0, 'prove_attempts', 0, 'waived', json_build_array(),
                'amount_refunded', '0', 'recorded_at', at)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'lane', 'in_old' || n, 'peer', 'stripe', 'kind', 'report_payment',
                'subject', 'pmt_old' || n, 'generation', 1, 'key', 'crossbill:report_payment:pmt_old' || n, 'wire',
                json_build_object('method', 'POST', 'path', '/v1/payment_records/report_payment'), 'status', 'pending', 'attempts', 0, 'next_try_at', at, 'replaying', false, 'created_at', at)),
              'journal', json_build_array(json_build_object('kind', 'event', 'ref', 'evt_pay_old' || n, 'text', 'payment.succeeded', 'detail', json_build_object())))
            else json_build_object('f', 1,
              'invoice', json_build_array(json_build_object('invoice_id', 'in_old' || n, 'status', 'paid', 'platform_status', 'paid',
                'amount_paid', amount::text, 'amount_remaining', '0', 'facts_at', at, 'read_at', at)),
              'payments', json_build_array(json_build_object('id', 'pmt_old' || n, 'mark', 'confirmed', 'mark_mode', 'payment_record',
                'payment_record_id', 'pr_old' || n)),
              'calls', json_build_array(json_build_object('id', 'msg_old' || n, 'status', 'done', 'attempts', 1, 'last_status', 200)),
              'journal', json_build_array(json_build_object('kind', 'call', 'ref', 'msg_old' || n, 'text', 'report_payment: 200', 'detail', json_build_object()))) end,
          case when s.version = 2 then json_build_object('msg_old' || n, repeat('x', 200)) end
     from k, (values (1), (2), (3)) as s(version)`,
  `insert into refund (id, payment_row_id, invoice_id, mor_refund_id, amount, currency, status, origin, counted, mirror, created_at,
          succeeded_at)
   select 'ref_old' || n, 'pmt_old' || n, 'in_old' || n, 'rfnd_old' || n, 100, currency,
          case when n <= ${RARE} then 'failed' else 'succeeded' end, 'api', true, 'done', at, at from k where n % 50 = 0`,
  `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
   select 'mor_receivable', 'unmarked_payments', amount, currency,
          case when n <= ${RARE} and s.reason = 'payment_marked' then 'dispute_lost' else s.reason end,
          'pmt_old' || n, 'in_old' || n, 'pmt_old' || n, at, at
     from k, (values ('payment_collected'), ('payment_marked')) as s(reason)`,
  `insert into review (id, kind, status, topic, subject, invoice_id, payment_row_id, fact, actions, created_at, due_at, resolved_at, resolved_by)
   select 'rev_old' || n, case when n <= ${RARE} then 'refund_gap' else 'amount_mismatch' end, case when n > $3 - ${OPEN} then 'open' else 'resolved' end,
          case when n <= ${RARE} then 'totals-overlap' else 'amount-differs' end, 'pmt_old' || n, 'in_old' || n, 'pmt_old' || n,
          case when n <= ${RARE} then json_build_object('code', 'totals-overlap', 'payment', 'pay_old' || n, 'at', ${SUM})
               else json_build_object('code', 'amount-differs', 'taken', ${SUM}, 'due', ${SUM}, 'marking', 'payment_record') end, array['dismiss'], at, at + interval '30 days',
          case when n <= $3 - ${OPEN} then at end, case when n <= $3 - ${OPEN} then 'ada' end from k where n % 100 = 0`,
  `insert into mor_object (id, kind, mor_id, invoice_id, status, amount, currency, created_at, updated_at)
   select 'obj_old' || n, 'payment_link', 'plink_old' || n, 'in_old' || n, 'PAID', amount, currency, at, at from k where n % 100 = 0`,
  `insert into mor_object (id, kind, mor_id, invoice_id, status, amount, currency, number, created_at, updated_at)
   select 'obj_pro_old' || n, 'proforma', 'pro_old' || n, 'in_old' || n, 'PAID', amount, currency, 'PF-' || n, at, at from k where n % 100 = 50`,
  `insert into mor_object (id, kind, mor_id, invoice_id, payment_row_id, status, amount, currency, url, deadline, detail, created_at, updated_at)
   select 'obj_dsp_old' || n, 'dispute', 'dsp_old' || n, 'in_old' || n, 'pmt_old' || n,
          case when n > $3 - ${OPEN} then 'action_needed' else (array['won', 'lost', 'decided'])[n % 3 + 1] end, amount, currency,
          'https://mor.example.com/disputes/' || n, at + interval '14 days', '{}', at, at from k where n % 100 in (0, 33, 66)`,
  `insert into mor_object (id, kind, mor_id, invoice_id, payment_row_id, status, amount, currency, detail, created_at, updated_at)
   select 'obj_alert_old' || n, 'alert', 'alert_old' || n, 'in_old' || n, 'pmt_old' || n, 'handled', amount, currency,
          '{"refunded": true}', at, at from k where n % 400 = 250`,
  `insert into customer_link (customer_id, mor_customer_id, linked_at)
   select 'cus_old' || c, 'mcus_old' || c, at from k where first`,
  `insert into notification (id, type, subject, invoice_id, format, body, status, attempts, created_at, delivered_at)
   select 'msg_told_old' || n, case when n <= ${RARE} then 'payment.failed' else 'invoice.marked_paid' end, 'in_old' || n, 'in_old' || n,
          'standard', '{}', case when n <= ${RARE} then 'dead' else 'delivered' end, 1, at, at from k where n % 10 = 0`,
  `insert into signup (id, kind, customer_id, amount, currency, status, intent_id, mor_key, path, created_by, completed_at, created_at)
   select 'sgn_old' || n, 'payment', 'cus_old' || c, amount, currency, 'succeeded', 'int_old' || n, 'key_old' || n, '/v1', 'shop',
          case when n % 200 = 0 then null else at end, at from k where n % 100 = 0`,
  `insert into review (id, kind, status, topic, subject, fact, actions, created_at, resolved_at, resolved_by)
   select 'rev_sgn_old' || n, 'signup_overdue', 'resolved', 'signup-unpaid', 'sgn_old' || n,
          json_build_object('code', 'signup-unpaid', 'signup', 'sgn_old' || n, 'customer', 'cus_old' || c, 'since', at), array['dismiss'], at, at, 'ada'
     from k where n % 200 = 0`,
  `insert into audit (at, actor, role, action, target, source, outcome, status)
   select at, case when n <= ${RARE} then 'old-key' else 'shop' end, 'operator', case when n <= ${RARE} then 'event.retry' else 'signup.create' end,
          'sgn_old' || n, '127.0.0.1', 'done', 201 from k where n % 10 = 0`,
];

/** The fill runs these statements one time, before `ROWS`: their rows do not depend on the number of renewals. */
export const ONCE: readonly string[] = [
  `insert into verify_run (id, since, began_at, started_at, finished_at, outcome)
   select 'vrf_old' || n, at, at, at, at, 'clean' from generate_series(730, 1, -1) as n, lateral (select now() - interval '1 day' * n as at) run`,
  `insert into verify_run (id, since, began_at, started_at, finished_at, outcome, differences)
   select 'vrf_old0', now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour', 'differences', json_agg(json_build_object(
            'id', 'dif_old' || n, 'kind', 'amount_differs', 'invoiceId', 'in_old' || n, 'paymentId', 'pay_old' || n, 'refundId', null, 'eventId', null, 'objectId', null,
            'detail', 'Stripe shows 29.80 EUR, the MoR took 29.90 EUR.', 'repair', 'person', 'reviewId', null))
     from generate_series(1, 40) as n`,
  `insert into open_call (id, lane, kind, subject, status, attempts, last_status, last_message, next_try_at, created_at)
   select 'msg_open_old' || n, 'in_old' || n, 'report_payment', 'pmt_old' || n, 'pending', 5, 503, 'Service unavailable',
          now() + interval '1 hour', now() - interval '1 hour' from generate_series(1, 25) as n`,
  `insert into console_session (id, name, source, began_at, ends_at)
   select 'ses_old' || n, 'ada', '192.0.2.1', now() - interval '1 hour' * n, now() + interval '90 days' from generate_series(1, 20) as n`,
  `insert into endpoint_answers (endpoint, hour, status, n)
   select endpoint, date_trunc('hour', now()) - interval '1 hour' * h, status, 1000
     from unnest(array['stripe', 'mor_payments', 'mor_events']) as endpoint, generate_series(0, 71) as h, unnest(array[200, 401, 503]) as status`,
  `insert into endpoint_refusal (endpoint, at, status, why, address)
   select endpoint, now() - interval '1 minute' * n, 401, 'signature_mismatch', '192.0.2.1'
     from unnest(array['stripe', 'mor_payments', 'mor_events']) as endpoint, generate_series(100, 1, -1) as n`,
];
