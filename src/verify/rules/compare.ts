// Compares what the ledger says of one invoice with what the billing platform shows. Pure; every difference is a plain value.
import { sentencesOf } from '../../reviews/rules/words.js';
import { PARKING, saysNothing } from '../../engine/payment.js';
import { surplusRefunded } from '../../domain/surplus.js';
import { DRAFT_PATIENCE_MS, VERIFY_GRACE_MS } from '../../policy.js';
import { showMoney } from '../../domain/money.js';
import { verdictBy } from '../../domain/mor-object.js';
import { type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { type InvoiceFacts, type InvoicePaymentFacts } from '../../domain/ports/billing-platform.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import { type Difference, type DifferenceKind, type OurInvoice, type Repair } from '../../domain/difference.js';

type About = Partial<Pick<Difference, 'invoiceId' | 'paymentId' | 'refundId' | 'eventId' | 'objectId' | 'reviewId'>>;

/** Ids outside `about` are null. */
export function difference(kind: DifferenceKind, repair: Repair, detail: string, about: About): Difference {
  const none = { invoiceId: null, paymentId: null, refundId: null, eventId: null, objectId: null, reviewId: null };
  return { kind, detail, repair, ...none, ...about };
}

/** The open item about it; null: there is none. */
export function reviewOf(o: OurInvoice, match: (r: ReviewRow) => boolean): string | null {
  return o.openReviews.find(match)?.id ?? null;
}

export function aboutOf(p: PaymentRow): { readonly invoiceId: string; readonly paymentId: string } {
  return { invoiceId: p.invoiceId, paymentId: p.paymentId ?? p.id };
}

export const show = (minor: bigint, currency: string): string => showMoney({ minor, currency });

/**
 * Our own books alone: money and refunds without their end, and missing verdicts.
 * @param graceMs younger work, in milliseconds, is under way
 */
export function compareWithin(o: OurInvoice, now: Date, graceMs = VERIFY_GRACE_MS): Difference[] {
  const { invoiceId, platformStatus } = o.invoice;
  const isSettled = (since: Date): boolean => now.getTime() - since.getTime() >= graceMs;
  const gaps = o.openReviews.filter((r) => r.kind === 'refund_gap');
  const found = [
    ...o.payments.flatMap((p) => unmarked(o, p, now, isSettled)),
    ...o.refunds.flatMap((r) => unmirrored(o, r, now, isSettled)),
    ...gaps.map((r) => difference('amount_differs', 'person', sentencesOf(r).summary, { invoiceId, reviewId: r.id })),
  ];
  const by = verdictBy(o.invoice, o.objects ?? []);
  const isUnpaid = platformStatus === 'open' || platformStatus === 'draft';
  if (by !== null && by < now && isUnpaid && o.payments.every(saysNothing)) {
    const about = { invoiceId, reviewId: reviewOf(o, (r) => r.kind === 'renewal_overdue') };
    found.push(difference('no_verdict', 'person', 'the MoR has not said whether it charged', about));
  }
  return found;
}

type IsSettled = (since: Date) => boolean;

function unmarked(o: OurInvoice, p: PaymentRow, now: Date, isSettled: IsSettled): Difference[] {
  if (p.succeededAt === null || p.amount === null || p.mark === 'confirmed' || p.mark === 'closed') return [];
  // A dispute or an alert on the payment is no reason for a missing mark.
  const explains = (r: ReviewRow): boolean => r.paymentRowId === p.id && asksAbout(r, p.mark);
  const reviewId = reviewOf(o, (r) => explains(r) || r.kind === 'finalization_failed');
  if (reviewId === null && (isWaiting(o, p, now) || !isSettled(p.recordedAt))) return [];
  const detail = `${show(p.amount, p.currency)} was taken and is not marked on Stripe (${p.mark})`;
  return [difference('charged_not_marked', 'look-again', detail, { ...aboutOf(p), reviewId })];
}

/** A pending refund by a person closes the payment's own item. The item comes back unless the refund returns everything. */
function asksAbout({ kind }: ReviewRow, mark: PaymentRow['mark'] | undefined): boolean {
  return PARKING.has(kind) || (mark === 'parked' && kind === 'refund_stuck');
}

/** Held for Stripe's draft: an hour, or three days. */
function isWaiting(o: OurInvoice, p: PaymentRow, now: Date): boolean {
  const early = now.getTime() - p.recordedAt.getTime() < DRAFT_PATIENCE_MS;
  return early && p.mark === 'held' && o.invoice.platformStatus === 'draft';
}

function unmirrored(o: OurInvoice, r: RefundRow, now: Date, isSettled: IsSettled): Difference[] {
  if (r.status !== 'succeeded' || r.mirror === 'done' || r.mirror === 'not_needed') return [];
  const payment = o.payments.find((p) => p.id === r.paymentRowId);
  // A refund waits for its payment's mark: an item about the payment explains the refund too.
  const explains = (x: ReviewRow): boolean =>
    x.refundId === r.id ||
    (x.paymentRowId === r.paymentRowId && (asksAbout(x, payment?.mark) || x.kind === 'refund_gap'));
  const reviewId = reviewOf(o, explains);
  const waitsForDraft = payment !== undefined && isWaiting(o, payment, now);
  if (reviewId === null && (waitsForDraft || !isSettled(r.succeededAt ?? r.createdAt))) return [];
  // A detached payment opens its invoice again, and a credit note needs a paid one.
  const waitsForRest = r.mirror === 'waiting' && payment?.mark === 'confirmed' && o.invoice.platformStatus === 'open';
  const why = waitsForRest ? ': it waits until the rest of the invoice is paid' : ` (${r.mirror})`;
  const detail = `${show(r.amount, r.currency)} was refunded and does not show on Stripe${why}`;
  const about = { invoiceId: r.invoiceId, refundId: r.id, reviewId };
  return [difference('refund_not_mirrored', 'look-again', detail, about)];
}

/**
 * Payments of two invoices with one charge. Each pair has one difference: on the payment outside the books, or on the later one. A payment
 * that was returned or set aside by a person no longer counts.
 */
export function compareCharges(o: OurInvoice): Difference[] {
  return o.payments.flatMap((p) =>
    (o.sameCharge ?? []).flatMap((other) => {
      if (p.processorChargeId !== other.processorChargeId || p.invoiceId === other.invoiceId) return [];
      if (!claimsCharge(p) || !claimsCharge(other) || !comesAfter(p, other)) return [];
      const about = aboutOf(p);
      const first = `payment ${aboutOf(other).paymentId} of invoice ${other.invoiceId} (${other.mark})`;
      const second = `payment ${about.paymentId} of invoice ${p.invoiceId} (${p.mark})`;
      const detail = `charge ${p.processorChargeId ?? ''} is named by ${first} and by ${second}`;
      const reviewId = reviewOf(o, (r) => r.kind === 'double_payment' && r.paymentRowId === p.id);
      const ids = { ...about, objectId: p.processorChargeId, reviewId };
      return [difference('charge_on_two_invoices', 'person', detail, ids)];
    }),
  );
}

function claimsCharge(p: PaymentRow): boolean {
  return p.processorChargeId !== null && p.mark !== 'closed' && p.status !== 'failed' && p.status !== 'requires_action';
}

function comesAfter(p: PaymentRow, other: PaymentRow): boolean {
  if ((p.succeededAt === null) !== (other.succeededAt === null)) return p.succeededAt === null;
  const later = p.recordedAt.getTime() - other.recordedAt.getTime();
  return later > 0 || (later === 0 && p.id > other.id);
}

/** The marks of the ledger on Stripe. */
function markedOf(o: OurInvoice | null): readonly PaymentRow[] {
  return o === null ? [] : o.payments.filter((p) => p.mark === 'confirmed' && p.amount !== null);
}

function sumOf(payments: readonly PaymentRow[]): bigint {
  return payments.reduce((n, p) => n + (p.amount ?? 0n), 0n);
}

/**
 * The ledger against the invoice on Stripe. `ours` null: unknown here.
 * @param graceMs a younger invoice, in milliseconds, is under way. Before VERIFY_GRACE_MS its status alone is no difference, since its news
 * takes a while to arrive; a lost event or other money is one.
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
    const detail = `invoice ${invoiceId} (${status}) never arrived here`;
    return [difference('event_never_delivered', 'look-again', detail, { invoiceId })];
  }
  const marked = markedOf(ours);
  const [first] = marked;
  // Stripe need not show a surplus after its return; out of band it never did.
  const sum = sumOf(marked) - surplusRefunded(ours.refunds);
  if (first === undefined || (facts.currency === first.currency && facts.amountPaid >= sum))
    return age < VERIFY_GRACE_MS ? [] : pictureDiffers(facts, ours);
  const paid = show(facts.amountPaid, facts.currency);
  const detail = `the ledger marked ${show(sum, first.currency)}; Stripe shows ${paid} paid (${status})`;
  const reviewId = reviewOf(ours, (r) => r.paymentRowId === first.id && PARKING.has(r.kind));
  const about = { invoiceId, paymentId: first.paymentId ?? first.id, reviewId };
  return [difference(facts.amountPaid === 0n ? 'charged_not_marked' : 'amount_differs', 'person', detail, about)];
}

/** Stripe shows another status than our events: the event of the change never came. Perhaps Stripe never made it. */
export function pictureDiffers(facts: Pick<InvoiceFacts, 'invoiceId' | 'status'>, ours: OurInvoice): Difference[] {
  const known = ours.invoice.platformStatus;
  if (known === facts.status) return [];
  const detail = `Stripe shows the invoice ${facts.status}; our events say ${known}`;
  return [difference('event_never_delivered', 'look-again', detail, { invoiceId: facts.invoiceId })];
}

/** More is paid than the ledger marked: ask Stripe for the payments. */
export function paidBeyondLedger(facts: InvoiceFacts, ours: OurInvoice | null): boolean {
  return facts.amountPaid > sumOf(markedOf(ours));
}

/**
 * An invoice with more paid than the ledger marked. Stripe's own collections are its own business. A foreign payment record or a mark out of
 * band claims money of the MoR without its word.
 */
export function compareAttached(
  facts: InvoiceFacts,
  ours: OurInvoice | null,
  attached: readonly InvoicePaymentFacts[],
): Difference[] {
  const known = new Set(ours?.payments.map((p) => p.paymentRecordId));
  const paid = attached.filter((p) => p.status === 'paid');
  // The mark may be the reason for the item about a parked payment.
  const reviewId = ours === null ? null : reviewOf(ours, (r) => r.kind === 'double_payment');
  const about = { invoiceId: facts.invoiceId, reviewId };
  const foreign = paid.filter((p) => p.paymentRecordId !== null && !known.has(p.paymentRecordId));
  const found = foreign.map((p) => {
    // A restored database has forgotten the person's decision to let it through.
    const waiting = ours?.payments.find((x) => x.mark === 'parked' && x.amount !== null && x.amount === p.amountPaid);
    const item = ours === null || waiting === undefined ? null : reviewOf(ours, (r) => r.paymentRowId === waiting.id);
    const but =
      waiting === undefined
        ? 'the MoR has reported no payment for it'
        : `payment ${waiting.paymentId ?? waiting.id} of as much waits for a person`;
    const detail = `payment record ${p.paymentRecordId ?? ''} pays the invoice, and ${but}`;
    return difference('marked_not_charged', 'person', detail, { ...about, reviewId: item ?? reviewId });
  });
  // Neither a record nor the platform's own collection: such an entry shows a mark out of band, and is no payment of its own.
  const counted = paid.filter((p) => p.paymentRecordId !== null || p.byPlatform);
  const listed = counted.reduce((n, p) => n + (p.amountPaid ?? 0n), 0n);
  const byRecords = new Set(paid.map((p) => p.paymentRecordId));
  const outOfBand = markedOf(ours).filter((p) => p.paymentRecordId === null || !byRecords.has(p.paymentRecordId));
  const rest = facts.amountPaid - listed - sumOf(outOfBand);
  if (rest <= 0n || counted.some((p) => p.amountPaid === null)) return found;
  const detail = `${show(rest, facts.currency)} was marked paid out of band, and the MoR has reported no payment for it`;
  return [...found, difference('marked_not_charged', 'person', detail, about)];
}
