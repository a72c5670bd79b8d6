// A charge confirms the payment method behind it. The step with the charge writes the confirmation.
import { type LaneState } from '../domain/model.js';
import { type StepWrite } from '../engine/subject.js';

/**
 * A signup's own charge confirms its own method. A renewal confirms the customer's newest setup before the charge. The
 * MoR's times are whole seconds: a setup in the second of the charge counts as later. Most charges find nothing to
 * confirm, and write nothing.
 */
export const confirmCharged: StepWrite = {
  name: 'confirmed',
  sql: (n) => `
  update signup s set confirmed_at = $1, confirmed_by = 'charge'
    from unnest($${n}::text[], $${n + 1}::text[], $${n + 2}::timestamptz[]) as d(customer_id, signup_id, taken_at)
   where s.confirmed_at is null and s.intent_id is not null
     and s.id = coalesce(d.signup_id, (select n.id from signup n where n.customer_id = d.customer_id and n.kind <> 'payment'
                                          and n.intent_id is not null and n.created_at < d.taken_at order by n.seq desc limit 1))`,
  rows: chargesOf,
};

/** The step's charges of saved payment methods. */
function chargesOf({ entries, payments }: LaneState): readonly (readonly unknown[])[] {
  const booked = new Set(entries.flatMap((e) => (e.reason === 'payment_collected' ? [e.paymentRowId] : [])));
  const of = payments.filter((p) => booked.has(p.id) && (p.origin === 'renewal' || p.origin === 'signup'));
  return of.map((p) => [p.customerId, p.signupId, p.succeededAt]);
}
