-- Why: since when this installation is here. What Stripe made before then was never meant for it, and is no difference of the daily verify.
-- Locks: new table only. Undo: the daily verify looks back 30 days also on a new installation.

-- up
create table installation (
  only_one boolean     primary key default true check (only_one),
  began_at timestamptz not null
);
-- One that is older than this table began with its first event.
insert into installation (began_at)
  select coalesce((select received_at from inbox_event order by id limit 1), now());

-- down
drop table installation;
