-- Why: what a signup's payment intent was made for, where the completion names another amount: a person compares the two.
-- Locks: `payment` for a moment (a column without a default). Undo: such a payment is compared with the invoice alone.

-- up
alter table payment add column signup_asked text;

-- down
alter table payment drop column signup_asked;
