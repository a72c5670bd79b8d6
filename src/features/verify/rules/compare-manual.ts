// Compares the ledger with credit notes, payment records and balances on the billing platform, made by Crossbill or by
// a person. Pure.
import {
  type BalanceEntryFacts,
  type CreditNoteFacts,
  type PaymentRecordFacts,
  type ShownInvoice,
} from '../../../shared/domain/ports/billing-reader.js';
import { type LossCredit } from '../../../shared/domain/mor-object.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../shared/domain/refund-row.js';
import { type Difference, type OurInvoice } from '../../../shared/domain/difference.js';
import { saleOf, surplusRefunded } from '../../../shared/domain/surplus.js';
import { money } from '../../../shared/domain/money.js';
import { VERIFY_REFUND_SUMS_MOST } from './limits.js';
import { aboutOf, type Cover, finding, reviewOf } from './findings.js';

/**
 * Finds our payment records that no longer pay their invoice: somebody detached them on Stripe. The MoR has the money.
 */
export function compareDetached(shown: ShownInvoice, ours: OurInvoice): Difference[] {
  const { payments } = shown;
  if (payments === null) return [];
  const paying = new Set(payments.filter((p) => p.status === 'paid').map((p) => p.paymentRecordId));
  return ours.payments.flatMap((p) => {
    if (p.mark !== 'confirmed' || p.amount === null || p.paymentRecordId === null) return [];
    if (paying.has(p.paymentRecordId)) return [];
    const facts = { record: p.paymentRecordId, amount: money(p.amount, p.currency), status: shown.status };
    return [finding.detached({ ...aboutOf(p), objectId: p.paymentRecordId }, facts)];
  });
}

/** Finds money beyond the amount due, on an invoice marked by Crossbill. */
export function compareOverpaid(shown: ShownInvoice, ours: OurInvoice): Difference[] {
  const marked = ours.payments.find((p) => p.mark === 'confirmed');
  if (shown.amountOverpaid <= 0n || marked === undefined) return [];
  const minor = surplusRefunded(ours.refunds);
  const refunded = minor === 0n ? null : money(minor, shown.currency);
  const reviewId = reviewOf(ours, (r) => r.kind === 'amount_mismatch');
  const facts = { surplus: money(shown.amountOverpaid, shown.currency), refunded };
  return [finding.overpaid({ ...aboutOf(marked), reviewId }, facts)];
}

/** True if credit notes returned more than the ledger knows. Then verify reads the notes from Stripe. */
export function creditedBeyondLedger(shown: ShownInvoice, ours: OurInvoice): boolean {
  const mirrored = ours.refunds.filter((r) => r.mirror === 'done').reduce((n, r) => n + saleOf(r), 0n);
  const losses = creditsOf(ours).filter((c) => c.stage === 'done');
  return shown.creditedAfterPayment > losses.reduce((n, c) => n + BigInt(c.minor), mirrored);
}

/** Compares our refunds and losses with their credit notes on Stripe. Leaves out refunds without a finished note. */
export function compareCreditNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  const findNote = (noteId: string | null) => notes.find((n) => n.creditNoteId === noteId && n.status !== 'void');
  const gone = (noteId: string | null, of: string) => ({
    note: noteId ?? '',
    of,
    state: notes.some((n) => n.creditNoteId === noteId) ? 'void' : 'missing',
  });
  const lost = ours.objects.flatMap(({ id, detail: { credit } }): Difference[] => {
    if (credit === undefined || credit.noteId === null || credit.booked === '0') return []; // a reversed loss needs no note
    if (findNote(credit.noteId) !== undefined) return [];
    const about = { invoiceId: ours.invoice.invoiceId, objectId: credit.noteId };
    return [finding.noteGone(about, gone(credit.noteId, `loss ${id}`))];
  });
  const refunded = ours.refunds.flatMap((r): Difference[] => {
    const sale = saleOf(r);
    if (r.mirror !== 'done' || sale <= 0n) return [];
    const about = { invoiceId: r.invoiceId, refundId: r.id };
    const note = findNote(r.creditNoteId);
    if (note === undefined) return [finding.noteGone(about, gone(r.creditNoteId, `refund ${r.id}`))];
    if (note.amount === sale && note.currency === r.currency) return [];
    const noted = money(note.amount, note.currency);
    return [finding.noteDiffers(about, { refund: r.id, sale: money(sale, r.currency), noted })];
  });
  return [...lost, ...refunded];
}

/** Finds credit notes without a refund of the MoR and without a loss. `notes` may include notes of other invoices. */
export function compareForeignNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  if (ours.payments.every((p) => p.succeededAt === null)) return []; // the MoR took no money on this invoice
  return notes.flatMap((n) => {
    if (n.invoiceId !== ours.invoice.invoiceId || n.status === 'void' || n.afterPayment <= 0n) return [];
    if (ours.refunds.some((r) => isNoteOf(r, n)) || creditsOf(ours).some((c) => isNoteOfLoss(c, n))) return [];
    const facts = { note: n.creditNoteId, amount: money(n.afterPayment, n.currency), cover: coverOf(ours, n) };
    const byHand = n.toBalance ? finding.notedToBalance : finding.notedByHand;
    return [byHand({ invoiceId: n.invoiceId, objectId: n.creditNoteId }, facts)];
  });
}

