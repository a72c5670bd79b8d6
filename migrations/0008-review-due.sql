-- Why: review items are worked by their deadline; disputes and alerts have one. Locks: `review` while the index is built (it is
-- small: open items). Undo: loses the deadlines, which also stand in the items' summaries.

-- up
alter table review add column due_at timestamptz;
create index review_due on review (due_at, seq desc) where status = 'open';

-- down
drop index review_due;
alter table review drop column due_at;
