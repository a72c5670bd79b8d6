-- Why: the first schema: the inbox, the lanes, what is known of each invoice, the outbox, the ledger, people's work and their audit.
-- Locks: new tables only. Undo: loses everything; not in production.
-- Rules held here and not in code: an event is stored once, an effect is unique for good, the ledger, the journal and the audit
-- are append-only, money is a positive bigint of smallest units.

-- up
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Every authentic delivery, stored before it is acknowledged.
create table inbox_event (
  id          bigint generated always as identity primary key,
  source      text        not null check (source in ('stripe', 'mor_payments', 'mor_events')),
  event_id    text        not null check (length(event_id) between 1 and 255),
  type        text        not null,
  lane        text        not null,
  body        bytea,                -- the bytes as they came; null once purged
  body_sha256 bytea       not null,
  status      text        not null check (status in ('received', 'done', 'ignored', 'parked')),
  reason      text,
  received_at timestamptz not null,
  decided_at  timestamptz,
  attempts    integer     not null default 0,
  next_try_at timestamptz not null,
  unique (source, event_id)
);
create index inbox_event_due on inbox_event (next_try_at, id) where status = 'received';
-- Each index here is paid for by every webhook: what a lane's few rows can be filtered for has none of its own.
create index inbox_event_lane on inbox_event (lane, id);
create index inbox_event_parked on inbox_event (id desc) where status = 'parked';
create index inbox_event_type on inbox_event (type, id desc);

-- Authentic deliveries that must have no effect: their time is outside the tolerance, or their id came with another body.
create table inbox_quarantine (
  id          bigint generated always as identity primary key,
  source      text        not null check (source in ('stripe', 'mor_payments', 'mor_events')),
  event_id    text        not null,
  type        text        not null,
  lane        text        not null,
  body        bytea,
  body_sha256 bytea       not null,
  reason      text        not null,
  deliveries  integer     not null default 1,
  received_at timestamptz not null,
  last_at     timestamptz not null,
  released_at timestamptz,
  unique (source, body_sha256)
);
create index inbox_quarantine_event on inbox_quarantine (source, event_id);

-- Who works on what: events and calls of one lane go one at a time. The fence is drawn anew at each claim, so that
-- a worker that slept past its lease writes nothing.
create sequence lane_fence;
create table lane (
  key         text primary key,
  due_at      timestamptz,
  lease_until timestamptz,
  lease_owner text,
  fence       bigint not null default 0
);
create index lane_due on lane (due_at) where due_at is not null;

create table invoice (
  invoice_id          text primary key,
  customer_id         text,
  status              text not null check (status in ('expected','open','held','marking','paid','ignored','void','review')),
  platform_status     text not null check (platform_status in ('unknown','draft','open','paid','uncollectible','void','deleted')),
  billing_reason      text,
  currency            char(3),
  amount_due          bigint,
  amount_paid         bigint,
  amount_remaining    bigint,
  total               bigint,
  subscription_id     text,
  collection_method   text,
  platform_created_at timestamptz,
  finalizes_at        timestamptz,
  finalization_error  text,
  facts_at            timestamptz,
  read_at             timestamptz,
  read_due_at         timestamptz,
  read_attempts       integer not null default 0,
  expected_by         timestamptz,
  hold_until          timestamptz,
  first_seen_at       timestamptz not null,
  seq                 bigint generated always as identity unique
);
create index invoice_customer on invoice (customer_id, seq desc);
create index invoice_status on invoice (status, seq desc);

