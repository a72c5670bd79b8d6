-- The amount of a draft, and the time of the first request for a charge that waits for the final invoice.
--
-- Reason: the amount of a draft may still grow, so a payment of the draft's amount is told from another wrong amount, and with
-- MOR_RELAY_EVENTS=finalized the MoR is asked only for final invoices.
-- Locks: `invoice` for the moment of the change; two columns without a default rewrite no row.
-- Undoing it loses both values. Invoices that wait for their finalization then get no first charge: relay them by hand.

-- up
alter table invoice
  add column drafted_due bigint,
  add column relay_due_at timestamptz;

-- down
alter table invoice drop column relay_due_at, drop column drafted_due;
