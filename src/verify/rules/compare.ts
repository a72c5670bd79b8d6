// Compares what the ledger says of one invoice with what the billing platform shows. Pure; every difference is a plain value.
import { sentencesOf } from '../../reviews/rules/words.js';
import { PARKING, saysNothing } from '../../engine/payment.js';
import { saleOf, surplusRefunded } from '../../domain/surplus.js';
import { DRAFT_PATIENCE_MS, VERIFY_GRACE_MS } from '../../policy.js';
import { showMoney } from '../../domain/money.js';
import { verdictBy } from '../../domain/mor-object.js';
import { type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { type CreditNoteFacts } from '../../domain/ports/billing-reader.js';
import { type InvoiceFacts, type InvoicePaymentFacts } from '../../domain/ports/billing-platform.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import { type Difference, type DifferenceKind, type OurInvoice, type Repair } from '../../domain/difference.js';

/** A difference with what is said of it; the rest is nothing unless given. */
export function difference(
  kind: DifferenceKind,
  repair: Repair,
  detail: string,
  about: Partial<Pick<Difference, 'invoiceId' | 'paymentId' | 'refundId' | 'eventId' | 'objectId' | 'reviewId'>>,
): Difference {
  return {
    kind,
    invoiceId: null,
    paymentId: null,
    refundId: null,
    eventId: null,
    objectId: null,
    detail,
    repair,
    reviewId: null,
    ...about,
  };
}

/** The open item that tells of it; null: none does. */
export function reviewOf(o: OurInvoice, match: (r: ReviewRow) => boolean): string | null {
  return o.openReviews.find(match)?.id ?? null;
}

/**
 * What can be said without asking anyone: money and refunds that have not come through, verdicts that did not come.
 * @param graceMs work that began less than this ago, in milliseconds, is under way and no difference
 */
export function compareWithin(o: OurInvoice, now: Date, graceMs = VERIFY_GRACE_MS): Difference[] {
  const { invoice, payments } = o;
  const isSettled = (since: Date): boolean => now.getTime() - since.getTime() >= graceMs;
  const found = [
    ...payments.flatMap((p) => unmarked(o, p, now, isSettled)),
    ...o.refunds.flatMap((r) => unmirrored(o, r, now, isSettled)),
    ...o.openReviews
      .filter((r) => r.kind === 'refund_gap')
      .map((r) =>
        difference('amount_differs', 'person', sentencesOf(r).summary, {
          invoiceId: invoice.invoiceId,
          reviewId: r.id,
        }),
      ),
  ];
  const by = verdictBy(invoice, o.objects ?? []);
  const over = by !== null && by.getTime() < now.getTime();
  if (
    over &&
    payments.every(saysNothing) &&
    (invoice.platformStatus === 'open' || invoice.platformStatus === 'draft')
  ) {
    const reviewId = reviewOf(o, (r) => r.kind === 'renewal_overdue');
    const about = { invoiceId: invoice.invoiceId, reviewId };
    found.push(difference('no_verdict', 'person', 'the MoR has not said whether it charged', about));
  }
  return found;
}

type IsSettled = (since: Date) => boolean;

function unmarked(o: OurInvoice, p: PaymentRow, now: Date, isSettled: IsSettled): Difference[] {
  if (p.succeededAt === null || p.amount === null || p.mark === 'confirmed' || p.mark === 'closed') return [];
  // A dispute or an alert on the payment explains much, but not that it is unmarked.
  const reviewId = reviewOf(
    o,
    (r) => (r.paymentRowId === p.id && asksAbout(r, p.mark)) || r.kind === 'finalization_failed',
  );
  const waitsForDraft = isWaiting(o, p, now);
  if (reviewId === null && (waitsForDraft || !isSettled(p.recordedAt))) return [];
  const detail = `${showMoney({ minor: p.amount, currency: p.currency })} was taken and is not marked on Stripe (${p.mark})`;
  const about = { invoiceId: p.invoiceId, paymentId: p.paymentId ?? p.id, reviewId };
  return [difference('charged_not_marked', 'look-again', detail, about)];
}

/** Its question is closed while a refund that a person chose is pending, and comes back unless that gives all of it back. */
function asksAbout({ kind }: ReviewRow, mark: PaymentRow['mark'] | undefined): boolean {
  return PARKING.has(kind) || (mark === 'parked' && kind === 'refund_stuck');
}

/** Held for Stripe's own hour, or its three days. */
function isWaiting(o: OurInvoice, p: PaymentRow, now: Date): boolean {
  const early = now.getTime() - p.recordedAt.getTime() < DRAFT_PATIENCE_MS;
  return early && p.mark === 'held' && o.invoice.platformStatus === 'draft';
}

function unmirrored(o: OurInvoice, r: RefundRow, now: Date, isSettled: IsSettled): Difference[] {
  if (r.status !== 'succeeded' || r.mirror === 'done' || r.mirror === 'not_needed') return [];
  const payment = o.payments.find((p) => p.id === r.paymentRowId);
  // A refund waits for its payment's mark; the item that keeps that payment explains it too.
  const explains = (x: ReviewRow): boolean =>
    x.refundId === r.id ||
    (x.paymentRowId === r.paymentRowId && (asksAbout(x, payment?.mark) || x.kind === 'refund_gap'));
  const reviewId = reviewOf(o, explains);
  const waitsForDraft = payment !== undefined && isWaiting(o, payment, now);
  if (reviewId === null && (waitsForDraft || !isSettled(r.succeededAt ?? r.createdAt))) return [];
  // Whoever detaches a payment opens its invoice again, and a credit note needs a paid one.
  const waitsForRest = r.mirror === 'waiting' && payment?.mark === 'confirmed' && o.invoice.platformStatus === 'open';
  const why = waitsForRest ? ': it waits until the rest of the invoice is paid' : ` (${r.mirror})`;
  const detail = `${showMoney({ minor: r.amount, currency: r.currency })} was refunded and does not show on Stripe${why}`;
  return [
    difference('refund_not_mirrored', 'look-again', detail, { invoiceId: r.invoiceId, refundId: r.id, reviewId }),
  ];
}

/**
 * One charge is one sum of money, and two invoices' payments name it. Named once: on the payment that is not booked, or the later one.
 * What was given back or set aside by a person counts no more.
 */
export function compareCharges(o: OurInvoice): Difference[] {
  return o.payments.flatMap((p) =>
    (o.sameCharge ?? []).flatMap((other) => {
      if (p.processorChargeId !== other.processorChargeId || p.invoiceId === other.invoiceId) return [];
      if (!claimsCharge(p) || !claimsCharge(other) || !comesAfter(p, other)) return [];
      const [name, first] = [p.paymentId ?? p.id, other.paymentId ?? other.id];
      const detail = `charge ${p.processorChargeId ?? ''} is named by payment ${first} of invoice ${other.invoiceId} (${other.mark}) and by payment ${name} of invoice ${p.invoiceId} (${p.mark})`;
      const reviewId = reviewOf(o, (r) => r.kind === 'double_payment' && r.paymentRowId === p.id);
      const about = { invoiceId: p.invoiceId, paymentId: name, objectId: p.processorChargeId, reviewId };
      return [difference('charge_on_two_invoices', 'person', detail, about)];
    }),
  );
}

function claimsCharge(p: PaymentRow): boolean {
  return p.processorChargeId !== null && p.mark !== 'closed' && p.status !== 'failed' && p.status !== 'requires_action';
}

function comesAfter(p: PaymentRow, other: PaymentRow): boolean {
  if ((p.succeededAt === null) !== (other.succeededAt === null)) return p.succeededAt === null;
  return (
    p.recordedAt.getTime() - other.recordedAt.getTime() > 0 ||
    (p.recordedAt.getTime() === other.recordedAt.getTime() && p.id > other.id)
  );
}

/** The payments that the ledger says are marked on Stripe. */
function markedOf(o: OurInvoice | null): readonly PaymentRow[] {
  return o === null ? [] : o.payments.filter((p) => p.mark === 'confirmed' && p.amount !== null);
}

function sumOf(payments: readonly PaymentRow[]): bigint {
  return payments.reduce((n, p) => n + (p.amount ?? 0n), 0n);
}

/**
 * The ledger against the invoice as Stripe lists it. `ours` null: we do not know it.
 * @param graceMs an invoice younger than this, in milliseconds, is under way. Its status alone says nothing until it is older than
 * VERIFY_GRACE_MS, since the news of it takes a while to arrive; what is lost or differs in money does.
 */
export function compareInvoice(
  facts: InvoiceFacts,
  ours: OurInvoice | null,
  now: Date,
  graceMs = VERIFY_GRACE_MS,
): Difference[] {
  const { invoiceId } = facts;
  const { createdAt } = facts;
  const age = createdAt === null ? VERIFY_GRACE_MS : Math.abs(now.getTime() - createdAt.getTime());
  if (age < graceMs) return [];
  const picture = (own: OurInvoice): Difference[] => (age < VERIFY_GRACE_MS ? [] : pictureDiffers(facts, own));
  if (ours === null) {
    if (facts.billingReason === SIGNUP_REASON || facts.amountDue === 0n || facts.status === 'void') return [];
    const detail = `invoice ${invoiceId} (${facts.status}) never arrived here`;
    return [difference('event_never_delivered', 'look-again', detail, { invoiceId })];
  }
  const marked = markedOf(ours);
  const [first] = marked;
  if (first === undefined) return picture(ours);
  // A surplus that was given back needs to show no longer: out of band it never did.
  const sum = sumOf(marked) - surplusRefunded(ours.refunds);
  if (facts.currency === first.currency && facts.amountPaid >= sum) return picture(ours);
  const show = (minor: bigint, currency: string): string => showMoney({ minor, currency });
  const detail = `the ledger marked ${show(sum, first.currency)}; Stripe shows ${show(facts.amountPaid, facts.currency)} paid (${facts.status})`;
  const reviewId = reviewOf(ours, (r) => r.paymentRowId === first.id && PARKING.has(r.kind));
  const about = { invoiceId, paymentId: first.paymentId ?? first.id, reviewId };
  return [difference(facts.amountPaid === 0n ? 'charged_not_marked' : 'amount_differs', 'person', detail, about)];
}

/** The status as we know it is not the one Stripe shows: the event of the change never came (Stripe may not even have made it). */
export function pictureDiffers(facts: Pick<InvoiceFacts, 'invoiceId' | 'status'>, ours: OurInvoice): Difference[] {
  const known = ours.invoice.platformStatus;
  if (known === facts.status) return [];
  const detail = `Stripe shows the invoice ${facts.status}; our events say ${known}`;
  return [difference('event_never_delivered', 'look-again', detail, { invoiceId: facts.invoiceId })];
}

/** Whether to ask Stripe what pays an invoice: more is paid than the ledger marked. */
export function paidBeyondLedger(facts: InvoiceFacts, ours: OurInvoice | null): boolean {
  return facts.amountPaid > sumOf(markedOf(ours));
}

/**
 * An invoice on which Stripe shows more paid than the ledger marked. What Stripe itself collected is its own business; a payment
 * record that is not ours, or a mark out of band, claims money that the MoR never said it took.
 */
export function compareAttached(
  facts: InvoiceFacts,
  ours: OurInvoice | null,
  attached: readonly InvoicePaymentFacts[],
): Difference[] {
  const known = new Set(ours?.payments.flatMap((p) => (p.paymentRecordId === null ? [] : [p.paymentRecordId])) ?? []);
  const paid = attached.filter((p) => p.status === 'paid');
  // A payment that waits for a person because of this very mark tells of it.
  const reviewId = ours === null ? null : reviewOf(ours, (r) => r.kind === 'double_payment');
  const about = { invoiceId: facts.invoiceId, reviewId };
  const foreign = paid.filter((p) => p.paymentRecordId !== null && !known.has(p.paymentRecordId));
  const found = foreign.map((p) => {
    // A restored database has forgotten that a person let it through.
    const waiting = ours?.payments.find((x) => x.mark === 'parked' && x.amount !== null && x.amount === p.amountPaid);
    const item = ours === null || waiting === undefined ? null : reviewOf(ours, (r) => r.paymentRowId === waiting.id);
    const but =
      waiting === undefined
        ? 'the MoR has reported no payment for it'
        : `payment ${waiting.paymentId ?? waiting.id} of as much waits for a person`;
    const detail = `payment record ${p.paymentRecordId ?? ''} pays the invoice, and ${but}`;
    return difference('marked_not_charged', 'person', detail, { ...about, reviewId: item ?? reviewId });
  });
  // What is neither a record nor the platform's own collection shows a mark out of band, and is no payment beside it.
  const counted = paid.filter((p) => p.paymentRecordId !== null || p.byPlatform);
  const listed = counted.reduce((n, p) => n + (p.amountPaid ?? 0n), 0n);
  const byRecords = new Set(paid.map((p) => p.paymentRecordId));
  const outOfBand = sumOf(
    markedOf(ours).filter((p) => p.paymentRecordId === null || !byRecords.has(p.paymentRecordId)),
  );
  const rest = facts.amountPaid - listed - outOfBand;
  if (rest <= 0n || counted.some((p) => p.amountPaid === null)) return found;
  const detail = `${showMoney({ minor: rest, currency: facts.currency })} was marked paid out of band, and the MoR has reported no payment for it`;
  return [...found, difference('marked_not_charged', 'person', detail, about)];
}

/** The refunds and losses that the ledger mirrored against the credit notes that are there. */
export function compareCreditNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  return [...compareLossNotes(ours, notes), ...compareRefundNotes(ours, notes)];
}

