-- Why: tax that Crossbill commits itself (MOR_PRODUCT=tor), step by step; signups whose calculation is replaced; and each
-- merchant's onboarding, so that every step can be resumed and one replica polls at a time.
-- Locks: `signup` for a moment (a column with a constant default). Undo: loses how far tax and onboarding have come; what the MoR
-- was told stays there.

-- up
create table tax_record (
  id                 text primary key,
  kind               text not null check (kind in ('transaction','refund')),
  invoice_id         text not null references invoice (invoice_id),
  payment_row_id     text not null references payment (id),
  refund_id          text references refund (id),
  stage              text not null check (stage in ('gathering','calculating','waiting','committing','committed','parked','closed')),
  reference          text not null,             -- invoice id, or our refund id: the MoR's idempotency key
  tax_calculation_id text,
  mor_id             text,                      -- the MoR's transaction or refund
  currency           char(3) not null,
  lines              jsonb not null default '[]', -- the transaction's lines with their gross amounts, or what was given back of each
  calculations       integer not null default 0, -- how many were made here; one is made anew when the first cannot be used
  due_at             timestamptz,
  attempts           integer not null default 0,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  seq                bigint generated always as identity unique,
  unique (kind, reference), -- one transaction per invoice and one refund per refund, for good
  check ((kind = 'refund') = (refund_id is not null))
);
create index tax_record_invoice on tax_record (invoice_id, seq);
create index tax_record_open on tax_record (invoice_id) where stage not in ('committed','closed');

alter table signup add column recalculated boolean not null default false;

create table onboarding (
  reference         text primary key,           -- the partner's own, permanent
  merchant_id       text unique,                -- null until it was looked up
  application_id    text,                       -- null until initiate answered
  product_code      text not null,
  regions           text[] not null default '{}',
  status            text not null check (status in ('requested','refused','created','submitted','changes_requested','approved','rejected')),
  due               text[] not null default '{}',
  comments          jsonb not null default '[]',
  review_message    text,
  body_sha256       bytea,                      -- of what initiate was asked first; null: not made through us
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

-- down
drop table onboarding;
alter table signup drop column recalculated;
drop table tax_record;
