-- Why: a link made through the API was audited under its `reference`, a free text that may name a person. The audit trail only grows,
-- so no erasure could reach it. These rows get the customer's id, as new ones do.
-- Locks: audit is locked against writes while its rows of one action change, a moment in most installations. Undo: nothing to undo.

-- up
alter table audit disable trigger audit_append_only;
update audit a
   set target = l.customer_id, detail = case when l.customer_id is null then null else jsonb_build_object('id', l.customer_id) end
  from (select o.id, min(k.customer_id) as customer_id from audit o
          left join customer_link k on k.reference = o.target and k.linked_by = o.actor
           and k.linked_at between o.at - interval '1 minute' and o.at + interval '1 minute'
         where o.action = 'customer.link' and o.outcome = 'done' and o.detail ->> 'id' = o.target
         group by o.id) l
 where a.id = l.id;
alter table audit enable trigger audit_append_only;

-- down
select 1;
