// The ledger against credit notes, payment records and balances on the billing platform: our own, and those people made by hand. Pure.
import {
  type BalanceEntryFacts,
  type CreditNoteFacts,
  type PaymentRecordFacts,
  type ShownInvoice,
} from '../../domain/ports/billing-reader.js';
import { type LossCredit } from '../../domain/mor-object.js';
import { type PaymentRow, type RefundRow } from '../../domain/model.js';
import { type Difference, type OurInvoice } from '../../domain/difference.js';
import { saleOf, surplusRefunded } from '../../domain/surplus.js';
import { VERIFY_REFUND_SUMS_MOST } from '../../policy.js';
import { aboutOf, difference, reviewOf, show } from './compare.js';

/** Marks of ours without an invoice to pay: somebody detached them, and the MoR still has the money. */
export function compareDetached(shown: ShownInvoice, ours: OurInvoice): Difference[] {
  const { payments } = shown;
  if (payments === null) return [];
  const paying = new Set(payments.filter((p) => p.status === 'paid').map((p) => p.paymentRecordId));
  return ours.payments.flatMap((p) => {
    if (p.mark !== 'confirmed' || p.amount === null || p.paymentRecordId === null) return [];
    if (paying.has(p.paymentRecordId)) return [];
    const detail = `payment record ${p.paymentRecordId} of ${show(p.amount, p.currency)} was detached from the invoice (${shown.status})`;
    return [difference('charged_not_marked', 'person', detail, { ...aboutOf(p), objectId: p.paymentRecordId })];
  });
}

/** Money beyond what was due, on an invoice that the ledger marked. */
export function compareOverpaid(shown: ShownInvoice, ours: OurInvoice): Difference[] {
  const marked = ours.payments.find((p) => p.mark === 'confirmed');
  if (shown.amountOverpaid <= 0n || marked === undefined) return [];
  const refunded = surplusRefunded(ours.refunds);
  const returned = `; ${show(refunded, shown.currency)} of it was refunded since, to be deducted from that balance`;
  const more = `${show(shown.amountOverpaid, shown.currency)} more than was due is paid`;
  const detail = `${more}, and credited to the customer's balance${refunded === 0n ? '' : returned}`;
  const reviewId = reviewOf(ours, (r) => r.kind === 'amount_mismatch');
  return [difference('overpaid', 'person', detail, { ...aboutOf(marked), reviewId })];
}

/** Credit notes returned more than the ledger mirrored: ask Stripe for the notes. */
export function creditedBeyondLedger(shown: ShownInvoice, ours: OurInvoice): boolean {
  const mirrored = ours.refunds.filter((r) => r.mirror === 'done').reduce((n, r) => n + saleOf(r), 0n);
  const losses = creditsOf(ours).filter((c) => c.stage === 'done');
  return shown.creditedAfterPayment > losses.reduce((n, c) => n + BigInt(c.minor), mirrored);
}

/** The mirrored refunds and losses of the ledger against their credit notes. */
export function compareCreditNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  const lost = (ours.objects ?? []).flatMap(({ id, detail: { credit } }): Difference[] => {
    if (credit === undefined || credit.noteId === null || credit.booked === '0') return []; // a reversed loss needs no note
    const twin = notes.find((n) => n.creditNoteId === credit.noteId);
    if (twin !== undefined && twin.status !== 'void') return [];
    const detail = `credit note ${credit.noteId} of loss ${id} is ${twin?.status ?? 'missing'}`;
    const about = { invoiceId: ours.invoice.invoiceId, objectId: credit.noteId };
    return [difference('refund_not_mirrored', 'person', detail, about)];
  });
  const refunded = ours.refunds.flatMap((r): Difference[] => {
    const sale = saleOf(r);
    if (r.mirror !== 'done' || sale <= 0n) return [];
    const twin = notes.find((n) => n.creditNoteId === r.creditNoteId);
    const about = { invoiceId: r.invoiceId, refundId: r.id };
    if (twin === undefined || twin.status === 'void') {
      const detail = `credit note ${r.creditNoteId ?? ''} of refund ${r.id} is ${twin?.status ?? 'missing'}`;
      return [difference('refund_not_mirrored', 'person', detail, about)];
    }
    if (twin.amount === sale && twin.currency === r.currency) return [];
    const noted = show(twin.amount, twin.currency);
    const detail = `refund ${r.id} takes ${show(sale, r.currency)} off the sale; its credit note says ${noted}`;
    return [difference('amount_differs', 'person', detail, about)];
  });
  return [...lost, ...refunded];
}

/** Credit notes without a refund of the MoR or a loss. `notes` may belong to other invoices too. */
export function compareForeignNotes(ours: OurInvoice, notes: readonly CreditNoteFacts[]): Difference[] {
  const [paid] = ours.payments.filter((p) => p.succeededAt !== null);
  if (paid === undefined) return []; // not our money
  return notes.flatMap((n) => {
    if (n.invoiceId !== ours.invoice.invoiceId || n.status === 'void' || n.afterPayment <= 0n) return [];
    if (ours.refunds.some((r) => isNoteOf(r, n)) || creditsOf(ours).some((c) => isNoteOfLoss(c, n))) return [];
    const where = n.toBalance ? "credits the customer's balance with" : 'gives back';
    const detail = `credit note ${n.creditNoteId} ${where} ${show(n.afterPayment, n.currency)}, ${coverOf(ours, n)}`;
    const about = { invoiceId: ours.invoice.invoiceId, objectId: n.creditNoteId };
    return [difference(n.toBalance ? 'credited_by_hand' : 'refunded_by_hand', 'person', detail, about)];
  });
}

