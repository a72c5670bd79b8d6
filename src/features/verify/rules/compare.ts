// Compares one invoice in the ledger with the invoice on the billing platform. Pure. Every difference is a plain value.
import { PARKING, saysNothing } from '../../../core/books/rules/payment-rows.js';
import { surplusRefunded } from '../../../shared/domain/surplus.js';
import { DRAFT_TIMEOUT_MS, VERIFY_GRACE_MS } from '../../../shared/policy.js';
import { money } from '../../../shared/domain/money.js';
import { verdictBy } from '../../../shared/domain/mor-object.js';
import { type PaymentRow, type RefundRow, type ReviewRow } from '../../../shared/domain/model.js';
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
export function compareWithin(o: OurInvoice, now: Date, graceMs = VERIFY_GRACE_MS): Difference[] {
  const { invoiceId, platformStatus } = o.invoice;
  const isSettled = (since: Date): boolean => now.getTime() - since.getTime() >= graceMs;
  const gaps = o.openReviews.filter((r) => r.kind === 'refund_gap');
  const differences = [
    ...o.payments.flatMap((p) => unmarked(o, p, now, isSettled)),
    ...o.refunds.flatMap((r) => unmirrored(o, r, now, isSettled)),
    ...gaps.map((r) => finding.refundGap({ invoiceId, reviewId: r.id }, { fact: inCodes(r.fact) })),
  ];
  const by = verdictBy(o.invoice, o.objects);
  const isUnpaid = platformStatus === 'open' || platformStatus === 'draft';
  if (by !== null && by < now && isUnpaid && o.payments.every(saysNothing)) {
    const reviewId = reviewOf(o, (r) => r.kind === 'renewal_overdue');
    differences.push(finding.noVerdict({ invoiceId, reviewId }, {}));
  }
  if (o.invoice.leftOut === true && platformStatus === 'open' && o.payments.length === 0) {
    const reviewId = reviewOf(o, (r) => r.kind === 'signup_overdue');
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

function unmarked(o: OurInvoice, p: PaymentRow, now: Date, isSettled: IsSettled): Difference[] {
  if (p.succeededAt === null || p.amount === null || p.mark === 'confirmed' || p.mark === 'closed') return [];
  // An item about a dispute or a fraud alert on the payment does not explain why the payment is not marked.
  const explains = (r: ReviewRow): boolean => r.paymentRowId === p.id && asksAbout(r, p.mark);
  const reviewId = reviewOf(o, (r) => explains(r) || r.kind === 'finalization_failed');
  if (reviewId === null && (isWaiting(o, p, now) || !isSettled(p.recordedAt))) return [];
  return [finding.unmarked({ ...aboutOf(p), reviewId }, { taken: money(p.amount, p.currency), mark: p.mark })];
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
function isWaiting(o: OurInvoice, p: PaymentRow, now: Date): boolean {
  const early = now.getTime() - p.recordedAt.getTime() < DRAFT_TIMEOUT_MS;
  return early && p.mark === 'held' && o.invoice.platformStatus === 'draft';
}

function unmirrored(o: OurInvoice, r: RefundRow, now: Date, isSettled: IsSettled): Difference[] {
  if (r.status !== 'succeeded' || r.mirror === 'done' || r.mirror === 'not_needed') return [];
  const payment = o.payments.find((p) => p.id === r.paymentRowId);
  // A refund waits for the mark of its payment, so an item about the payment explains the refund too.
  const explains = (x: ReviewRow): boolean =>
    x.refundId === r.id ||
    (x.paymentRowId === r.paymentRowId && (asksAbout(x, payment?.mark) || x.kind === 'refund_gap'));
  const reviewId = reviewOf(o, explains);
  const waitsForDraft = payment !== undefined && isWaiting(o, payment, now);
  if (reviewId === null && (waitsForDraft || !isSettled(r.succeededAt ?? r.createdAt))) return [];
  // True if the refund waits for Stripe to show the invoice as paid again, because somebody detached the payment. Only
  // a paid invoice can get the refund's credit note.
  const untilPaid = r.mirror === 'waiting' && payment?.mark === 'confirmed' && o.invoice.platformStatus === 'open';
  const facts = { refunded: money(r.amount, r.currency), mirror: r.mirror, untilPaid };
  return [finding.unmirrored({ invoiceId: r.invoiceId, refundId: r.id, reviewId }, facts)];
}

/**
 * Finds payments of two invoices with the same charge id. Each pair gives one difference, on the payment without money.
 * If both payments have money, or neither, the difference is on the later payment. Leaves out failed payments, payments
 * waiting for authentication, and payments with the mark `closed`.
 */
export function compareCharges(o: OurInvoice): Difference[] {
  const claim = (p: PaymentRow) => ({ invoice: p.invoiceId, payment: p.paymentId ?? p.id, mark: p.mark });
  return o.payments.flatMap((p) => {
    const charge = p.processorChargeId;
    if (charge === null || !claimsCharge(p)) return [];
    const reviewId = reviewOf(o, (r) => r.kind === 'double_payment' && r.paymentRowId === p.id);
    return o.sameCharge
      .filter((other) => other.processorChargeId === charge && other.invoiceId !== p.invoiceId)
      .filter((other) => claimsCharge(other) && comesAfter(p, other))
      .map((other) => {
        const facts = { charge, first: claim(other), second: claim(p) };
        return finding.chargeTwice({ ...aboutOf(p), objectId: charge, reviewId }, facts);
      });
  });
}

function claimsCharge(p: PaymentRow): boolean {
  return p.mark !== 'closed' && p.status !== 'failed' && p.status !== 'requires_action';
}

function comesAfter(p: PaymentRow, other: PaymentRow): boolean {
  if ((p.succeededAt === null) !== (other.succeededAt === null)) return p.succeededAt === null;
  const later = p.recordedAt.getTime() - other.recordedAt.getTime();
  return later > 0 || (later === 0 && p.id > other.id);
}

/** The payments marked on Stripe, according to the ledger. */
function markedOf(o: OurInvoice | null): readonly PaymentRow[] {
  return o === null ? [] : o.payments.filter((p) => p.mark === 'confirmed' && p.amount !== null);
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
