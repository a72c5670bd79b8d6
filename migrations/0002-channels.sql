-- Why: what the MoR keeps beside an invoice: proforma invoices, payment links, e-invoices, disputes, alerts and captured payments.
-- Locks: `payment` and `signup` while their new indexes are built (seconds per million rows). Undo: loses the new table; the
-- payments that came of it stay.

-- up
create table mor_object (
  id             text primary key,
  kind           text not null check (kind in ('proforma','payment_link','e_invoice','dispute','alert','capture')),
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
create index mor_object_mor_id on mor_object (mor_id) where mor_id is not null;

-- One bank transfer per proforma invoice and one payment per link, for good, whatever happens to old event rows.
create unique index payment_channel on payment (origin, reference) where origin in ('proforma', 'payment_link');

-- Events that name a signup by its calculation or intent alone.
create index signup_tax_calculation on signup (tax_calculation_id) where tax_calculation_id is not null;
create index signup_intent on signup (intent_id) where intent_id is not null;

-- down
drop index signup_intent;
drop index signup_tax_calculation;
drop index payment_channel;
drop table mor_object;
