// The mark of a payment on its invoice: begins, holds or withdraws it, or leaves it to a person. `decide-mark.ts` decides.
import { type Mutable } from '../../../shared/domain/row.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow, moveMark, HOLDING, type MarkMode } from '../../../shared/domain/payment-row.js';
import { type Lane, isUnsent } from '../../../engine/lane.js';
import { noteGrowth, type Parking } from './amount.js';
import { reviewAmount } from './surplus.js';
import { decideMark } from './decide-mark.js';
import { isFresh, invoiceLookup } from '../../books/rules/invoice-facts.js';
import { DRAFT_FAILED_POLL_EVERY_MS, DRAFT_POLL_EVERY_MS, DRAFT_POLL_AFTER_MS } from '../../../shared/policy.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { isMarkedByOthers, applyOthersMark, beforeTheMark } from './others-mark.js';
import { STEPS, referenceOf, reportOf } from './mark-steps.js';
import { withdrawIfPointless } from './withdraw-mark.js';
import { observationsOf } from '../../books/rules/open-money.js';
import { closePayment, PARKING } from '../../books/rules/payment-state.js';

type Payment = Mutable<PaymentRow>;

/** Decides the marks of all payments, the oldest first: the first payment pays the invoice. */
export function settleMarks(lane: Lane): void {
  const i = lane.invoice;
  if (i === null) return;
  const byAge = (one: Payment, other: Payment): number =>
    one.recordedAt.getTime() - other.recordedAt.getTime() || (one.id < other.id ? -1 : 1);
  for (const p of lane.payments.toSorted(byAge)) settleMark(lane, p, i);
  if (lane.payments.some((p) => p.mark === 'held')) lane.decideAgain(i.holdUntil);
}

function settleMark(lane: Lane, payment: Payment, invoice: Mutable<InvoiceRow>): void {
  const isHeldOver =
    invoice.platformStatus !== 'draft' || (invoice.holdUntil !== null && invoice.holdUntil <= lane.now);
  if (payment.mark === 'held' && isHeldOver) moveMark(payment, 'waiting');
  if (isMarkedByOthers(lane, payment)) return applyOthersMark(lane, payment);
  if (payment.mark === 'parked') return noteGrowth(lane, payment);
  if (STEPS[payment.mark] !== undefined) return withdrawIfPointless(lane, payment, invoice);
  const { amount } = payment;
  if (payment.mark !== 'waiting' || amount === null || isBesidePart(lane, payment) || reviewAmount(lane, payment))
    return;
  const holder = lane.payments.find((x) => x.id !== payment.id && HOLDING.has(x.mark) && !isPart(lane, x, invoice));
  const isStuck = lane.reviews.some(
    (r) => r.kind === 'finalization_failed' && (r.status === 'open' || r.resolution === 'dismiss'),
  );
  const seen = lane.sendsNothing && holder === undefined ? beforeTheMark(invoice) : invoice;
  const d = decideMark({ ...payment, amount }, seen, {
    holder,
    fresh: isFresh(invoice, lane.now),
    settings: lane.settings,
    finalizationFailed: isStuck,
  });
  const { invoiceId } = invoice;
  const name = payment.paymentId ?? payment.id;
  switch (d.do) {
    case 'read':
    case 'identify':
      return; // a lookup searches Stripe next
    case 'hold':
      moveMark(payment, 'held');
      invoice.holdUntil = isStuck ? lane.in(DRAFT_FAILED_POLL_EVERY_MS) : nextPoll(invoice.finalizesAt, lane.now);
      return lane.log('decision', `payment ${name} is held: ${d.why}`, payment);
    case 'finalize': {
      // One unsent call is enough: another program finalizes the draft, or Stripe does on its own schedule.
      const before = lane.calls.find((m) => m.kind === 'finalize_invoice' && isUnsent(m));
      const call = before ?? lane.call({ kind: 'finalize_invoice', invoiceId }, invoiceId);
      moveMark(payment, isUnsent(call) ? 'held' : 'finalizing');
      if (!isUnsent(call)) return lane.log('decision', `finalize the draft now, to mark payment ${name}`, payment);
      invoice.holdUntil = nextPoll(invoice.finalizesAt, lane.now);
      return;
    }
    case 'attach': {
      const paymentRecordId = payment.paymentRecordId ?? '';
      lane.call({ kind: 'attach_payment', invoiceId, paymentRecordId }, effectName(payment), payment);
      moveMark(payment, 'attaching', { markMode: 'payment_record' });
      return lane.log('decision', `attach ${paymentRecordId}, reported earlier`, payment);
    }
    case 'mark':
      return beginMark(lane, payment, amount, d.mode);
    case 'park':
      moveMark(payment, 'parked');
      return lane.openReview({ ...withObserved(lane, d.item), subject: payment.id, paymentRowId: payment.id });
  }
}