/** A note for a loss that is none any more may be gone. */
function compareLossNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  return (ours.objects ?? []).flatMap(({ id, detail: { credit } }): Difference[] => {
    if (credit === undefined || credit.noteId === null || credit.booked === '0') return [];
    const twin = notes.find((n) => n.creditNoteId === credit.noteId);
    if (twin !== undefined && twin.status !== 'void') return [];
    const detail = `credit note ${credit.noteId} of loss ${id} is ${twin?.status ?? 'missing'}`;
    const about = { invoiceId: ours.invoice.invoiceId, objectId: credit.noteId };
    return [difference('refund_not_mirrored', 'person', detail, about)];
  });
}

function compareRefundNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  return ours.refunds
    .filter((r) => r.mirror === 'done' && saleOf(r) > 0n)
    .flatMap((r): Difference[] => {
      const twin = notes.find((n) => n.creditNoteId === r.creditNoteId);
      const about = { invoiceId: r.invoiceId, refundId: r.id };
      const show = (minor: bigint, currency: string): string => showMoney({ minor, currency });
      if (twin === undefined || twin.status === 'void') {
        const detail = `credit note ${r.creditNoteId ?? ''} of refund ${r.id} is ${twin?.status ?? 'missing'}`;
        return [difference('refund_not_mirrored', 'person', detail, about)];
      }
      const sale = saleOf(r);
      if (twin.amount === sale && twin.currency === r.currency) return [];
      const detail = `refund ${r.id} takes ${show(sale, r.currency)} off the sale; its credit note says ${show(twin.amount, twin.currency)}`;
      return [difference('amount_differs', 'person', detail, about)];
    });
}
