// The completion of a signup makes the browser's charge the payment of the first invoice. Without payment Stripe ends
// the subscription after 23 hours. So an item reports a signup without money five hours earlier.
import { type Mutable } from '../../../shared/domain/row.js';
import { isSameFact } from '../../../shared/domain/fact.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { money, type Money, sameMoney, showMoney } from '../../../shared/domain/money.js';
import { isOver, SIGNUP_REASON } from '../../../shared/domain/status.js';
import { refuse, type Result } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type OwnLaneEvent, type EventOutcome } from '../../../engine/event.js';
import { ensureInvoice } from '../../books/rules/invoice-facts.js';
import { type Holds, itemRule } from '../../../engine/items.js';
import { identifyPayment } from '../../books/rules/identify-payment.js';
import { newPayment } from '../../books/rules/payment-rows.js';
import { accept, settleAmount } from '../../books/rules/collect.js';
import { SIGNUP_ENDS_MS, SIGNUP_OVERDUE_MS } from '../../../shared/policy.js';

export type Completion = {
  readonly signupId: string;
  readonly customerId: string;
  readonly morCustomerId: string | null;
  readonly paymentIntentId: string | null;
  readonly chargeId: string;
  /** The MoR's payment id from the browser's result. Null or absent: unknown. */
  readonly paymentId?: string | null;
  /** The amount of the signup's intent. The MoR takes exactly this amount. */
  readonly asked: Money;
  /** The amount reported by the merchant's backend. */
  readonly said: Money;
};

/**
 * Records the payment of the first invoice. The payment counts at once with `SIGNUP_CHARGE_CHECK=off`, or after a
 * proof: the MoR confirms the charge's `psp_reference`, or an event names the charge or intent. If the merchant's
 * backend reports another amount than the signup's, a person decides first: Document 3 has no look-up for the amount.
 */
export function completeSignup(lane: Lane, completion: Completion): Result<PaymentRow> {
  const p = applyCompletion(lane, completion);
  if (p === null)
    return refuse(409, 'charge_already_used', 'This charge is already the payment of another signup.', 'charge_id');
  if (completion.paymentId === undefined || completion.paymentId === null) return { ok: true, value: { ...p } };
  return identifyPayment(lane, p.id, completion.paymentId, `signup ${completion.signupId}`);
}

/** The payment of the completion. Null if the charge already belongs to another signup's payment. */
function applyCompletion(lane: Lane, completion: Completion): Mutable<PaymentRow> | null {
  ensureInvoice(lane);
  const { minor: amount, currency } = completion.asked;
  const ids = {
    processorChargeId: completion.chargeId,
    reference: completion.chargeId,
    signupId: completion.signupId,
    origin: 'signup',
  } as const;
  const p = lane.payments.find(
    (x) =>
      x.processorChargeId === completion.chargeId ||
      (completion.paymentIntentId !== null && x.processorPaymentIntentId === completion.paymentIntentId),
  );
  if (p === undefined) {
    const intent = {
      processorPaymentIntentId: completion.paymentIntentId,
      status: 'processing',
      mark: 'proving',
    } as const;
    const of = { invoiceId: lane.lane, customerId: completion.customerId, currency, amount, ...ids, ...intent };
    return awaitProof(lane, lane.add('payments', newPayment(lane.ctx, of)), completion);
  }
  if (p.signupId !== null && p.signupId !== completion.signupId) return null;
  p.signupId = completion.signupId;
  // Perhaps the MoR declined an earlier try with this intent. The decline is not about the present charge.
  if (p.succeededAt === null && p.mark === 'none') {
    moveMark(p, 'proving', { ...ids, status: 'processing', amount, currency, recordedAt: lane.now });
    return awaitProof(lane, p, completion);
  }
  compareAmounts(lane, p, completion);
  return p;
}

function awaitProof(lane: Lane, payment: Mutable<PaymentRow>, completion: Completion): Mutable<PaymentRow> {
  lane.log(
    'person',
    `signup ${completion.signupId} names charge ${completion.chargeId} of ${showMoney(completion.said)}`,
    payment,
  );
  compareAmounts(lane, payment, completion);
  if (lane.settings.signupChargeCheck !== 'psp_reference') accept(lane, payment, 'SIGNUP_CHARGE_CHECK is off');
  return payment;
}

/**
 * If the reported amount differs from the recorded one, a person decides, and the mark waits. A later report of the
 * right amount closes the item.
 */