function beginMark(lane: Lane, payment: Payment, amount: bigint, mode: MarkMode): void {
  const paymentId = effectName(payment);
  const reference = referenceOf(payment);
  if (mode === 'out_of_band') {
    lane.call({ kind: 'set_reference', invoiceId: payment.invoiceId, paymentId, reference }, paymentId, payment);
    moveMark(payment, 'referencing', { markMode: mode });
    return lane.log('decision', `mark paid out of band, reference ${reference}`, payment);
  }
  // A person may have accepted another customer's payment for this invoice. Stripe needs the invoice's own customer.
  const customerId = lane.invoice?.customerId ?? payment.customerId;
  lane.call(reportOf({ ...payment, customerId }, amount, lane.now), paymentId, payment);
  moveMark(payment, 'reporting', { markMode: mode });
  lane.log('decision', `mark paid with a payment record, reference ${reference}`, payment);
}

/** For a double payment: adds every report of money on the invoice to the item. */
function withObserved(lane: Lane, item: Parking): Parking {
  const { fact } = item;
  if (fact.code !== 'paid-twice' && fact.code !== 'paid-otherwise' && fact.code !== 'nothing-due') return item;
  return { ...item, kind: 'double_payment', fact: { ...fact, observations: observationsOf(lane) } };
}

/**
 * True if a person accepted payment `payment` as a part payment, and another payment may bring the missing part. On a paid
 * invoice, Stripe must also show more money than our marks: then a person marked the missing part by hand, or a
 * restored database lost our mark.
 */
function isPart({ payments }: Lane, payment: PaymentRow, invoice: InvoiceRow): boolean {
  if (payment.mark !== 'confirmed' || !payment.waived.includes('amount_mismatch')) return false;
  const known = payments.reduce((sum, x) => (x.mark === 'confirmed' ? sum + (x.amount ?? 0n) : sum), 0n);
  return invoice.platformStatus !== 'paid' || (invoice.amountPaid ?? 0n) > known;
}

/** True while Crossbill marks another payment as an accepted part: perhaps payment `payment` brings the missing part. */
function isBesidePart(lane: LaneRows, payment: PaymentRow): boolean {
  const isPartOnItsWay = (payment: PaymentRow): boolean =>
    HOLDING.has(payment.mark) &&
    payment.mark !== 'confirmed' &&
    payment.waived.includes('amount_mismatch') &&
    !isMarkedByOthers(lane, payment);
  return lane.payments.some((x) => x.id !== payment.id && isPartOnItsWay(x));
}

/** Closes a parked payment after its full refund. */
export function closeRefunded(lane: Lane): void {
  for (const p of lane.payments) {
    if (p.mark !== 'parked' || p.amount === null || p.succeededAt === null || p.amountRefunded < p.amount) continue;
    closePayment(p);
    const how = { by: null, resolution: 'cleared', note: 'the payment was refunded in full' } as const;
    lane.closeItems((r) => r.paymentRowId === p.id && PARKING.has(r.kind), how);
  }
}

/**
 * The time of the next read, in case `invoice.finalized` is lost. The first read follows a minute after the expected
 * end of the draft. The longer the draft lasts beyond this end, the longer the pause, up to a quarter of an hour.
 */
function nextPoll(finalizesAt: Date | null, now: Date): Date {
  if (finalizesAt === null) return new Date(now.getTime() + DRAFT_POLL_EVERY_MS);
  const late = Math.max(now.getTime() - finalizesAt.getTime(), DRAFT_POLL_AFTER_MS);
  const next = now.getTime() + Math.min(late, DRAFT_POLL_EVERY_MS);
  return new Date(Math.max(next, finalizesAt.getTime() + DRAFT_POLL_AFTER_MS));
}

/** The payment to look up on Stripe. Undefined if there is none, or if the next read is due later. */
export function findToLookUp(lane: Lane): PaymentRow | undefined {
  const due = lane.invoice?.readDueAt ?? null;
  const p =
    lane.invoice === null ? undefined : lane.payments.find((x) => x.mark === 'waiting' && !isBesidePart(lane, x));
  return p !== undefined && (due === null || lane.isPast(due)) ? p : undefined;
}

/** Reads the invoice before the decision: each mark needs a fresh read. */
export const readToMark = {
  ...invoiceLookup,
  wanted: (lane: Lane): string | null => {
    const i = lane.invoice;
    return findToLookUp(lane) === undefined || i === null || isFresh(i, lane.now) ? null : i.invoiceId;
  },
};
