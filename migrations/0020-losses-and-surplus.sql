-- Why: a lost dispute writes down how much of its payment it took, so that a refund or a win that is heard of later can take it back;
-- and an invoice keeps what Stripe shows as paid beyond what was due.
-- Locks: `invoice` for a moment (a column without a default); the rows of lost disputes, which are few. Undo: a loss that was booked is
-- not taken back any more, and an overpaid invoice is not told of.

-- up
alter table invoice add column amount_overpaid bigint; -- null: Stripe has not been asked since
update mor_object o
   set detail = o.detail || jsonb_build_object('loss', jsonb_build_object('of', e.payment_row_id, 'minor', e.amount::text, 'entries', 1))
  from ledger_entry e
 where e.reason = 'dispute_lost' and e.subject = o.id and o.kind = 'dispute' and not o.detail ? 'loss';

-- down
update mor_object set detail = detail - 'loss' where detail ? 'loss';
alter table invoice drop column amount_overpaid;
