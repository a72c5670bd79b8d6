-- Why: a list of refunds by status reads its page and no more.
-- Locks: `refund` against writing while it is built (seconds per million rows). Undo: the list walks back through all refunds.

-- up
create index refund_status on refund (status, seq desc);

-- down
drop index refund_status;