function compareAmounts(lane: Lane, payment: Mutable<PaymentRow>, completion: Completion): void {
  if (payment.amount === null) return;
  const recorded = money(payment.amount, payment.currency);
  if (sameMoney(recorded, completion.said))
    return settleAmount(lane, payment, 'the signup was completed with the right amount');
  const facts = { signup: completion.signupId, charge: completion.chargeId, stated: completion.said, asked: recorded };
  const fact = { code: 'completed-otherwise', ...facts, failed: null } as const;
  // A person has already decided about the same difference, so a repeated request opens no new item.
  const isSettled = (item: ReviewRow): boolean =>
    item.fact.code === 'completed-otherwise' && isSameFact({ ...item.fact, failed: null }, fact);
  if (lane.reviews.some((r) => isSettled(r) && r.resolution !== 'cleared')) return;
  lane.openReview({ kind: 'amount_mismatch', subject: completion.signupId, paymentRowId: payment.id, fact });
}

/**
 * True if the MoR has not confirmed the money yet. Crossbill asks again: for hours if the MoR does not know the charge,
 * for days if the MoR knows the charge, and without end if the MoR does not reply.
 */
export function isUnsettled(payment: PaymentRow): boolean {
  return payment.mark === 'proving' && (payment.pendingSince !== null || payment.proveAttempts > 0);
}

/** The start of the subscription: Stripe's time of its first invoice or, if unknown, the time of the payment's row. */
function startOf(invoice: InvoiceRow | null, payment: PaymentRow): number {
  return (invoice?.platformCreatedAt ?? payment.recordedAt).getTime();
}

/** When to open an item, because a signup's money may come too late for its subscription. Null: never. */
export function signupLateAt(invoice: InvoiceRow | null, payment: PaymentRow): Date | null {
  const isFirst = invoice === null || invoice.billingReason === null || invoice.billingReason === SIGNUP_REASON;
  const over = invoice !== null && isOver(invoice.platformStatus);
  return isUnsettled(payment) && isFirst && !over ? new Date(startOf(invoice, payment) + SIGNUP_OVERDUE_MS) : null;
}

const clears = {
  'charge-unconfirmed': 'Crossbill no longer waits for the confirmation of the charge',
  'charge-unsettled': 'Crossbill no longer waits for the money of the charge',
};

/**
 * Items for signups without money. Crossbill marks nothing before the money arrives, and Stripe may end the
 * subscription first. So the item warns a person well before.
 */
export const unsettledItems = itemRule(clears, function* (lane) {
  const { invoice, payments, reviews } = lane;
  for (const p of payments) {
    if (p.signupId === null || !isUnsettled(p)) continue;
    const at = signupLateAt(invoice, p);
    const isOpen = reviews.some((r) => r.kind === 'signup_overdue' && r.subject === p.id && r.status === 'open');
    if (at === null ? !isOpen : !lane.isPast(at)) continue; // an open item stays until the money arrives
    const ends = new Date(startOf(invoice, p) + SIGNUP_ENDS_MS);
    yield { kind: 'signup_overdue', about: p, fact: lateCharge(p, ends), dueAt: ends };
  }
});

function lateCharge(payment: PaymentRow, ends: Date): Holds<keyof typeof clears>['fact'] {
  const amount = payment.amount === null ? null : { minor: payment.amount, currency: payment.currency };
  const since = (payment.pendingSince ?? payment.recordedAt).toISOString();
  const code = payment.pendingSince === null ? 'charge-unconfirmed' : 'charge-unsettled';
  return {
    code,
    signup: payment.signupId,
    charge: payment.processorChargeId,
    amount,
    since,
    endsAt: ends.toISOString(),
  };
}

/**
 * Opens an item about a signup without a known charge. overdue-signups.ts makes this event, because neither Stripe nor
 * the MoR reports such a signup.
 */
export function applyOverdue(lane: Lane, { event: e }: OwnLaneEvent<'signup.overdue'>): EventOutcome {
  const { signup, customer, since } = e;
  const dueAt = new Date(Date.parse(since) + SIGNUP_ENDS_MS);
  lane.openReview({
    kind: 'signup_overdue',
    subject: signup,
    fact: { code: 'signup-unpaid', signup, customer, since },
    dueAt,
  });
  return done('Crossbill asks a person');
}

/** Closes the item of a signup that now has its charge. */
export function applyCompleted(lane: Lane, { event: { signup } }: OwnLaneEvent<'signup.completed'>): EventOutcome {
  const how = { by: null, resolution: 'cleared', note: 'the signup was completed' } as const;
  lane.closeItems((r) => r.kind === 'signup_overdue' && r.subject === signup, how);
  return done();
}
