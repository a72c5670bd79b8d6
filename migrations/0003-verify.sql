-- Why: what a verify run compared and found is kept, so that the console can show it and a run can be resumed.
-- Locks: new table only. Undo: loses the list of runs; nothing else.

-- up
create table verify_run (
  id          text primary key,
  started_at  timestamptz not null,
  finished_at timestamptz,
  outcome     text not null check (outcome in ('running', 'clean', 'differences', 'incomplete')),
  compared    jsonb not null default '{}',
  differences jsonb not null default '[]',
  seq         bigint generated always as identity unique
);

-- down
drop table verify_run;