/** Finds a possible reason for the credit note. */
function coverOf(ours: OurInvoice, { afterPayment, currency }: CreditNoteFacts): Cover {
  const isAlike = (refund: RefundRow): boolean => refund.amount === afterPayment && refund.currency === currency;
  const alike = ours.refunds.filter((r) => isAlike(r) && r.status !== 'failed' && r.status !== 'joined');
  const r = alike.find((x) => x.creditNoteId === null) ?? alike.at(-1);
  if (r !== undefined) {
    const unfinished = r.status === 'succeeded' ? null : r.status;
    return { by: 'refund', refund: r.morRefundId ?? r.id, unfinished, note: r.creditNoteId };
  }
  const lost = ours.objects.reduce((n, o) => n + BigInt(o.detail.loss?.minor ?? '0'), 0n);
  return lost >= afterPayment ? { by: 'loss', lost: money(lost, currency) } : { by: 'nothing' };
}

/** True if the note belongs to the refund: by the stored note id. Without a stored id: by a refund id in the note. */
function isNoteOf(refund: RefundRow, creditNote: CreditNoteFacts): boolean {
  if (refund.creditNoteId !== null) return refund.creditNoteId === creditNote.creditNoteId;
  const named = [creditNote.refundId, ...creditNote.references];
  return [refund.processorRefundId, refund.morRefundId, refund.id].some((x) => x !== null && named.includes(x));
}

/** Crossbill's credit notes for lost disputes and returned debits, each made after a person's choice. */
export function creditsOf({ objects }: OurInvoice): readonly LossCredit[] {
  return objects.flatMap((o) => o.detail.credit ?? []);
}

function isNoteOfLoss({ name, noteId }: LossCredit, creditNote: CreditNoteFacts): boolean {
  return noteId === null
    ? creditNote.refundId === name || creditNote.references.includes(name)
    : noteId === creditNote.creditNoteId;
}

/** Compares the refunds and losses on one payment with its payment record. `record` null: Stripe has no such record. */
export function compareRecord(ours: OurInvoice, payment: PaymentRow, record: PaymentRecordFacts | null): Difference[] {
  const about = { ...aboutOf(payment), objectId: payment.paymentRecordId };
  if (record === null) return [finding.recordGone(about, { record: payment.paymentRecordId ?? '' })];
  const { amountRefunded } = record;
  const losses = creditsOf(ours).filter((c) => c.of === payment.id);
  const refunds = ours.refunds.filter((r) => r.paymentRowId === payment.id && !wasRefused(ours, r));
  const at = (...stages: readonly string[]): bigint[] => [
    ...refunds.filter((r) => stages.includes(r.mirror)).map((r) => r.amount),
    ...losses.filter((c) => stages.includes(c.stage)).map((c) => BigInt(c.reported ?? c.minor)),
  ];
  // Crossbill first reports a refund or loss on the payment record, and then makes the credit note. So the record must
  // show this amount even if the credit note is still missing.
  const mirrored = at('done', 'crediting').reduce((n, x) => n + x, 0n);
  if (mayShow(amountRefunded, mirrored, at('reporting', 'parked'))) return [];
  const differs = amountRefunded < mirrored ? finding.lessRefunded : finding.moreRefunded;
  const [refunded, ledger] = [money(amountRefunded, payment.currency), money(mirrored, payment.currency)];
  return [differs(about, { record: record.paymentRecordId, refunded, mirrored: ledger })];
}

/**
 * True if the sum on the payment record is possible. Each unclear refund is either on the record in full, or not at
 * all. If there are too many possible sums, any sum between the smallest and the largest counts as possible.
 */
function mayShow(shown: bigint, mirrored: bigint, maybe: readonly bigint[]): boolean {
  const sums = new Set([mirrored]);
  for (const x of maybe) {
    for (const n of [...sums]) if (n + x <= shown) sums.add(n + x);
    if (sums.size > VERIFY_REFUND_SUMS_MOST) return shown <= maybe.reduce((n, y) => n + y, mirrored);
  }
  return sums.has(shown);
}

/**
 * True if an open item reports that Stripe refused to show this refund on the payment record. A refund on the record is
 * then another refund, even with the same amount.
 */
function wasRefused(ours: OurInvoice, refund: RefundRow): boolean {
  const items = ours.openReviews.filter((x) => x.kind === 'effect_failed' && x.refundId === refund.id);
  return items.some((x) => x.subject.startsWith('report_refund:'));
}

/**
 * Finds credits to a customer's balance by hand, unless somebody took as much back later. Stripe keeps one balance per
 * currency (`Customer.invoice_credit_balance`).
 */
export function compareBalance(customerId: string, entries: readonly BalanceEntryFacts[]): Difference[] {
  const byHand = entries.filter((e) => e.byHand);
  const sums = new Map<string, bigint>();
  for (const e of byHand) sums.set(e.currency, (sums.get(e.currency) ?? 0n) + e.amount);
  return byHand.flatMap((e) => {
    if (e.amount >= 0n || (sums.get(e.currency) ?? 0n) >= 0n) return [];
    const facts = { customer: customerId, entry: e.entryId, amount: money(-e.amount, e.currency) };
    return [finding.balanceCredited({ invoiceId: e.invoiceId, objectId: e.entryId }, facts)];
  });
}
