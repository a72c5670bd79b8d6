// Compares one invoice in the ledger with the invoice on the billing platform. Pure. Every difference is a plain value.
import { PARKING, saysNothing } from '../../../core/books/rules/payment-state.js';
import { surplusRefunded } from '../../../shared/domain/surplus.js';
import { DRAFT_TIMEOUT_MS } from '../../../shared/policy.js';
import { VERIFY_GRACE_MS } from './limits.js';
import { money } from '../../../shared/domain/money.js';
import { verdictBy } from '../../../shared/domain/mor-object.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../shared/domain/refund-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Fact } from '../../../shared/domain/fact.js';
import { codesOf } from '../../../shared/domain/ports/call.js';
import { type InvoiceFacts, type InvoicePaymentFacts } from '../../../shared/domain/ports/billing-platform.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { type Difference, type OurInvoice } from '../../../shared/domain/difference.js';
import { aboutOf, finding, reviewOf } from './findings.js';

/**
 * Compares our own records alone: finds unfinished payments and refunds, and missing verdicts.
 * @param graceMs work younger than this, in milliseconds, is still under way
 */
export function compareWithin(invoice: OurInvoice, now: Date, graceMs = VERIFY_GRACE_MS): Difference[] {
  const { invoiceId, platformStatus } = invoice.invoice;
  const isSettled = (since: Date): boolean => now.getTime() - since.getTime() >= graceMs;
  const gaps = invoice.openReviews.filter((r) => r.kind === 'refund_gap');
  const differences = [
    ...invoice.payments.flatMap((p) => unmarked(invoice, p, now, isSettled)),
    ...invoice.refunds.flatMap((r) => unmirrored(invoice, r, now, isSettled)),
    ...gaps.map((r) => finding.refundGap({ invoiceId, reviewId: r.id }, { fact: inCodes(r.fact) })),
  ];
  const by = verdictBy(invoice.invoice, invoice.objects);
  const isUnpaid = platformStatus === 'open' || platformStatus === 'draft';
  if (by !== null && by < now && isUnpaid && invoice.payments.every(saysNothing)) {
    const reviewId = reviewOf(invoice, (r) => r.kind === 'renewal_overdue');
    differences.push(finding.noVerdict({ invoiceId, reviewId }, {}));
  }
  if (invoice.invoice.leftOut === true && platformStatus === 'open' && invoice.payments.length === 0) {
    const reviewId = reviewOf(invoice, (r) => r.kind === 'signup_overdue');
    differences.push(finding.leftOut({ invoiceId, reviewId }, {}));
  }
  return differences;
}

/** The fact with the code of a refusal in place of its words: a run and the ids of its differences outlive an erasure. */
function inCodes(fact: Fact): Fact {
  if (fact.code !== 'request-refused') return fact;
  return { ...fact, said: codesOf({ status: fact.status, code: fact.error, message: '' }) };
}

type IsSettled = (since: Date) => boolean;

function unmarked(invoice: OurInvoice, payment: PaymentRow, now: Date, isSettled: IsSettled): Difference[] {
  if (
    payment.succeededAt === null ||
    payment.amount === null ||
    payment.mark === 'confirmed' ||
    payment.mark === 'closed'
  )
    return [];
  // An item about a dispute or a fraud alert on the payment does not explain why the payment is not marked.
  const explains = (item: ReviewRow): boolean => item.paymentRowId === payment.id && asksAbout(item, payment.mark);
  const reviewId = reviewOf(invoice, (r) => explains(r) || r.kind === 'finalization_failed');
  if (reviewId === null && (isWaiting(invoice, payment, now) || !isSettled(payment.recordedAt))) return [];
  return [
    finding.unmarked(
      { ...aboutOf(payment), reviewId },
      { taken: money(payment.amount, payment.currency), mark: payment.mark },
    ),
  ];
}

/**
 * True if an item of this kind explains why a payment is not marked. After a person chose a refund in the payment's own
 * item, this item is closed: an item about a stuck refund then explains the payment. After a part refund the payment's
 * own item opens again.
 */
function asksAbout({ kind }: ReviewRow, mark: PaymentRow['mark'] | undefined): boolean {
  return PARKING.has(kind) || (mark === 'parked' && kind === 'refund_stuck');
}

