-- Why: the console counts today's money and events by time. Block-range indexes cost next to nothing on tables that grow at their
-- end. Locks: `inbox_event` and `ledger_entry` against writing while they are built (seconds per ten million rows). Undo: loses nothing.

-- up
create index inbox_event_received_at on inbox_event using brin (received_at) with (pages_per_range = 32, autosummarize = on);
create index ledger_entry_recorded_at on ledger_entry using brin (recorded_at) with (pages_per_range = 32, autosummarize = on);

-- down
drop index ledger_entry_recorded_at;
drop index inbox_event_received_at;
