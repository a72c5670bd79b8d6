// The first invoice of a subscription that no signup asks for: somebody made the subscription in Stripe's Dashboard, or
// a schedule did. The MoR ignores such an invoice (Document 3, "What the service does", 4), so nobody charges it.
import { isLiveProforma, isPayableLink } from '../../../shared/domain/mor-object.js';
import { isOutside, SIGNUP_REASON } from '../../../shared/domain/status.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { money } from '../../../shared/domain/money.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { type LeftOutQuestion, type Lookup } from '../../../engine/lookup.js';
import { DAY_MS, SIGNUP_OVERDUE_MS } from '../../../shared/policy.js';

/** An open first invoice with an amount due that nothing known can pay. Null: the lane's invoice is no such one. */
function findUnpaid(lane: Lane): InvoiceRow | null {
  const i = lane.invoice;
  if (i === null || i.billingReason !== SIGNUP_REASON || i.platformStatus !== 'open' || isOutside(lane)) return null;
  if ((i.amountDue ?? 0n) <= 0n || lane.payments.length > 0) return null;
  return lane.objects.some((o) => isLiveProforma(o) || isPayableLink(o, lane.now)) ? null : i;
}

const madeAt = (invoice: InvoiceRow): number => (invoice.platformCreatedAt ?? invoice.firstSeenAt).getTime();

/**
 * Asks once whether a signup may still pay the invoice. Most shoppers who leave are new, and Stripe ends their
 * subscription: only a customer of the MoR without a signup for this invoice is news.
 */
export const leftOutLookup: Lookup<LeftOutQuestion, boolean> = {
  name: 'ask-signup',
  wanted: (lane) => {
    const i = findUnpaid(lane);
    if (i === null || i.customerId === null || i.leftOut !== null) return null;
    if (!lane.isPast(new Date(madeAt(i) + SIGNUP_OVERDUE_MS))) return null;
    // Some sites make the subscription after the signup's intent: a signup of the day before may still pay.
    return { customerId: i.customerId, since: new Date(madeAt(i) - DAY_MS) };
  },
  ask: (question, { signups }) => signups.leavesOut(question),
  apply: (lane, leftOut) => {
    if (lane.invoice !== null) lane.invoice.leftOut = leftOut;
  },
};

const clears = { 'first-invoice-unpaid': 'the invoice is over, or something can pay it' };

export const leftOutItems = itemRule(clears, function* (lane) {
  const i = findUnpaid(lane);
  if (i?.leftOut !== true || i.amountDue === null || i.currency === null) return;
  const since = new Date(madeAt(i)).toISOString();
  const fact = {
    code: 'first-invoice-unpaid',
    customer: i.customerId,
    due: money(i.amountDue, i.currency),
    since,
  } as const;
  yield { kind: 'signup_overdue', about: { id: i.invoiceId }, fact };
});
