-- Why: a signup's bank debit is known to the MoR for days before it is settled: since when it waits, and that it is `processing`, are
-- kept; so is whether a customer pays by debit, once that was looked up, and who named a payment by hand.
-- Locks: `payment` and `invoice` for a moment each (columns without a default). The new check is made true of old rows without being
-- read through: every old status is in it. An older release works on it: it leaves the new columns alone and reads `processing` as any word.
-- Undo: payments that are being proven are called `succeeded` again, as older releases do.

-- up
alter table payment add column pending_since timestamptz, add column identified_by text;
alter table payment drop constraint payment_status_check;
alter table payment add constraint payment_status_check
  check (status in ('processing','succeeded','failed','requires_action','partially_refunded','refunded')) not valid;
alter table invoice add column pays_by_debit boolean;
-- Both ids of a payment are one scope of Idempotency-Keys, by the MoR's id: what was asked for by ours is found there.
update api_request a set path = '/v1/payments/' || p.payment_id || '/refunds' from payment p
 where a.path = '/v1/payments/' || p.id || '/refunds' and p.payment_id is not null
   and not exists (select from api_request b where b.api_key = a.api_key and b.method = a.method
                      and b.path = '/v1/payments/' || p.payment_id || '/refunds' and b.idempotency_key = a.idempotency_key);

-- down
update payment set status = 'succeeded' where status = 'processing';
alter table payment drop constraint payment_status_check;
alter table payment add constraint payment_status_check
  check (status in ('succeeded','failed','requires_action','partially_refunded','refunded'));
alter table payment drop column pending_since, drop column identified_by;
alter table invoice drop column pays_by_debit;
