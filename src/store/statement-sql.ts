// The questions that a statement asks of the ledger and of the rows that its lines may name.

/** $1: ids as the statement has them. Each part of the `or` has an index. */
export const OUR_PAYMENTS = `
  select p.id, p.payment_id, p.processor_charge_id, p.processor_payment_intent_id, p.reference, p.invoice_id, p.amount, p.currency, p.status,
    p.succeeded_at is not null as taken, p.amount_refunded as refunded, b.lost, b.returned
    from payment p cross join lateral (
      select coalesce(sum(case l.reason when 'dispute_lost' then l.amount when 'dispute_reversed' then -l.amount end), 0)::bigint as lost,
        coalesce(sum(case l.reason when 'debit_returned' then l.amount when 'debit_return_reversed' then -l.amount end), 0)::bigint as returned
        from ledger_entry l where l.invoice_id = p.invoice_id and l.payment_row_id = p.id
         and l.reason in ('dispute_lost', 'dispute_reversed', 'debit_returned', 'debit_return_reversed')) b
   where p.id = any($1) or p.payment_id = any($1) or p.processor_charge_id = any($1) or p.processor_payment_intent_id = any($1)
      or (p.origin in ('proforma', 'payment_link') and p.reference = any($1))
   order by p.seq`;

/** $1: ids as the statement has them; $2: our ids of payments, whose refunds a line without a refund id may be about. */
export const OUR_REFUNDS = `
  select id, payment_row_id, mor_refund_id, processor_refund_id, invoice_id, amount, currency, status, counted from refund
   where id = any($1) or mor_refund_id = any($1) or processor_refund_id = any($1) or payment_row_id = any($2) order by seq`;

/**
 * Collected and refunded money by when the MoR moved it. It is recorded a moment later, or much later when an event was late, but never
 * much earlier: a day of room covers any difference between two clocks.
 */
const MOVED = (since: string, until: string): string => `
  select l.id, 'payment:' || p.id as subject, l.amount, l.currency, p.processor_charge_id as charge, coalesce(p.payment_id, p.id) as payment,
    null as refund, l.invoice_id, p.succeeded_at as at
    from ledger_entry l join payment p on p.id = l.payment_row_id
   where l.reason = 'payment_collected' and l.recorded_at >= ${since}::timestamptz - interval '1 day'
     and p.succeeded_at >= ${since} and p.succeeded_at < ${until}
  union all
  select l.id, 'refund:' || r.id, l.amount, l.currency, p.processor_charge_id, coalesce(p.payment_id, p.id),
    coalesce(r.mor_refund_id, r.id), l.invoice_id, r.succeeded_at
    from ledger_entry l join refund r on r.id = l.refund_id join payment p on p.id = l.payment_row_id
   where l.reason = 'refund_paid' and l.recorded_at >= ${since}::timestamptz - interval '1 day'
     and r.succeeded_at >= ${since} and r.succeeded_at < ${until}`;

/** $1: the statement, $2 and $3: its window, $4: its currencies. What stands in another statement is not missing. */
export const ONLY_LEDGER = `
  insert into statement_finding (statement_id, kind, charge, payment, refund, invoice_id, ledger_amount, ledger_currency, detail)
  select $1, 'only_ledger', m.charge, m.payment, m.refund, m.invoice_id, m.amount, m.currency,
    'the statement has no line of it; the MoR moved the money at ' || to_char(m.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    from (${MOVED('$2', '$3')}) m
   where m.currency = any($4) and not exists (select 1 from statement_line s where s.subject = m.subject)
   order by m.id`;

/** $1 and $2: the window, $3: the statement's currencies. */
export const OTHER_CURRENCIES = `select count(*) as n from (${MOVED('$1', '$2')}) m where not m.currency = any($3)`;
