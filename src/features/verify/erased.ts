// The SQL of an erasure, for the differences and the notes on them.

/** Removes the notes on differences about the invoices `$1`. */
export const FORGET_NOTES = 'update difference_ack set note = null where invoice_id = any($1) and note is not null';

/**
 * Removes the notes on differences about no invoice, such as a credit on a customer's balance, if their
 * sentence names one of the ids `$1`.
 */
export const FORGET_LOOSE_NOTES = `
  update difference_ack set note = null where note is not null and invoice_id is null and id in (
    select d ->> 'id' from verify_run cross join jsonb_array_elements(differences) d
     where d ->> 'invoiceId' is null and string_to_array(regexp_replace(d ->> 'detail', '[^A-Za-z0-9_-]+', ' ', 'g'), ' ') && $1)`;

/**
 * Removes the words from the differences of runs before this release, for the invoices `$1`. They had the
 * words of a refusal behind a colon, and a person's note.
 */
export const FORGET_DETAILS = `
  update verify_run set differences = (
    select jsonb_agg(case when d ->> 'invoiceId' = any($1)
             then jsonb_set(d - 'acknowledged', '{detail}', to_jsonb(regexp_replace(d ->> 'detail', ': .*$', '')))
             else d end order by n)
      from jsonb_array_elements(differences) with ordinality as x(d, n))
   where exists (select from jsonb_array_elements(differences) d
      where d ->> 'invoiceId' = any($1) and (d ->> 'detail' ~ ': ' or d ->> 'acknowledged' is not null))`;
