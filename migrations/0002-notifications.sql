-- Why: what the merchant's backend is told (NOTIFY_URL). A row is written with the step of the lane that it tells of, with its id and
-- its exact bytes, and is delivered by workers of its own, so that a receiver that hangs holds nobody's money.
-- Locks: new tables only; an older release goes on without them. Undo: loses what was not delivered, and the record of what was.

-- up
create table notification (
  id           text primary key,              -- `webhook-id`, made of type and subject: the same thing is told once
  type         text not null,
  subject      text not null,                 -- what it is about, by names that never change
  invoice_id   text,
  format       text not null check (format in ('standard', 'slack')),
  body         text not null,                 -- the bytes that are signed and sent, UTF-8
  status       text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempts     integer not null default 0,    -- since it was written down, or put up again
  tries        jsonb not null default '[]',   -- what became of each, the newest last
  next_try_at  timestamptz,                   -- null: no more tries
  created_at   timestamptz not null,
  delivered_at timestamptz,
  seq          bigint generated always as identity unique,
  check ((status = 'pending') = (next_try_at is not null))
) with (fillfactor = 70);
create index notification_due on notification (next_try_at) where status = 'pending';
create index notification_status on notification (status, seq desc);
create index notification_type on notification (type, seq desc);
create index notification_type_status on notification (type, status, seq desc);
create index notification_subject on notification (type, subject);
create index notification_invoice on notification (invoice_id) where invoice_id is not null;
create index notification_created_at on notification using brin (created_at) with (pages_per_range = 32, autosummarize = on);

-- Receivers that answered 410, by the hash of their address: an address may hold a secret. Another address is another receiver.
create table notification_receiver (
  url_sha256 bytea primary key,
  gone_at    timestamptz not null
);

-- down
drop table notification_receiver, notification;
