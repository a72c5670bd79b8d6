-- Why: nobody charges the first invoice of a subscription made in Stripe's Dashboard or by a schedule. Crossbill looks once whether a
-- signup may pay it, and keeps the answer.
-- Locks: `invoice` for the moment of the change; a column without a default rewrites no row.
-- Undo: loses the values. Crossbill looks again.

-- up
alter table invoice add column left_out boolean; -- true: no signup asks for this first invoice of a customer of the MoR; null: not looked up

-- down
alter table invoice drop column left_out;
