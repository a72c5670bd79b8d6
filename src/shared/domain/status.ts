// The statuses of invoices and payments, as the API and the console show them.
import { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus } from './invoice-row.js';
import { type LaneRows } from './model.js';
import { type PaymentRow, type PaymentStatus } from './payment-row.js';
import { type RefundRow } from './refund-row.js';

/** Stripe's reason for a signup's first invoice. Document 3, rule 4: it is paid at signup and is no renewal. */
export const SIGNUP_REASON = 'subscription_create';

/** True for an invoice that needs no more money: paid, void or deleted. A customer can pay an uncollectible one. */
export function isOver(status: PlatformStatus): boolean {
  return status === 'paid' || status === 'void' || status === 'deleted';
}

/** True while Stripe accepts a payment for the invoice. */
export function isPayable(invoice: InvoiceRow | null): boolean {
  return invoice?.platformStatus === 'open' || invoice?.platformStatus === 'uncollectible';
}

/**
 * True if the customer is not enrolled and the MoR has no part in the invoice. A payment at the MoR, or a request to
 * the MoR, gives the MoR a part.
 */
export function isOutside({
  invoice,
  payments,
  objects = [],
}: {
  readonly invoice: Pick<InvoiceRow, 'enrolled'> | null;
  readonly payments: readonly unknown[];
  readonly objects?: readonly unknown[];
}): boolean {
  return invoice?.enrolled === false && payments.length === 0 && objects.length === 0;
}

/**
 * The status of the invoice for the API. Settled money counts first: a paid invoice never becomes unpaid. Next comes
 * money waiting for a person, then money under way, then the platform's status, then the MoR's verdict.
 */
export function publicStatus(lane: LaneRows): PublicInvoiceStatus {
  const { invoice, payments } = lane;
  if (isOutside(lane)) return 'ignored'; // even if Stripe shows another status
  const at = (stages: readonly string[]): boolean => payments.some((p) => stages.includes(p.mark));
  if (onlyPartPaid(lane)) return at(['parked']) ? 'review' : 'open';
  if (at(['confirmed']) || invoice?.platformStatus === 'paid') return at(['attaching', 'paying']) ? 'marking' : 'paid';
  if (at(['parked'])) return 'review';
  if (at(['waiting', 'finalizing', 'reporting', 'attaching', 'referencing', 'paying'])) return 'marking';
  // A settled charge waiting for its proof. A bank debit with `pendingSince` has not settled, so it does not count
  // here.
  if (payments.some((p) => p.mark === 'proving' && p.pendingSince === null)) return 'marking';
  if (at(['held'])) return 'held';
  if (invoice?.platformStatus === 'void' || invoice?.platformStatus === 'deleted') return 'void';
  if (payments.length > 0) return 'open'; // refused, refunded, or not settled yet
  if (invoice?.leftOut === true && lane.reviews.some((r) => r.status === 'open')) return 'review';
  if (invoice?.billingReason === SIGNUP_REASON || invoice?.amountDue === 0n) return 'ignored';
  if (onlyItemNames(lane)) return lane.reviews.some((r) => r.status === 'open') ? 'review' : 'ignored';
  return 'expected';
}

/** True if Crossbill knows the invoice only from a review item: nothing says that anybody charges it. */
function onlyItemNames({ invoice, objects, reviews }: LaneRows): boolean {
  return invoice?.platformStatus === 'unknown' && objects.length === 0 && reviews.length > 0;
}

/** True if a person applied a part of a transfer to the invoice, and the invoice waits for the missing part. */
function onlyPartPaid({ invoice, payments }: LaneRows): boolean {
  if (invoice === null || !isPayable(invoice)) return false;
  const marked = payments.filter((p) => p.mark === 'confirmed');
  const parts = marked.every((p) => p.waived.includes('amount_mismatch'));
  return marked.length > 0 && parts && invoice.amountRemaining !== null && invoice.amountRemaining > 0n;
}

/** The payment's status from our own records, in the words of Document 3, "Payment status as delivered in events". */
export function paymentStatus(payment: PaymentRow, refunded: bigint): PaymentStatus {
  if (refunded > 0n) return payment.amount !== null && refunded >= payment.amount ? 'refunded' : 'partially_refunded';
  return payment.succeededAt !== null ? 'succeeded' : payment.status;
}

/** True while the MoR may still make the refund. */
export function isOnItsWay({ status }: Pick<RefundRow, 'status'>): boolean {
  return status === 'requested' || status === 'unknown' || status === 'pending';
}

/**
 * The part of a payment left to refund: without refunds made or under way, and without money taken back by a bank. Zero
 * if the amount is unknown.
 * @param lost the amount lost in disputes (Document 3: a charged back payment cannot be refunded)
 */
export function refundable(payment: PaymentRow, refunds: readonly RefundRow[], lost: bigint): bigint {
  if (payment.amount === null || payment.succeededAt === null) return 0n;
  const reserved = refunds
    .filter((r) => r.paymentRowId === payment.id && r.status !== 'failed' && r.status !== 'joined')
    .reduce((sum, r) => sum + r.amount, 0n);
  const reported = payment.refundedTotal ?? 0n; // the MoR's total may count refunds before their events arrive
  const gone = (reserved > reported ? reserved : reported) + lost;
  return gone >= payment.amount ? 0n : payment.amount - gone;
}
