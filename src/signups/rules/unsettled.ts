// A signup without its money while Stripe's 23 hours run: no charge is known, or the charge is not settled.
import { type InvoiceRow, type PaymentRow } from '../../domain/model.js';
import { SIGNUP_ENDS_MS, SIGNUP_OVERDUE_MS } from '../../policy.js';
import { isOver, SIGNUP_REASON } from '../../domain/status.js';
import { closeReviews } from '../../engine/change.js';
import { type Lane } from '../../engine/draft.js';
import { done, type OwnLaneEvent, type Verdict } from '../../engine/event.js';
import { type Holds, itemRule } from '../../engine/items.js';

/**
 * The money is on its way (a bank debit, or a card whose invoice the MoR is still making), or a look-up of it told nothing: one that the MoR
 * does not know is a person's within hours, one of which it does not answer is asked for without end.
 */
export function isUnsettled(p: PaymentRow): boolean {
  return p.mark === 'proving' && (p.pendingSince !== null || p.proveAttempts > 0);
}

/** When Stripe's subscription began, as near as is known: its first invoice is made with it. */
function startOf(i: InvoiceRow | null, p: PaymentRow): number {
  return (i?.platformCreatedAt ?? p.recordedAt).getTime();
}

/** When a person is told that a signup's money may come too late for its subscription; null: it has none, or the money is not waited for. */
export function signupLateAt(i: InvoiceRow | null, p: PaymentRow): Date | null {
  const isFirst = i === null || i.billingReason === null || i.billingReason === SIGNUP_REASON;
  const over = i !== null && isOver(i.platformStatus);
  return isUnsettled(p) && isFirst && !over ? new Date(startOf(i, p) + SIGNUP_OVERDUE_MS) : null;
}

const clears = {
  'charge-unconfirmed': 'its confirmation is no longer awaited',
  'charge-unsettled': 'its money is no longer awaited',
};

/** Nothing is marked before the money is there, so Stripe may end the subscription first: a person is told well before. */
export const unsettledItems = itemRule(clears, function* (lane) {
  const { invoice, payments, reviews } = lane.toState();
  for (const p of payments) {
    if (p.signupId === null || !isUnsettled(p)) continue;
    const at = signupLateAt(invoice, p);
    const isOpen = reviews.some((r) => r.kind === 'signup_overdue' && r.subject === p.id && r.status === 'open');
    if (at === null ? !isOpen : !lane.isPast(at)) continue; // an item holds until the money is there, whatever the invoice becomes
    const ends = new Date(startOf(invoice, p) + SIGNUP_ENDS_MS);
    yield { kind: 'signup_overdue', about: p, fact: lateCharge(p, ends), dueAt: ends };
  }
});

function lateCharge(p: PaymentRow, ends: Date): Holds<keyof typeof clears>['fact'] {
  const amount = p.amount === null ? null : { minor: p.amount, currency: p.currency };
  const since = (p.pendingSince ?? p.recordedAt).toISOString();
  const code = p.pendingSince === null ? 'charge-unconfirmed' : 'charge-unsettled';
  return { code, signup: p.signupId, charge: p.processorChargeId, amount, since, endsAt: ends.toISOString() };
}

/** No charge of the signup is known: no event and no lane's own timer would bring it up (overdue-signups.ts). */
export function takeOverdue(lane: Lane, { event: e }: OwnLaneEvent<'signup.overdue'>): Verdict {
  const { signup, customer, since } = e;
  const dueAt = new Date(Date.parse(since) + SIGNUP_ENDS_MS);
  lane.ask({
    kind: 'signup_overdue',
    subject: signup,
    fact: { code: 'signup-unpaid', signup, customer, since },
    dueAt,
  });
  return done('a person is asked');
}

/** The signup has its charge: the lane of its item rests. */
export function takeCompleted(lane: Lane, { event: { signup } }: OwnLaneEvent<'signup.completed'>): Verdict {
  const how = { by: null, resolution: 'cleared', note: 'the signup was completed' } as const;
  lane.apply((s, ctx) => closeReviews(s, ctx, (r) => r.kind === 'signup_overdue' && r.subject === signup, how));
  return done();
}
