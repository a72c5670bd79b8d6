-- Why: a list of the ledger by a reason that is rare reads its page and no more. The two entries that every payment makes have no
-- entry here: one of them is always near.
-- Locks: `ledger_entry` against writing while it is built (seconds per ten million rows). Undo: these lists walk back through all entries.

-- up
create index ledger_entry_reason on ledger_entry (reason, id desc) where reason not in ('payment_collected', 'payment_marked');

-- down
drop index ledger_entry_reason;
