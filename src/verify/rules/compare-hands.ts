// What people did on the billing platform by hand, against the ledger: refunds, credit notes, payments taken off an invoice, credits
// to a balance. Pure.
import { showMoney } from '../../domain/money.js';
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
import { difference, reviewOf } from './compare.js';

const show = (minor: bigint, currency: string): string => showMoney({ minor, currency });

/** Marks of ours that pay the invoice no more: whoever took them off, the MoR has the money all the same. */
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
  const since =
    refunded === 0n
      ? ''
      : `; ${show(refunded, shown.currency)} of it was refunded since, to be deducted from that balance`;
  const detail = `${show(shown.amountOverpaid, shown.currency)} more than was due is paid, and credited to the customer's balance${since}`;
  const reviewId = reviewOf(ours, (r) => r.kind === 'amount_mismatch');
  return [difference('overpaid', 'person', detail, { ...aboutOf(marked), reviewId })];
}

/** Whether to ask for the invoice's credit notes: more was given back by them than the ledger mirrored. */
export function creditedBeyondLedger(shown: ShownInvoice, ours: OurInvoice): boolean {
  const mirrored = ours.refunds.filter((r) => r.mirror === 'done').reduce((n, r) => n + saleOf(r), 0n);
  const losses = creditsOf(ours).filter((c) => c.stage === 'done');
  return shown.creditedAfterPayment > losses.reduce((n, c) => n + BigInt(c.minor), mirrored);
}

/** Credit notes that neither a refund of the MoR nor a loss explains. `notes` may belong to other invoices too. */
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

/**
 * What the note may be for, in words: whoever reads that nothing was given back for it refunds as much, and does so again when they read it
 * once more.
 */
function coverOf(ours: OurInvoice, { afterPayment, currency }: CreditNoteFacts): string {
  const alike = ours.refunds.filter(
    (r) => !NEVER.has(r.status) && r.amount === afterPayment && r.currency === currency,
  );
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

/** A refund that gave nothing back, or is another row's. */
const NEVER: ReadonlySet<RefundRow['status']> = new Set(['failed', 'joined']);

/** While a refund's own note is not known here, a note that names the refund may be it. */
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

/** The refunds and credited losses of one payment that the ledger mirrored against what its payment record shows. `record` null: there is none. */
export function compareRecord(ours: OurInvoice, p: PaymentRow, record: PaymentRecordFacts | null): Difference[] {
  const about = { ...aboutOf(p), objectId: p.paymentRecordId };
  if (record === null) {
    const detail = `payment record ${p.paymentRecordId ?? ''} is not there`;
    return [difference('charged_not_marked', 'person', detail, about)];
  }
  const { amountRefunded } = record;
  const losses = creditsOf(ours).filter((c) => c.of === p.id);
  const at = (stages: readonly string[]): bigint[] => [
    ...ours.refunds
      .filter((r) => r.paymentRowId === p.id && stages.includes(r.mirror) && !wasRefused(ours, r))
      .map((r) => r.amount),
    ...losses.filter((c) => stages.includes(c.stage)).map((c) => BigInt(c.minor)),
  ];
  const mirrored = at(['done', 'crediting']).reduce((n, x) => n + x, 0n); // reported is enough: the credit note comes after
  if (mayShow(amountRefunded, mirrored, at(['reporting', 'parked']))) return [];
  const detail = `payment record ${record.paymentRecordId} shows ${show(amountRefunded, p.currency)} refunded; the ledger mirrored ${show(mirrored, p.currency)}`;
  const kind = amountRefunded < mirrored ? 'refund_not_mirrored' : 'refunded_by_hand';
  return [difference(kind, 'person', detail, about)];
}

/**
 * Each of the refunds that may be reported is on the record as a whole, or not. Of so many that their sums cannot be told one by one only the
 * least and the most are known.
 */
function mayShow(shown: bigint, mirrored: bigint, maybe: readonly bigint[]): boolean {
  const sums = new Set([mirrored]);
  for (const x of maybe) {
    for (const n of [...sums]) if (n + x <= shown) sums.add(n + x);
    if (sums.size > VERIFY_REFUND_SUMS_MOST) return shown <= maybe.reduce((n, y) => n + y, mirrored);
  }
  return sums.has(shown);
}

/** Stripe would not take it, and the item that says so is open: what the record shows is not this refund, though it be as much. */
function wasRefused(ours: OurInvoice, r: RefundRow): boolean {
  return ours.openReviews.some(
    (x) => x.kind === 'effect_failed' && x.refundId === r.id && x.subject.startsWith('report_refund:'),
  );
}

/**
 * Credits to the balance of a customer who pays through the MoR, unless as much was taken back since. Stripe keeps a balance in each
 * currency (`Customer.invoice_credit_balance`): what was taken off one takes nothing back from another.
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

function aboutOf(p: PaymentRow): { readonly invoiceId: string; readonly paymentId: string } {
  return { invoiceId: p.invoiceId, paymentId: p.paymentId ?? p.id };
}
