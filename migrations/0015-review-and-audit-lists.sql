-- Why: lists of review items by kind and of the audit by actor read their page and no more; what is asked of one subject, or of the
-- last days, is found without reading all of either.
-- Locks: `review` and `audit` against writing while they are built (seconds per million rows). Undo: all of that reads whole tables.

-- up
create index review_kind on review (kind, seq desc);
create index review_kind_status on review (kind, status, seq desc);
create index review_subject on review (subject);
create index audit_actor on audit (actor, id desc);
create index audit_actor_action on audit (actor, action, id desc);
create index audit_at on audit using brin (at) with (pages_per_range = 32, autosummarize = on);

-- down
drop index audit_at;
drop index audit_actor_action;
drop index audit_actor;
drop index review_subject;
drop index review_kind_status;
drop index review_kind;
