-- Why: a list of events by status or by sender reads its page and no more, however far back the newest match is. What is decided
-- without trouble, and what Stripe sends, stands at the end of the table anyway and has no entry in either index.
-- Locks: `inbox_event` against writing while they are built (a minute per ten million rows; the doors answer 503 and the senders
-- come again). Undo: these lists walk back through all events.

-- up
create index inbox_event_aside on inbox_event (status, id desc) where status in ('ignored', 'parked');
create index inbox_event_mor on inbox_event (source, id desc) where source in ('mor_events', 'mor_payments');
-- The first one finds and counts them as well.
drop index inbox_event_parked;

-- down
create index inbox_event_parked on inbox_event (id desc) where status = 'parked';
drop index inbox_event_mor;
drop index inbox_event_aside;
