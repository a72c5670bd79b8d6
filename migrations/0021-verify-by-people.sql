-- Why: a person may acknowledge a difference that verify names, with a note; and each mark is looked up once at the MoR, over as many
-- days as the budget needs, so it is kept how far that is and which marks the MoR did not vouch for.
-- Locks: `verify_run` for a moment (a column without a default); `ledger_entry` is counted once, without a lock (seconds per million
-- rows). Undo: loses the acknowledgements; every mark is looked up anew.

-- up
create table difference_ack (
  id         text primary key, -- of the difference: the same kind, the same objects, the same facts
  kind       text not null,
  invoice_id text,
  note       text, -- null: erased
  by         text not null,
  at         timestamptz not null
);
create index difference_ack_invoice on difference_ack (invoice_id) where invoice_id is not null;

-- One row. Marks are walked by their ledger entries: those after `newest` as they come, those up to `oldest` backwards.
create table mark_lookup_reach (
  one    boolean primary key default true check (one),
  newest bigint not null,
  oldest bigint not null,
  behind bigint not null -- entries up to `oldest` that are marks
);
insert into mark_lookup_reach (newest, oldest, behind)
  select coalesce(max(id), 0), coalesce(max(id), 0), count(*) filter (where reason = 'payment_marked') from ledger_entry;

-- Marks the MoR did not know or was not ready for; of those near `newest`, for a few minutes, also the ones that it knew.
create table mark_lookup (
  payment_row_id text primary key,
  invoice_id     text not null,
  entry_id       bigint not null,
  answer         text not null check (answer in ('known', 'not_ready', 'unknown')),
  looked_at      timestamptz not null
);
create index mark_lookup_open on mark_lookup (looked_at) where answer <> 'known';

alter table verify_run add column marks_left bigint; -- marks not looked up when the run ended; null: none was to be

-- down
alter table verify_run drop column marks_left;
drop table mark_lookup;
drop table mark_lookup_reach;
drop table difference_ack;
