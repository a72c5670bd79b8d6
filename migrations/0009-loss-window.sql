-- Why: when the doors were open, one row per stretch of one process, so that verify can say which events of the MoR may have been
-- given up for good while all were closed; and what a verify run said of it.
-- Locks: `verify_run` for a moment (a column with a constant default). Undo: loses the knowledge of past outages; nothing else.

-- up
create table doors_open (
  id        text primary key,
  opened_at timestamptz not null,
  seen_at   timestamptz not null check (seen_at >= opened_at) -- written about once a minute; a few rows a day in all
);
create index doors_open_seen on doors_open (seen_at);

alter table verify_run add column loss_windows jsonb not null default '[]';

-- down
alter table verify_run drop column loss_windows;
drop table doors_open;