/** The possible reason of the note, in words. Otherwise a person refunds the same money once more. */
function coverOf(ours: OurInvoice, { afterPayment, currency }: CreditNoteFacts): string {
  const isAlike = (r: RefundRow): boolean => r.amount === afterPayment && r.currency === currency;
  const alike = ours.refunds.filter((r) => isAlike(r) && r.status !== 'failed' && r.status !== 'joined');
  const r = alike.find((x) => x.creditNoteId === null) ?? alike.at(-1);
  if (r !== undefined) {
    const name = r.morRefundId ?? r.id;
    if (r.status !== 'succeeded')
      return `and may be for refund ${name} of as much, which is ${r.status} and gets one of its own once it has succeeded: do not refund that again`;
    return r.creditNoteId === null
      ? `and may be for refund ${name} of as much, which has no other one: do not refund that again`
      : `and refund ${name} of as much has one of its own, ${r.creditNoteId}: if both are for that refund, Stripe shows it twice, and nothing more is to be refunded`;
  }
  const lost = (ours.objects ?? []).reduce((n, o) => n + BigInt(o.detail.loss?.minor ?? '0'), 0n);
  return lost >= afterPayment
    ? `and may write off what a bank took (${show(lost, currency)}): then nothing is to be refunded for it`
    : 'and the MoR refunded nothing for it';
}

/** A refund without a known note: a note with the refund's name may be its own. */
function isNoteOf(r: RefundRow, n: CreditNoteFacts): boolean {
  if (r.creditNoteId !== null) return r.creditNoteId === n.creditNoteId;
  const named = [n.refundId, ...n.references];
  return [r.processorRefundId, r.morRefundId, r.id].some((x) => x !== null && named.includes(x));
}

/** Credit notes that a person chose for losses. */
export function creditsOf({ objects = [] }: OurInvoice): readonly LossCredit[] {
  return objects.flatMap((o) => o.detail.credit ?? []);
}

function isNoteOfLoss({ name, noteId }: LossCredit, n: CreditNoteFacts): boolean {
  return noteId === null ? n.refundId === name || n.references.includes(name) : noteId === n.creditNoteId;
}

/** The mirrored refunds and credited losses of one payment against its payment record. `record` null: there is none. */
export function compareRecord(ours: OurInvoice, p: PaymentRow, record: PaymentRecordFacts | null): Difference[] {
  const about = { ...aboutOf(p), objectId: p.paymentRecordId };
  if (record === null) {
    const detail = `payment record ${p.paymentRecordId ?? ''} is not there`;
    return [difference('charged_not_marked', 'person', detail, about)];
  }
  const { amountRefunded } = record;
  const losses = creditsOf(ours).filter((c) => c.of === p.id);
  const refunds = ours.refunds.filter((r) => r.paymentRowId === p.id && !wasRefused(ours, r));
  const at = (...stages: readonly string[]): bigint[] => [
    ...refunds.filter((r) => stages.includes(r.mirror)).map((r) => r.amount),
    ...losses.filter((c) => stages.includes(c.stage)).map((c) => BigInt(c.minor)),
  ];
  const mirrored = at('done', 'crediting').reduce((n, x) => n + x, 0n); // reported is enough: the credit note follows
  if (mayShow(amountRefunded, mirrored, at('reporting', 'parked'))) return [];
  const there = `payment record ${record.paymentRecordId} shows ${show(amountRefunded, p.currency)} refunded`;
  const detail = `${there}; the ledger mirrored ${show(mirrored, p.currency)}`;
  const kind = amountRefunded < mirrored ? 'refund_not_mirrored' : 'refunded_by_hand';
  return [difference(kind, 'person', detail, about)];
}

/** Each unsure refund is on the record as a whole, or absent. Too many have too many sums: then only the least and the most count. */
function mayShow(shown: bigint, mirrored: bigint, maybe: readonly bigint[]): boolean {
  const sums = new Set([mirrored]);
  for (const x of maybe) {
    for (const n of [...sums]) if (n + x <= shown) sums.add(n + x);
    if (sums.size > VERIFY_REFUND_SUMS_MOST) return shown <= maybe.reduce((n, y) => n + y, mirrored);
  }
  return sums.has(shown);
}

/** Stripe refused it, and the item about the refusal is open: the record shows another refund, even of the same amount. */
function wasRefused(ours: OurInvoice, r: RefundRow): boolean {
  const items = ours.openReviews.filter((x) => x.kind === 'effect_failed' && x.refundId === r.id);
  return items.some((x) => x.subject.startsWith('report_refund:'));
}

/**
 * Credits by hand to a balance, unless somebody took as much back since. Stripe keeps one balance per currency
 * (`Customer.invoice_credit_balance`).
 */
export function compareBalance(customerId: string, entries: readonly BalanceEntryFacts[]): Difference[] {
  const byHand = entries.filter((e) => e.byHand);
  const sums = new Map<string, bigint>();
  for (const e of byHand) sums.set(e.currency, (sums.get(e.currency) ?? 0n) + e.amount);
  return byHand.flatMap((e) => {
    if (e.amount >= 0n || (sums.get(e.currency) ?? 0n) >= 0n) return [];
    const detail = `the balance of customer ${customerId} was credited with ${show(-e.amount, e.currency)} (${e.entryId}), and the MoR knows nothing of it`;
    return [difference('credited_by_hand', 'person', detail, { invoiceId: e.invoiceId, objectId: e.entryId })];
  });
}