create table payment (
  id                          text primary key,
  payment_id                  text unique, -- an effect is unique by the MoR's id, for good
  invoice_id                  text not null references invoice (invoice_id),
  customer_id                 text not null,
  origin                      text not null check (origin in ('renewal','signup','proforma','payment_link')),
  status                      text not null check (status in ('succeeded','failed','requires_action','partially_refunded','refunded')),
  amount                      bigint check (amount > 0),
  currency                    char(3) not null,
  processor_charge_id         text,
  processor_payment_intent_id text,
  reference                   text,
  succeeded_at                timestamptz,
  verdict_at                  timestamptz,
  failure_message             text,
  decline_code                text,
  mark                        text not null check (mark in ('none','proving','waiting','held','finalizing','reporting','attaching','referencing','paying','parked','confirmed','closed')),
  mark_mode                   text check (mark_mode in ('payment_record','out_of_band')),
  payment_record_id           text unique,
  mark_tries                  integer not null default 0,
  prove_due_at                timestamptz,
  prove_attempts              integer not null default 0,
  waived                      text[] not null default '{}',
  amount_refunded             bigint not null default 0 check (amount_refunded >= 0 and (amount is null or amount_refunded <= amount)),
  refunded_total              bigint,
  signup_id                   text,
  recorded_at                 timestamptz not null,
  seq                         bigint generated always as identity unique
);
create index payment_invoice on payment (invoice_id);
create index payment_customer on payment (customer_id, seq desc);
create index payment_charge on payment (processor_charge_id) where processor_charge_id is not null;
create index payment_intent on payment (processor_payment_intent_id) where processor_payment_intent_id is not null;
create index payment_status on payment (status, seq desc);
-- A charge that a browser named pays one signup only.
create unique index payment_signup_charge on payment (processor_charge_id) where origin = 'signup';
-- At most one payment is being marked, or was, on an invoice; a person may have let a part payment through beside it.
create unique index payment_holder on payment (invoice_id)
  where mark in ('finalizing','reporting','attaching','referencing','paying','confirmed') and not ('amount_mismatch' = any (waived));

create table payment_attempt (
  event_id                    text not null,
  invoice_id                  text not null,
  payment_id                  text not null,
  outcome                     text not null check (outcome in ('succeeded','failed','requires_action')),
  amount                      bigint not null,
  currency                    char(3) not null,
  failure_message             text,
  decline_code                text,
  processor_payment_intent_id text,
  at                          timestamptz not null,
  primary key (invoice_id, event_id)
);

create table refund (
  id                  text primary key,
  payment_row_id      text not null references payment (id),
  invoice_id          text not null,
  mor_refund_id       text,
  processor_refund_id text,
  amount              bigint not null check (amount > 0),
  currency            char(3) not null,
  status              text not null check (status in ('requested','unknown','pending','succeeded','failed')),
  reason              text,
  origin              text not null check (origin in ('api','event')),
  counted             boolean not null,
  total_after         bigint,
  mirror              text not null check (mirror in ('none','waiting','reporting','crediting','parked','not_needed','done')),
  credit_note_id      text,
  failure             jsonb,
  created_at          timestamptz not null,
  succeeded_at        timestamptz,
  seq                 bigint generated always as identity unique
);
create index refund_invoice on refund (invoice_id);
create index refund_payment on refund (payment_row_id);
create unique index refund_mor_id on refund (mor_refund_id, payment_row_id) where mor_refund_id is not null;
create unique index refund_processor_id on refund (processor_refund_id, payment_row_id) where processor_refund_id is not null;

-- The calls that were decided. Key and bytes are here before anything is sent; both never change (but for a next generation).
create table outbox_message (
  id              text primary key,
  lane            text not null,
  peer            text not null check (peer in ('stripe','mor','relay')),
  kind            text not null,
  subject         text not null,
  generation      integer not null check (generation > 0),
  key             text not null unique check (length(key) <= 255),
  method          text not null,
  path            text not null,
  body            text,
  status          text not null check (status in ('pending','done','refused','cancelled')),
  attempts        integer not null default 0,
  first_tried_at  timestamptz,
  next_try_at     timestamptz not null,
  last_status     integer,
  last_code       text,
  last_message    text,
  last_request_id text,
  replaying       boolean not null default false,
  created_at      timestamptz not null,
  answered_at     timestamptz,
  unique (kind, subject, generation)
);
create index outbox_message_lane on outbox_message (lane);
create index outbox_message_pending on outbox_message (next_try_at) where status = 'pending';