/** True while Crossbill still waits for Stripe to finalize the draft behind the payment, up to `DRAFT_TIMEOUT_MS`. */
function isWaiting(invoice: OurInvoice, payment: PaymentRow, now: Date): boolean {
  const early = now.getTime() - payment.recordedAt.getTime() < DRAFT_TIMEOUT_MS;
  return early && payment.mark === 'held' && invoice.invoice.platformStatus === 'draft';
}

function unmirrored(invoice: OurInvoice, refund: RefundRow, now: Date, isSettled: IsSettled): Difference[] {
  if (refund.status !== 'succeeded' || refund.mirror === 'done' || refund.mirror === 'not_needed') return [];
  const payment = invoice.payments.find((p) => p.id === refund.paymentRowId);
  // A refund waits for the mark of its payment, so an item about the payment explains the refund too.
  const explains = (item: ReviewRow): boolean =>
    item.refundId === refund.id ||
    (item.paymentRowId === refund.paymentRowId && (asksAbout(item, payment?.mark) || item.kind === 'refund_gap'));
  const reviewId = reviewOf(invoice, explains);
  const waitsForDraft = payment !== undefined && isWaiting(invoice, payment, now);
  if (reviewId === null && (waitsForDraft || !isSettled(refund.succeededAt ?? refund.createdAt))) return [];
  // True if the refund waits for Stripe to show the invoice as paid again, because somebody detached the payment. Only
  // a paid invoice can get the refund's credit note.
  const untilPaid =
    refund.mirror === 'waiting' && payment?.mark === 'confirmed' && invoice.invoice.platformStatus === 'open';
  const facts = { refunded: money(refund.amount, refund.currency), mirror: refund.mirror, untilPaid };
  return [finding.unmirrored({ invoiceId: refund.invoiceId, refundId: refund.id, reviewId }, facts)];
}

/**
 * Finds payments of two invoices with the same charge id. Each pair gives one difference, on the payment without money.
 * If both payments have money, or neither, the difference is on the later payment. Leaves out failed payments, payments
 * waiting for authentication, and payments with the mark `closed`.
 */
export function compareCharges(invoice: OurInvoice): Difference[] {
  const claim = (payment: PaymentRow) => ({
    invoice: payment.invoiceId,
    payment: payment.paymentId ?? payment.id,
    mark: payment.mark,
  });
  return invoice.payments.flatMap((p) => {
    const charge = p.processorChargeId;
    if (charge === null || !claimsCharge(p)) return [];
    const reviewId = reviewOf(invoice, (r) => r.kind === 'double_payment' && r.paymentRowId === p.id);
    return invoice.sameCharge
      .filter((other) => other.processorChargeId === charge && other.invoiceId !== p.invoiceId)
      .filter((other) => claimsCharge(other) && comesAfter(p, other))
      .map((other) => {
        const facts = { charge, first: claim(other), second: claim(p) };
        return finding.chargeTwice({ ...aboutOf(p), objectId: charge, reviewId }, facts);
      });
  });
}

function claimsCharge(payment: PaymentRow): boolean {
  return payment.mark !== 'closed' && payment.status !== 'failed' && payment.status !== 'requires_action';
}

function comesAfter(payment: PaymentRow, other: PaymentRow): boolean {
  if ((payment.succeededAt === null) !== (other.succeededAt === null)) return payment.succeededAt === null;
  const later = payment.recordedAt.getTime() - other.recordedAt.getTime();
  return later > 0 || (later === 0 && payment.id > other.id);
}

/** The payments marked on Stripe, according to the ledger. */
function markedOf(invoice: OurInvoice | null): readonly PaymentRow[] {
  return invoice === null ? [] : invoice.payments.filter((p) => p.mark === 'confirmed' && p.amount !== null);
}

function sumOf(payments: readonly PaymentRow[]): bigint {
  return payments.reduce((n, p) => n + (p.amount ?? 0n), 0n);
}

/**
 * Compares the ledger with the invoice on Stripe. `ours` null: our database does not know the invoice.
 * @param graceMs leaves out an invoice younger than this, in milliseconds. Below the age VERIFY_GRACE_MS the comparison
 * covers only existence and amount: the event of a new status may still be on its way
 */
