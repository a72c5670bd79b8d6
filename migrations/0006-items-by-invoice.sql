-- Why: two invoices may each have an open item about the same subject, such as one event id that the MoR sent with three bodies for three
-- invoices. `review_open_once` counted across invoices, so no try could store the second item. An invoice's lane keeps its own items apart.
-- Locks: `review` against writes while the new index is built; it holds open items only. Undo: fails while two invoices have such items
-- open; resolve one of the two first.

-- up
drop index review_open_once;
create unique index review_open_once on review (kind, topic, subject, coalesce(invoice_id, '')) where status = 'open';

-- down
drop index review_open_once;
create unique index review_open_once on review (kind, topic, subject) where status = 'open';
