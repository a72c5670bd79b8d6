// The engine's table for signups: the rule for each event, item and choice, and a write in the commit of each step.
import { type LaneState } from '../../shared/domain/model.js';
import { type StepWrite, type Subject } from '../../engine/subject.js';
import { CHOSEN_AT } from '../../frames/store/mor-customers.js';
import { applyCompleted, applyOverdue, unsettledItems } from './rules/signup.js';
import { nextLookup } from '../../engine/lookup.js';
import { leftOutItems, leftOutLookup } from './rules/left-out.js';
import { nothingMore } from '../../engine/commanded.js';

/**
 * A successful charge confirms the customer's payment method. The charge of a signup confirms the method of this
 * signup. A renewal confirms the setup the customer chose last before the charge. The MoR's times are whole
 * seconds: a setup in the same second as the charge counts as later. Most charges find nothing to confirm, and write
 * nothing.
 */
const confirmCharged: StepWrite = {
  name: 'confirmed',
  sql: (n) => `
  update signup s set confirmed_at = $1, confirmed_by = 'charge'
    from unnest($${n}::text[], $${n + 1}::text[], $${n + 2}::timestamptz[]) as d(customer_id, signup_id, taken_at)
   where s.confirmed_at is null and s.intent_id is not null
     and s.id = coalesce(d.signup_id, (select n.id from signup n where n.customer_id = d.customer_id and n.kind <> 'payment'
                                          and n.intent_id is not null and n.created_at < d.taken_at order by ${CHOSEN_AT} desc, n.seq desc limit 1))`,
  rows: chargesOf,
};

/** The charges of saved payment methods in this step. */
function chargesOf({ entries, payments }: LaneState): readonly (readonly unknown[])[] {
  const booked = new Set(entries.flatMap((e) => (e.reason === 'payment_collected' ? [e.paymentRowId] : [])));
  const of = payments.filter((p) => booked.has(p.id) && (p.origin === 'renewal' || p.origin === 'signup'));
  return of.map((p) => [p.customerId, p.signupId, p.succeededAt]);
}

export const signups = {
  events: { 'signup.overdue': applyOverdue, 'signup.completed': applyCompleted },
  items: [unsettledItems, leftOutItems],
  lookups: [nextLookup(leftOutLookup)],
  writes: [confirmCharged],
  choices: { signup_overdue: nothingMore },
} satisfies Subject;