export function compareInvoice(
  facts: InvoiceFacts,
  ours: OurInvoice | null,
  now: Date,
  graceMs = VERIFY_GRACE_MS,
): Difference[] {
  const { invoiceId, createdAt, status } = facts;
  const age = createdAt === null ? VERIFY_GRACE_MS : Math.abs(now.getTime() - createdAt.getTime());
  if (age < graceMs) return [];
  if (ours === null) {
    if (facts.billingReason === SIGNUP_REASON || facts.amountDue === 0n || status === 'void') return [];
    return [finding.unknownInvoice({ invoiceId }, { invoice: invoiceId, status })];
  }
  const marked = markedOf(ours);
  const [first] = marked;
  // Stripe's paid amount may lack a refunded surplus: the refund removed the surplus, or a mark "paid out of band"
  // never showed it.
  const sum = sumOf(marked) - surplusRefunded(ours.refunds);
  if (first === undefined || (facts.currency === first.currency && facts.amountPaid >= sum))
    return age < VERIFY_GRACE_MS ? [] : pictureDiffers(facts, ours);
  const reviewId = reviewOf(ours, (r) => r.paymentRowId === first.id && PARKING.has(r.kind));
  const paid = money(facts.amountPaid, facts.currency);
  const less = facts.amountPaid === 0n ? finding.nothingPaid : finding.lessPaid;
  return [less({ ...aboutOf(first), reviewId }, { marked: money(sum, first.currency), paid, status })];
}

/**
 * Finds an invoice whose status on Stripe differs from the status in our events. The event of the last change is lost,
 * or Stripe made none.
 */
export function pictureDiffers(facts: Pick<InvoiceFacts, 'invoiceId' | 'status'>, ours: OurInvoice): Difference[] {
  const known = ours.invoice.platformStatus;
  if (known === facts.status) return [];
  return [finding.otherStatus({ invoiceId: facts.invoiceId }, { shown: facts.status, known })];
}

/** True if Stripe shows more paid than the ledger marked. Then verify reads the payments from Stripe. */
export function paidBeyondLedger(facts: InvoiceFacts, ours: OurInvoice | null): boolean {
  return facts.amountPaid > sumOf(markedOf(ours));
}

/**
 * Compares the payments on an invoice, if Stripe shows more paid than Crossbill marked. Money collected by Stripe
 * itself does not concern Crossbill. A payment record or a mark "paid out of band" by somebody else claims money the
 * MoR never reported.
 */
export function compareAttached(
  facts: InvoiceFacts,
  ours: OurInvoice | null,
  attached: readonly InvoicePaymentFacts[],
): Difference[] {
  const known = new Set(ours?.payments.map((p) => p.paymentRecordId));
  const paid = attached.filter((p) => p.status === 'paid');
  // If somebody else's payment on Stripe made Crossbill open an item about a double payment, the difference names this
  // item.
  const doubled = ours === null ? null : reviewOf(ours, (r) => r.kind === 'double_payment');
  const { invoiceId } = facts;
  const differences = paid.flatMap(({ paymentRecordId: record, amountPaid }) => {
    if (record === null || known.has(record)) return [];
    // The record may be our own mark of a parked payment: a restored database lacks the person's choice to mark it.
    const waiting = ours?.payments.find((x) => x.mark === 'parked' && x.amount !== null && x.amount === amountPaid);
    const item = ours && waiting ? reviewOf(ours, (r) => r.paymentRowId === waiting.id) : null;
    const about = { invoiceId, reviewId: item ?? doubled };
    return [finding.foreignRecord(about, { record, waiting: waiting ? aboutOf(waiting).paymentId : null })];
  });
  // A payment entry without a payment record, and not collected by Stripe, comes from a mark "paid out of band".
  const counted = paid.filter((p) => p.paymentRecordId !== null || p.byPlatform);
  const listed = counted.reduce((n, p) => n + (p.amountPaid ?? 0n), 0n);
  const byRecords = new Set(paid.map((p) => p.paymentRecordId));
  const outOfBand = markedOf(ours).filter((p) => p.paymentRecordId === null || !byRecords.has(p.paymentRecordId));
  const remaining = facts.amountPaid - listed - sumOf(outOfBand);
  if (remaining <= 0n || counted.some((p) => p.amountPaid === null)) return differences;
  const amount = money(remaining, facts.currency);
  return [...differences, finding.outOfBand({ invoiceId, reviewId: doubled }, { amount })];
}
