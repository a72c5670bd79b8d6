-- Why: the schema of the first release. The endpoints' inbox, the queue and the log of lanes, the ledger, the read rows that lists and verify
-- use, what people did, and what verify found.
-- Locks: new tables only. Undo: loses everything; not in production.
-- Rules held here and not in code: an event is stored once, an effect is unique for good, the ledger, the log and the audit only grow,
-- money is a positive bigint of smallest units.

-- up
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Every authentic delivery, stored before it is acknowledged.
create table inbox_event (
  id          bigint generated always as identity primary key,
  source      text        not null check (source in ('stripe', 'mor_payments', 'mor_events', 'crossbill')),
  event_id    text        not null check (length(event_id) between 1 and 255),
  type        text        not null,
  lane        text        not null,
  body_sha256 bytea       not null,
  status      text        not null check (status in ('received', 'done', 'ignored', 'parked')),
  -- Null unless somebody may look for it by its status. No index names the status itself: so what is decided without trouble is
  -- updated in its page, and no index is written for it.
  aside       text        generated always as (case when status in ('ignored', 'parked') then status end) stored,
  reason      text,
  received_at timestamptz not null,
  decided_at  timestamptz,
  attempts    integer     not null default 0,
  next_try_at timestamptz not null,
  unique (source, event_id)
) with (fillfactor = 45); -- each row is changed once, when it is decided, and longer then: there is room for that in its page
-- Each index here is paid for by every webhook: what a lane's few rows can be filtered for has none of its own.
create index inbox_event_lane on inbox_event (lane, id);
-- A list by status or by sender reads its page and no more, however far back the newest match is. What is decided without trouble, and
-- what Stripe sends, stands at the end of the table anyway and has no entry in these.
create index inbox_event_aside on inbox_event (aside, id desc) where aside is not null;
create index inbox_event_mor on inbox_event (source, id desc) where source in ('crossbill', 'mor_events', 'mor_payments');
-- Counts by time. Block ranges cost next to nothing on a table that grows at its end.
create index inbox_event_received_at on inbox_event using brin (received_at) with (pages_per_range = 32, autosummarize = on);
create index inbox_event_type on inbox_event (type, id desc);

-- The bodies of events as they came, by the month of their arrival: a purge drops a month. What is not here was purged or erased.
-- docs/decisions/0003 says why.
create table event_body (
  event_id    bigint      not null,
  received_at timestamptz not null, -- as of its event
  body        bytea       not null,
  primary key (event_id, received_at)
) partition by range (received_at);
-- What came while nobody had made its month, and what outlives its month because a person has yet to decide on it.
create table event_body_other partition of event_body default;

-- Makes the partitions of the month of `at` and of `ahead` more. It and the next one run as the owner of the schema, so that the daemon's
-- own user needs no right to create or drop tables. The lock that a new partition needs is given up after two seconds.
create function make_body_months(at timestamptz, ahead integer) returns integer language plpgsql security definer as $$
declare
  month timestamp := date_trunc('month', at at time zone 'UTC');
  made integer := 0;
  part text;
