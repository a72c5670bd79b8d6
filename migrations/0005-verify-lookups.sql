-- Why: verify finds what is not at rest by small indexes of its own; without them it would read every invoice there ever was.
-- Locks: `payment`, `refund` and `invoice` against writes while the indexes are built (seconds per million rows). Undo: verify is slow.

-- up
create index payment_unmarked on payment (invoice_id) where succeeded_at is not null and mark not in ('confirmed', 'closed');
create index payment_unconfirmed_signup on payment (seq)
  where origin = 'signup' and payment_id is null and mark = 'confirmed' and processor_charge_id is not null;
create index refund_unmirrored on refund (invoice_id) where mirror not in ('done', 'not_needed');
create index refund_created on refund (created_at);
create index invoice_expected_by on invoice (expected_by) where status = 'expected';

-- down
drop index invoice_expected_by;
drop index refund_created;
drop index refund_unmirrored;
drop index payment_unconfirmed_signup;
drop index payment_unmarked;
