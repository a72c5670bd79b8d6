-- Why: a verify run writes down how far it is, so that one that was cut off is gone on with instead of made anew; and how many
-- differences of a kind it found beyond those that it keeps.
-- Locks: `verify_run` for a moment (columns without a default, or with a constant one). Undo: a run that was cut off begins anew.

-- up
alter table verify_run
  add column since        timestamptz,
  add column began_at     timestamptz, -- of the first run, where one went on with another
  add column saved_at     timestamptz, -- when it last wrote down how far it is: a run that does not is dead
  add column progress     jsonb,       -- null: it is through, or another run went on with it
  add column resumed_from text,
  add column more         jsonb not null default '{}';

-- down
alter table verify_run
  drop column more,
  drop column resumed_from,
  drop column progress,
  drop column saved_at,
  drop column began_at,
  drop column since;
