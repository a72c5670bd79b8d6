-- Why: all credit notes of an invoice together fit its total. A refund above the rest (the invoice collected an older debt, or somebody
-- credited a part by hand) gets a credit note over the rest, and a person hears of the other part.
-- Locks: `invoice` and `refund` for the moment of the change; columns without a default rewrite no row.
-- Undo: loses the values. `crossbill verify` then reports the smaller credit notes.

-- up
alter table invoice add column amount_credited bigint, add column older_debt bigint;
alter table refund add column beyond_sale bigint;

-- down
alter table refund drop column beyond_sale;
alter table invoice drop column amount_credited, drop column older_debt;
