-- Why: the amount of a draft may still grow. `drafted_due` tells a payment of the draft's amount from another wrong amount; `relay_due_at`
-- is the time of the next look at a draft whose first charge waits for its final amount (MOR_RELAY_EVENTS=finalized).
-- Locks: `invoice` for the moment of the change; two columns without a default rewrite no row. Undo: loses both values; drafts that wait
-- for their final amount then get no first charge, so retry them once they are overdue.

-- up
alter table invoice
  add column drafted_due bigint,
  add column relay_due_at timestamptz;

-- down
alter table invoice drop column relay_due_at, drop column drafted_due;
