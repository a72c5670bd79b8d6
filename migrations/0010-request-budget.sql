-- Why: a 429 that one replica is answered slows all of them, and comes back slowly: what is left of the pace is kept beside it.
-- Locks: request_budget for a moment (a few rows). Undo: the pace is whole again at once.
-- A replica of the release before keeps to its own row as ever.

-- up
alter table request_budget
  -- The part of its pace that a row had at slowed_at; it grows back with time (store/pg-request-budget.ts). 1: never slowed.
  add column share     double precision not null default 1 check (share > 0 and share <= 1),
  add column slowed_at timestamptz;

-- down
alter table request_budget drop column slowed_at, drop column share;