begin
  perform set_config('lock_timeout', '2s', true);
  perform pg_advisory_xact_lock(4812008); -- one at a time
  for i in 0..ahead loop
    part := 'event_body_' || to_char(month, 'YYYY_MM');
    if to_regclass(part) is null and not exists (
      select from event_body_other
       where received_at >= month at time zone 'UTC' and received_at < (month + interval '1 month') at time zone 'UTC') then
      execute format('create table %I (like event_body including all)', part);
      execute format('alter table event_body attach partition %I for values from (%L) to (%L)', part,
        month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
      made := made + 1;
    end if;
    month := month + interval '1 month';
  end loop;
  return made;
end $$;

-- Drops the oldest month that ended before `before`; what waits for a decision moves to event_body_other. Gives how many bodies went;
-- null: there is no such month.
create function drop_body_month(before timestamptz) returns bigint language plpgsql security definer as $$
declare
  part text;
  had bigint;
  kept bigint;
begin
  perform set_config('lock_timeout', '2s', true);
  perform pg_advisory_xact_lock(4812008);
  select c.relname into part from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'event_body'::regclass and c.relname ~ '^event_body_\d{4}_\d{2}$'
     and (to_timestamp(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month') at time zone 'UTC' <= before
   order by 1 limit 1;
  if part is null then return null; end if;
  execute format('select count(*) from %I', part) into had;
  execute format('alter table event_body detach partition %I', part);
  execute format('insert into event_body select * from %I where event_id in (
    select id from inbox_event where aside = ''parked''
    union all select e.id from inbox_event e join lane l on l.key = e.lane where e.status = ''received'')', part);
  get diagnostics kept = row_count;
  execute format('drop table %I', part);
  return had - kept;
end $$;

do $$ begin
  execute format('alter function make_body_months(timestamptz, integer) set search_path = %I, pg_temp', current_schema());
  execute format('alter function drop_body_month(timestamptz) set search_path = %I, pg_temp', current_schema());
  perform make_body_months(now(), 2);
end $$;

-- Authentic deliveries that must have no effect: their time is outside the tolerance, or their id came with another body.
create table inbox_quarantine (
  id          bigint generated always as identity primary key,
  source      text        not null check (source in ('stripe', 'mor_payments', 'mor_events')),
  event_id    text        not null,
  type        text        not null,
  lane        text        not null,
  body        bytea,
  body_sha256 bytea       not null,
  reason      text        not null, -- for people
  second_body boolean     not null default false, -- its event came before with another body: it is never applied
  deliveries  integer     not null default 1,
  received_at timestamptz not null,
  last_at     timestamptz not null,
  released_at timestamptz,
  unique (source, body_sha256)
);
create index inbox_quarantine_event on inbox_quarantine (source, event_id);

-- The queue: a row for each lane with something due. Each claim draws a new fence; `news` counts what came, so that who gives
-- the lane back sees whether more did since. Rows come and go all the time: the table is cleaned early, and a claim, which makes a row
-- half as long again, finds room in its page.
create sequence lane_fence;
create table lane (
  key         text primary key,
  due_at      timestamptz,
  lease_until timestamptz,
  lease_owner text,
  fence       bigint not null default 0,
  news        bigint not null default 0
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lane_due on lane (due_at, key) where due_at is not null;

-- What was decided, step by step: a lane's state is the fold of its rows. docs/decisions/0001 says why.
create table lane_log (
  lane     text        not null,
  version  integer     not null, -- 1, 2, 3 and so on: the primary key is the fence between two writers
  at       timestamptz not null,
  at_rest  boolean     not null, -- the read rows were written with it
  snapshot boolean     not null, -- it holds the whole state: nothing before it is needed to fold
  change   json        not null, -- engine/lane-log.ts says how it is read; its member f is the format
  bodies   json,                 -- the bytes of the calls that the step decided, by call id; null: none, or purged
  primary key (lane, version)
);
create index lane_log_first on lane_log (at, lane) where version = 1; -- rebuild goes through all lanes in this order

-- What was decided stays as it was written; an erasure alone takes free texts out, and says so to the database.
create function refuse_log_change() returns trigger language plpgsql as $$
begin
  if current_setting('crossbill.erasing', true) is distinct from 'on' then
    raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger lane_log_kept before update of lane, version, at, change on lane_log execute function refuse_log_change();
create trigger lane_log_append_only before delete or truncate on lane_log execute function refuse_change();

-- The tables from here to open_call are read rows: written from the log when a lane comes to rest, and made again by `crossbill rebuild`.

create table invoice (
  invoice_id          text primary key,
  customer_id         text,
  number              text,
  status              text not null default 'expected' check (status in ('expected','open','held','marking','paid','ignored','void','review')),
  platform_status     text not null default 'unknown' check (platform_status in ('unknown','draft','open','paid','uncollectible','void','deleted')),
  billing_reason      text,
  currency            char(3),
  amount_due          bigint,
  amount_paid         bigint,
  amount_remaining    bigint,
  total               bigint,
  amount_overpaid     bigint,               -- null: Stripe has not been asked since
  subscription_id     text,
  collection_method   text,
  pays_by_debit       boolean,              -- null: not looked up
  enrolled            boolean,              -- false: outside ENROLMENT; null: nobody had to ask, or not known yet
  auto_advance        boolean,
  own_method_id       text,
  latest_revision     text,                 -- the invoice that replaced it on Stripe
  charged             jsonb,                -- what Stripe would charge by itself, as it was last looked at
  charge_looked_at    timestamptz,
  look_due_at         timestamptz,          -- a look at its customer that failed is made again then
  look_attempts       integer not null default 0,
  platform_created_at timestamptz,
  finalizes_at        timestamptz,
  finalization_error  text,
  facts_at            timestamptz,
  read_at             timestamptz,
  read_due_at         timestamptz,
  read_attempts       integer not null default 0,
  expected_by         timestamptz,
  hold_until          timestamptz,
  customer_country    char(2),              -- of the address on the invoice; null: Stripe has not said
  retries             jsonb,                -- what followed the MoR's refusals; null: it refused nothing
  method              jsonb,                -- the customer's payment method that was confirmed since; null: none was
  next_try_at         timestamptz,          -- when a refused renewal is tried again by itself
  first_seen_at       timestamptz not null,
  seq                 bigint generated always as identity
) with (fillfactor = 85);
-- Lists are ordered by the time that people filter them by, then by the number: so any stretch of time is found at once, and no index
-- is kept for the number alone. Of an invoice it is when Stripe made it.
create index invoice_listed on invoice ((coalesce(platform_created_at, first_seen_at)) desc, seq desc);
create index invoice_customer on invoice (customer_id, (coalesce(platform_created_at, first_seen_at)) desc, seq desc);
create index invoice_status on invoice (status, (coalesce(platform_created_at, first_seen_at)) desc, seq desc);
-- Written once for an invoice, when it becomes final: people search by the number that the customer reads.
create index invoice_number on invoice (number) where number is not null;
create index invoice_outside on invoice (first_seen_at desc, seq desc) where enrolled = false;
-- Renewals that the MoR refused, and those that are tried again by themselves: a renewal that goes well is in neither.
create index invoice_refused on invoice ((coalesce(platform_created_at, first_seen_at)) desc, seq desc) where retries is not null;
create index invoice_next_try on invoice (next_try_at, seq) where next_try_at is not null;
create index invoice_expected_by on invoice (expected_by) where status = 'expected';

create table payment (
  id                          text primary key,
  payment_id                  text unique, -- an effect is unique by the MoR's id, for good
  invoice_id                  text not null references invoice (invoice_id),
  customer_id                 text not null,
  origin                      text not null default 'renewal' check (origin in ('renewal','signup','proforma','payment_link')),
  status                      text not null default 'succeeded' check (status in ('processing','succeeded','failed','requires_action','partially_refunded','refunded')),
  amount                      bigint check (amount > 0),
  currency                    char(3) not null,
  processor_charge_id         text,
  processor_payment_intent_id text,
  reference                   text,
  pending_since               timestamptz, -- the MoR knows it and it has not settled: a bank debit
  succeeded_at                timestamptz,
  verdict_at                  timestamptz,
  failure_message             text,
  decline_code                text,
  mark                        text not null default 'none' check (mark in ('none','proving','waiting','held','finalizing','reporting','attaching','referencing','paying','parked','confirmed','closed')),
  mark_mode                   text check (mark_mode in ('payment_record','out_of_band')),
  payment_record_id           text unique,
  mark_tries                  integer not null default 0,
  prove_due_at                timestamptz,
  prove_attempts              integer not null default 0,
  waived                      text[] not null default '{}',
  amount_refunded             bigint not null default 0 check (amount_refunded >= 0 and (amount is null or amount_refunded <= amount)),
  refunded_total              bigint,
  signup_id                   text,
  identified_by               text,        -- who named its payment_id; null: the MoR did
  recorded_at                 timestamptz not null,
  seq                         bigint generated always as identity
) with (fillfactor = 85);
create index payment_invoice on payment (invoice_id);
-- When the money was taken; until then, the MoR's last verdict; until there is one, when we first learned of it.
create index payment_listed on payment ((coalesce(succeeded_at, verdict_at, recorded_at)) desc, seq desc);
create index payment_customer on payment (customer_id, (coalesce(succeeded_at, verdict_at, recorded_at)) desc, seq desc);
create index payment_charge on payment (processor_charge_id) where processor_charge_id is not null;
create index payment_intent on payment (processor_payment_intent_id) where processor_payment_intent_id is not null;
create index payment_status on payment (status, (coalesce(succeeded_at, verdict_at, recorded_at)) desc, seq desc);
-- A charge that a browser named pays one signup only.
create unique index payment_signup_charge on payment (processor_charge_id) where origin = 'signup';
-- At most one payment is being marked, or was, on an invoice; a person may have let a part payment through beside it.
create unique index payment_holder on payment (invoice_id)
  where mark in ('finalizing','reporting','attaching','referencing','paying','confirmed') and not ('amount_mismatch' = any (waived));
-- A bank transfer or a link pays once.
create unique index payment_channel on payment (origin, reference) where origin in ('proforma', 'payment_link');
-- Verify finds what is not at rest by small indexes of its own.
create index payment_unmarked on payment (invoice_id) where succeeded_at is not null and mark not in ('confirmed', 'closed');
create index payment_unconfirmed_signup on payment (seq)
  where origin = 'signup' and payment_id is null and mark = 'confirmed' and processor_charge_id is not null;
create index payment_unnamed on payment (seq) where payment_id is null and succeeded_at is not null; -- what the MoR's support is asked to name

create table refund (
  id                  text primary key,
  payment_row_id      text not null references payment (id),
  invoice_id          text not null,
  mor_refund_id       text,
  processor_refund_id text,
  amount              bigint not null check (amount > 0),
  currency            char(3) not null,
  status              text not null check (status in ('requested','unknown','pending','succeeded','failed')),
  mor_status          text,                     -- the MoR's own word while it is none of Document 3's; status is pending then
  reason              text,
  origin              text not null check (origin in ('api','event')),
  asked_of            text,                     -- the MoR's id of the payment in our request
  asked_as            text,                     -- our id of a request for it that came after its event, and has no row of its own
  counted             boolean not null,
  total_after         bigint,
  surplus             bigint not null default 0 check (surplus between 0 and amount),
  mirror              text not null check (mirror in ('none','waiting','reporting','crediting','parked','not_needed','done')),
  credit_note_id      text,
  failure             jsonb,
  created_at          timestamptz not null,
  succeeded_at        timestamptz,
  seq                 bigint generated always as identity
);
-- When the money was given back; until then, when it was asked for.
create index refund_listed on refund ((coalesce(succeeded_at, created_at)) desc, seq desc);
create index refund_invoice on refund (invoice_id);
create index refund_payment on refund (payment_row_id);
create unique index refund_mor_id on refund (mor_refund_id, payment_row_id) where mor_refund_id is not null;
create unique index refund_asked_as on refund (asked_as) where asked_as is not null;
create index refund_created on refund (created_at);
create index refund_status on refund (status, (coalesce(succeeded_at, created_at)) desc, seq desc);
create index refund_unmirrored on refund (invoice_id) where mirror not in ('done', 'not_needed');
create unique index refund_processor_id on refund (processor_refund_id, payment_row_id) where processor_refund_id is not null;

-- What the MoR keeps beside an invoice: proforma invoices, payment links, e-invoices, disputes, alerts, captured payments,
-- and the debits that a person says a bank took back.
create table mor_object (
  id             text primary key,
  kind           text not null check (kind in ('proforma','payment_link','e_invoice','dispute','alert','capture','debit_return')),
  mor_id         text,                 -- null until the MoR's answer named it
  invoice_id     text not null references invoice (invoice_id),
  payment_row_id text references payment (id),
  status         text not null,        -- in the MoR's words; REQUESTED and REFUSED are ours
  amount         bigint check (amount > 0),
  currency       char(3),
  number         text,
  url            text,
  deadline       timestamptz,          -- until when somebody must act, or the link can be paid
  detail         jsonb not null default '{}',
  read_due_at    timestamptz,          -- it is to be read at the MoR then; null: nothing to find out
  read_attempts  integer not null default 0,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  seq            bigint generated always as identity unique,
  unique (kind, mor_id)
);
create index mor_object_invoice on mor_object (invoice_id, seq);
create index mor_object_number on mor_object (number) where number is not null;
create index mor_object_disputed on mor_object (created_at desc, seq desc) where kind in ('dispute', 'alert');
create index mor_object_mor_id on mor_object (mor_id) where mor_id is not null;
create index mor_object_observed on mor_object using gin ((detail->'observed') jsonb_path_ops); -- charges and payments announced on links

-- One bank transfer per proforma invoice and one payment per link, for good, whatever happens to old event rows.

create table review (
  id             text primary key,
  kind           text not null,
  status         text not null check (status in ('open','resolved')),
  topic          text not null,   -- the code of its fact
  subject        text not null,
  invoice_id     text,
  payment_row_id text,
  refund_id      text,
  fact           jsonb not null,  -- {code, ...}; sentences are made from it when somebody reads them
  actions        text[] not null, -- what a person may choose
  proposed       text,            -- one of them
  created_at     timestamptz not null,
  resolved_at    timestamptz,
  resolved_by    text,
  resolution     text,
  note           text,
  due_at         timestamptz, -- until when a person must have acted
  seq            bigint generated always as identity
);
create index review_listed on review (created_at desc, seq desc);
create unique index review_open_once on review (kind, topic, subject) where status = 'open';
create index review_invoice on review (invoice_id);
create index review_status on review (status, created_at desc, seq desc);
create index review_kind on review (kind, created_at desc, seq desc);
create index review_kind_status on review (kind, status, created_at desc, seq desc);
create index review_subject on review (subject);
create index review_due on review (due_at, seq desc) where status = 'open';
create index review_due_any on review (due_at, seq desc); -- settled ones by the deadline that they had

-- Calls that wait to be tried again, and what shadow mode kept from being sent.
create table open_call (
  id           text primary key,
  lane         text not null,
  kind         text not null,
  subject      text not null,
  status       text not null check (status in ('pending', 'shadow')),
  attempts     integer not null,
  last_status  integer,
  last_message text,
  next_try_at  timestamptz not null,
  created_at   timestamptz not null
);
create index open_call_lane on open_call (lane);

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
  payment_id     text,        -- the MoR's pay_..., where it was known
  processor_charge_id text,   -- null for the second payment of one invoice that names the same charge
  refund_id      text,
  event_id       text,
  moved_at       timestamptz not null, -- when the money moved, by the MoR's time: the month that it belongs to
  recorded_at    timestamptz not null,
  unique (reason, subject) -- the same cause cannot move the same money twice
);
-- Money is collected once under the MoR's name of the payment, whatever invoice it names.
create unique index ledger_entry_collected on ledger_entry (payment_id) where reason = 'payment_collected' and payment_id is not null;
-- One charge is one sum of money, whatever invoices its payments name.
create unique index ledger_entry_charge on ledger_entry (processor_charge_id)
  where reason = 'payment_collected' and processor_charge_id is not null;
create index ledger_entry_invoice on ledger_entry (invoice_id); -- a payment's entries are among those of its invoice
create index ledger_entry_recorded_at on ledger_entry using brin (recorded_at) with (pages_per_range = 32, autosummarize = on);
-- A reason that is rare. Of the two that every payment makes one is always near.
create index ledger_entry_reason on ledger_entry (reason, id desc) where reason not in ('payment_collected', 'payment_marked');
-- What was recorded hours after the money moved, or before. All the others are found by their numbers (ledger/ledger.store.ts).
create index ledger_entry_stray on ledger_entry (moved_at)
  where recorded_at - moved_at not between interval '-3 hours' and interval '3 hours';
-- How far the two times are apart: without it a two-hundredth is thought to be no stray, where nearly all are none.
create statistics ledger_entry_apart on (recorded_at - moved_at) from ledger_entry;
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry execute function refuse_change();

-- Sums of the ledger by the day (UTC) on which the money moved, so that the balance of a month reads days and no entries. They are of
-- the entries up to `up_to`; whoever reads them adds those that came since (ledger/sums.store.ts).
create table ledger_day (
  day            date    not null,
  currency       char(3) not null,
  reason         text    not null,
  debit_account  text    not null,
  credit_account text    not null,
  entries        bigint  not null,
  amount         numeric not null,
  primary key (day, currency, reason, debit_account, credit_account)
);
create table ledger_fold (
  only_one boolean     primary key default true check (only_one),
  up_to    bigint      not null,
  noted    bigint      not null, -- the newest entry at `noted_at`: some minutes later nobody is still writing an older one
  noted_at timestamptz not null
);
insert into ledger_fold (up_to, noted, noted_at) values (0, 0, now());

-- The renewals of each day for the console's overview, counted in the background: a row a day (overview/days.store.ts).
create table renewals_day (
  day        date        primary key,
  counted_at timestamptz not null,
  paid       bigint      not null,
  unpaid     bigint      not null,
  waiting    bigint      not null -- no verdict yet
);

-- What each endpoint answered, by the hour, and the last deliveries that it refused: written a few times a minute by each replica that
-- answered any, whatever the traffic is. Rows older than some days are dropped.
create table endpoint_answers (
  endpoint   text        not null check (endpoint in ('stripe', 'mor_payments', 'mor_events')),
  hour   timestamptz not null,
  status integer     not null,
  n      bigint      not null,
  primary key (hour, endpoint, status)
) with (fillfactor = 50);
create table endpoint_refusal (
  id      bigint generated always as identity primary key,
  endpoint    text        not null check (endpoint in ('stripe', 'mor_payments', 'mor_events')),
  at      timestamptz not null,
  status  integer     not null,
  why     text        not null, -- the code of the answer, or aborted
  address text        not null  -- the peer's
);
create index endpoint_refusal_listed on endpoint_refusal (endpoint, id desc);

-- What the merchant's backend asked for: a first payment, a trial's setup, or another payment method (kind method). Each saves a
-- payment method of the customer.
create table signup (
  id                   text primary key,
  kind                 text not null check (kind in ('payment','trial','method')),
  customer_id          text not null,
  amount               bigint,
  currency             char(3),
  status               text not null,
  intent_id            text,
  mor_customer_id      text,
  tax_calculation_id   text,
  recalculated         boolean not null default false,
  mor_key              text not null unique,
  path                 text not null,
  body                 text,              -- what was sent to the MoR; null once erased
  busy_until           timestamptz,
  created_by           text not null,
  invoice_id           text,
  charge_id            text,
  payment_row_id       text,
  completed_at         timestamptz,
  confirmed_at         timestamptz,       -- when the method's confirmation became known; null: not yet
  confirmed_by         text,              -- charge: a charge succeeded; else who reported it
  reported_at          timestamptz,       -- when somebody reported the confirmation first
  tried_at             timestamptz,       -- when the customer's refused renewals got to know of the confirmation
  created_at           timestamptz not null,
  seq                  bigint generated always as identity unique
);
create index signup_customer on signup (customer_id, seq desc);
create index signup_tax_calculation on signup (tax_calculation_id) where tax_calculation_id is not null;
create index signup_intent on signup (intent_id) where intent_id is not null;
create index signup_untried on signup (seq) where confirmed_at is not null and tried_at is null;
create index signup_open on signup (created_at) where kind = 'payment' and completed_at is null;

-- The total of each tax calculation that the merchant's backend asked for, to compare with a signup's first invoice: the MoR has no read
-- for it. A row goes once its calculation is no longer valid.
create table tax_total (
  tax_calculation_id text primary key,
  amount             bigint not null,
  currency           char(3) not null,
  made_at            timestamptz not null
);
create index tax_total_made_at on tax_total (made_at);

-- A customer and the MoR's own customer, linked when the MoR first names it, or by hand or file when the link was made elsewhere. Links
-- are never taken back.
create table customer_link (
  customer_id     text not null,
  mor_customer_id text not null,
  signup_id       text,                     -- null: it was made elsewhere
  reference       text,                     -- the merchant's own word for it
  linked_by       text not null default 'signup', -- or who said it: an API key's name, or a person at the command line
  linked_at       timestamptz not null,
  seq             bigint generated always as identity unique,
  primary key (customer_id, mor_customer_id)
);
create index customer_link_listed on customer_link (linked_at desc, seq desc);
create index customer_link_mor on customer_link (mor_customer_id, seq desc);

-- What Stripe would charge by itself for a subscription, or for a customer's invoices without one: looked at once a day at most.
create table charge_look (
  key       text primary key, -- the subscription's id, or the customer's
  charged   jsonb,            -- null: nothing
  looked_at timestamptz not null
);

-- Moves of subscriptions from Stripe's own collection to the MoR: one row each. The request under way is stored before it is sent.
create table move (
  subscription_id text primary key,
  customer_id     text not null,
  status          text not null check (status in ('moving', 'moved', 'skipped', 'failed', 'returning', 'returned')),
  fact            jsonb,                    -- why it is so
  way             text not null check (way in ('custom_method', 'send_invoice')),
  before          jsonb,                    -- what stood on the subscription; null: nothing was written to Stripe
  method_id       text,                     -- the custom payment method that was made for it
  at_stripe       boolean not null,         -- Stripe may charge it: for each of its invoices Stripe is asked, and the MoR is not if it does
  request         jsonb,                    -- key and bytes of the request under way
  renews_at       timestamptz,
  moved_at        timestamptz,
  changed_by      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  version         integer not null default 0,
  seq             bigint generated always as identity unique,
  check (request is null or before is not null) -- what stood there is known before anything is sent
);
create index move_customer on move (customer_id, seq desc);
create index move_status on move (status, seq desc);

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
create index audit_actor on audit (actor, id desc);
create index audit_actor_action on audit (actor, action, id desc);
create index audit_at on audit using brin (at) with (pages_per_range = 32, autosummarize = on);
create trigger audit_append_only before update or delete or truncate on audit execute function refuse_change();

-- The request budget that all replicas share: a row for the account and one for each of its endpoints.
create table request_budget (
  name         text primary key,
  slices       jsonb not null default '{}', -- which replica holds how much of the pace (store/budget-slices.ts)
  paused_until timestamptz,                 -- nothing goes out before: Stripe asked for it
  -- The part of its pace that a row had at slowed_at; it grows back with time (store/pg-request-budget.ts). 1: never slowed.
  share     double precision not null default 1 check (share > 0 and share <= 1),
  slowed_at timestamptz
) with (fillfactor = 20);

-- What a verify run compared and found, how far it is, and what a person said of a difference.
create table verify_run (
  id           text primary key,
  started_at   timestamptz not null,
  finished_at  timestamptz,
  outcome      text not null check (outcome in ('running', 'clean', 'differences', 'incomplete')),
  compared     jsonb not null default '{}',
  differences  jsonb not null default '[]',
  more         jsonb not null default '{}', -- differences of a kind beyond those that are kept
  loss_windows jsonb not null default '[]',
  since        timestamptz not null,
  began_at     timestamptz not null, -- of the first run, where one resumed another
  saved_at     timestamptz, -- when it last wrote down how far it is: a run that does not is dead
  progress     jsonb,       -- null: it is through, or another run resumed it
  resumed_from text,
  marks_left   integer,     -- marks not looked up when the run ended; null: none was to be
  seq          bigint generated always as identity unique
);

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
create index mark_lookup_open on mark_lookup (looked_at, entry_id) where answer <> 'known';

-- When the endpoints were open, one row per stretch of one process: verify says which events may have been given up while all were closed.
create table endpoints_open (
  id        text primary key,
  opened_at timestamptz not null,
  seen_at   timestamptz not null check (seen_at >= opened_at) -- written about once a minute; a few rows a day in all
);
create index endpoints_open_seen on endpoints_open (seen_at);

-- Who is logged in to the console. Without its row a session is over, in every replica.
create table console_session (
  id       text primary key,      -- a random name in the cookie; its signature is not here
  name     text        not null,  -- of the API key, or the e-mail address of who signed in at the identity provider
  source   text        not null,  -- the address that logged in
  began_at timestamptz not null,
  ends_at  timestamptz not null   -- when the cookie ends by itself; then the row may go
);

-- Since when this installation is here. What Stripe made before then is no difference of the daily verify.
create table installation (
  only_one boolean     primary key default true check (only_one),
  began_at timestamptz not null
);
insert into installation (began_at) values (now());

-- Each merchant's onboarding, so that every step can be resumed and one replica polls at a time.
create table onboarding (
  reference         text primary key,           -- the partner's own, permanent
  merchant_id       text unique,                -- null until it was looked up
  application_id    text,                       -- null until initiate answered
  product_code      text not null,
  regions           text[] not null default '{}',
  status            text not null,              -- requested, refused, or the MoR's word
  due               text[] not null default '{}',
  comments          jsonb not null,
  review_message    text,
  merchant          jsonb,                      -- company, description and stores, as the MoR had them last; null: not read
  body_sha256       text,                       -- in hex, of the first initiate; null: not made through us
  existing          boolean not null default false,
  company_discarded boolean not null default false,
  initiates         integer not null default 0, -- how often it was sent
  submitted_at      timestamptz,
  reviewed_at       timestamptz,
  read_at           timestamptz,
  poll_at           timestamptz,                -- the outcome is asked for then; null: nothing to find out
  busy_until        timestamptz,
  created_by        text not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  seq               bigint generated always as identity unique
);
create index onboarding_poll on onboarding (poll_at) where poll_at is not null;

-- What the merchant's backend is told (NOTIFY_URL). A row is written with the step of the lane that it tells of, with its id and its
-- exact bytes, and is delivered by loops of its own, so that a receiver that hangs holds up nobody's money.
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
create index notification_due on notification (next_try_at, seq) where status = 'pending';
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
drop table notification_receiver, notification, onboarding, installation, console_session, endpoints_open, mark_lookup, mark_lookup_reach, difference_ack, verify_run,
  request_budget, audit, api_request, move, charge_look, customer_link, tax_total, signup, endpoint_refusal, endpoint_answers, renewals_day, ledger_fold, ledger_day, ledger_entry, open_call, review, mor_object, refund,
  payment, invoice, lane_log, lane, inbox_quarantine, event_body, inbox_event;
drop sequence lane_fence;
drop function refuse_change(), refuse_log_change(), make_body_months(timestamptz, integer), drop_body_month(timestamptz);