create table review (
  id             text primary key,
  kind           text not null,
  status         text not null check (status in ('open','resolved')),
  subject        text not null,
  invoice_id     text,
  payment_row_id text,
  refund_id      text,
  summary        text not null,
  proposal       text not null,
  created_at     timestamptz not null,
  resolved_at    timestamptz,
  resolved_by    text,
  resolution     text,
  note           text,
  seq            bigint generated always as identity unique
);
create unique index review_open_once on review (kind, subject) where status = 'open';
create index review_invoice on review (invoice_id);
create index review_status on review (status, seq desc);

-- Append-only; one row names both sides, so the books always balance.
create table ledger_entry (
  id             bigint generated always as identity primary key,
  debit_account  text not null,
  credit_account text not null check (credit_account <> debit_account),
  amount         bigint not null check (amount > 0),
  currency       char(3) not null,
  reason         text not null,
  subject        text not null,
  invoice_id     text not null,
  payment_row_id text not null,
  refund_id      text,
  event_id       text,
  recorded_at    timestamptz not null,
  unique (reason, subject) -- the same cause cannot move the same money twice
);
create index ledger_entry_invoice on ledger_entry (invoice_id);
create index ledger_entry_payment on ledger_entry (payment_row_id);
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry execute function refuse_change();

-- The story of each lane: events, decisions, calls with their request ids, what people did.
create table journal (
  id     bigint generated always as identity primary key,
  lane   text not null,
  at     timestamptz not null,
  kind   text not null check (kind in ('event','decision','call','person')),
  ref    text,
  text   text not null,
  detail jsonb
);
create index journal_lane on journal (lane, id);
create trigger journal_append_only before update or delete or truncate on journal execute function refuse_change();

create table signup (
  id                   text primary key,
  kind                 text not null check (kind in ('payment','trial')),
  customer_id          text not null,
  amount               bigint,
  currency             char(3),
  status               text not null,
  intent_id            text,
  mor_customer_id      text,
  tax_calculation_id   text,
  mor_key              text not null unique,
  path                 text not null,
  body                 text,              -- what was sent to the MoR; null once erased
  busy_until           timestamptz,
  created_by           text not null,
  invoice_id           text,
  charge_id            text,
  payment_row_id       text,
  completed_at         timestamptz,
  created_at           timestamptz not null,
  seq                  bigint generated always as identity unique
);
create index signup_customer on signup (customer_id, seq desc);
create index signup_open on signup (created_at) where kind = 'payment' and completed_at is null;

-- A customer and the MoR's own customer, linked when the MoR first names it. Links are never taken back.
create table customer_link (
  customer_id     text not null,
  mor_customer_id text not null,
  signup_id       text not null,
  linked_at       timestamptz not null,
  primary key (customer_id, mor_customer_id)
);

-- What a POST with an Idempotency-Key made.
create table api_request (
  api_key         text not null,
  method          text not null,
  path            text not null,
  idempotency_key text not null,
  body_sha256     bytea not null,
  object_id       text not null,
  created_at      timestamptz not null,
  primary key (api_key, method, path, idempotency_key)
);

create table audit (
  id       bigint generated always as identity primary key,
  at       timestamptz not null,
  actor    text not null, -- an API key's name; 'unknown' for a key that is not ours
  role     text,
  action   text not null,
  target   text,
  source   text not null, -- where from: the peer's address
  outcome  text not null,
  status   integer not null,
  detail   jsonb
);
create index audit_action on audit (action, id desc);
create trigger audit_append_only before update or delete or truncate on audit execute function refuse_change();

-- The request budget that all replicas share: the time up to which it is spent.
create table request_budget (
  name     text primary key,
  spent_to timestamptz not null
);

-- down
drop table request_budget, audit, api_request, customer_link, signup, journal, ledger_entry, review, outbox_message, refund,
  payment_attempt, payment, invoice, lane, inbox_quarantine, inbox_event;
drop sequence lane_fence;
drop function refuse_change();
