// After the payment's mark, shows a refund on Stripe: first as a report on the payment record, then as a credit note.
import { type Lane } from '../../../engine/lane.js';
import { moveMirror, type RefundRow, type MirrorStage } from '../../../shared/domain/refund-row.js';
import { refundOfUnmarked, refundMirrored } from '../../../shared/domain/postings.js';
import { isPayable } from '../../../shared/domain/status.js';
import { isNoteOnItsWay, creditRoom } from '../../../shared/domain/credit-room.js';
import { surplusIn, saleOf } from '../../../shared/domain/surplus.js';
import { isFresh, askAgain } from '../../books/rules/invoice-facts.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { PARKING } from '../../books/rules/payment-state.js';
import { mayHaveSettled } from '../../books/rules/same-payment.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { isCallOf, refundOf, type Call, refusalOf, openCallReview, type CallRule } from '../../../engine/call.js';
import { type CallFailure } from '../../../shared/domain/ports/call.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Choice } from '../../../engine/commanded.js';

export function mirrorRefunds(lane: Lane): void {
  for (const r of lane.refunds) {
    const p = r.mirror === 'waiting' ? lane.findPayment(r.paymentRowId) : undefined;
    if (p?.mark === 'closed') {
      moveMirror(r, 'not_needed');
      lane.post(refundOfUnmarked(p, r, lane.now));
      tellUnshown(lane, p, r);
    }
    // After a part payment accepted by a person, the rest of the invoice may still be due. A credit note would lower
    // the amount due (Stripe docs, "Credit notes"), so Crossbill waits until the invoice is paid.
    if (p?.mark !== 'confirmed' || isPayable(lane.invoice) || waitsToShow(lane, p)) continue;
    // One credit note at a time: each one takes room from the next.
    if (isNoteOnItsWay(lane) || !isReadForNote(lane)) continue;
    r.surplus = surplusIn(lane, r);
    r.beyondSale = null;
    const over = saleOf(r) - (creditRoom(lane) ?? saleOf(r));
    if (over > 0n) r.beyondSale = over;
    const next = showNext(lane, p, r);
    // Another program shows the refund on Stripe if Crossbill does not send its call. Then Crossbill books the refund.
    const isOthers = lane.sendsNothing && next !== 'done' && next !== 'not_needed';
    if (isOthers) lane.post(refundMirrored(p, r, lane.now));
    moveMirror(r, isOthers ? 'not_needed' : next);
    lane.log(
      'decision',
      r.mirror === 'not_needed' ? 'Stripe needs no entry for the refund' : 'show the refund on Stripe',
      r,
    );
  }
}

/**
 * True if the last read of the invoice has all its credit notes: somebody may have credited a part by hand since an older
 * one, and the read must follow our own last credit note. Otherwise requests a read.
 */
function isReadForNote(lane: Lane): boolean {
  const i = lane.invoice;
  const notedAt = lane.calls.map((m) => (m.kind === 'issue_credit_note' ? (m.answeredAt?.getTime() ?? 0) : 0));
  if (i !== null && isFresh(i, lane.now) && (i.readAt?.getTime() ?? 0) >= Math.max(0, ...notedAt)) return true;
  if (i !== null && (i.readAt !== null || i.readDueAt === null)) askAgain(lane);
  return false;
}

/**
 * Opens an item about the refund of a closed payment, because Crossbill does not show this refund on Stripe. Before a
 * person dismissed the payment, the person may have marked the invoice by hand.
 */
function tellUnshown(lane: Lane, payment: PaymentRow, refund: RefundRow): void {
  const item = lane.reviews.findLast((x) => x.paymentRowId === payment.id && PARKING.has(x.kind));
  // True if another payment has the mark, and somebody refunded this payment in the MoR's portal. Perhaps this payment
  // paid the invoice, and not the marked payment, so a person must look. If a person chose the refund in an item,
  // Crossbill opens no further item.
  const isTwice = refund.origin === 'event' && lane.payments.some((x) => x.id !== payment.id && x.mark === 'confirmed');
  if ((item?.resolution !== 'dismiss' && !isTwice) || !mayHaveSettled(lane, payment)) return;
  const amount = { minor: refund.amount, currency: refund.currency };
  const fact = { code: 'refund-unshown', payment: effectName(payment), amount } as const;
  lane.openReview({
    kind: 'refund_gap',
    subject: `${refund.id}:unshown`,
    paymentRowId: payment.id,
    refundId: refund.id,
    fact,
  });
}

/**
 * True if Crossbill sends nothing now and marked this payment before. No other program shows the payment's refunds on
 * Stripe, so they wait until Crossbill sends again.
 */
function waitsToShow(lane: Lane, payment: PaymentRow): boolean {
  if (!lane.sendsNothing) return false;
  const isPaid = lane.calls.some((m) => m.kind === 'pay_out_of_band' && m.status === 'done' && isCallOf(m, payment));
  return payment.paymentRecordId !== null || isPaid;
}

/**
 * Stores the next call: the report on the payment record, then the credit note. Returns the next stage of showing the
 * refund on Stripe.
 */
function showNext(lane: Lane, payment: PaymentRow, refund: RefundRow): MirrorStage {
  const { invoiceId, paymentRecordId } = payment;
  const reported = lane.calls.find(
    (m) => m.kind === 'report_refund' && m.status === 'done' && refundOf(lane, m)?.id === refund.id,
  );
  // The credit note has the reference of the report, even if the refund got another id in the meantime.
  const reference =
    (reported?.asked?.kind === 'report_refund' ? reported.asked.reference : null) ?? findReference(refund);
  // The call's `subject` contains the ids of payment and refund, because two payments may have the same refund id.
  const subject = reported?.subject ?? `${effectName(payment)}:${findReference(refund)}`;
  const about = { invoiceId, refundId: reference };
  if (paymentRecordId !== null && reported === undefined) {
    const amount = { minor: refund.amount, currency: refund.currency };
    const refundedAt = refund.succeededAt ?? lane.now;
    lane.call({ kind: 'report_refund', ...about, paymentRecordId, reference, amount, refundedAt }, subject, payment);
    return 'reporting';
  }
  const amount = { minor: saleOf(refund), currency: refund.currency };
  if (amount.minor === 0n) {
    // The refund returns only a surplus of the customer, or the invoice is credited in full already. The sale stays the
    // same, so Stripe gets no credit note.
    lane.post(refundMirrored(payment, refund, lane.now));
    lane.log('decision', 'the refund returns no money of the sale, so it needs no credit note', refund);
    return paymentRecordId === null ? 'not_needed' : 'done';
  }
  const refunded = paymentRecordId === null ? null : { paymentRecordId, reference };
  lane.call({ kind: 'issue_credit_note', ...about, amount, refunded }, subject, payment);
  return 'crediting';
}

/** The refund's reference on Stripe. Our own id of the refund is the last choice, because a restore may change it. */
function findReference(refund: RefundRow): string {
  return refund.processorRefundId ?? refund.morRefundId ?? refund.id;
}

const mirrorCall = {
  order: 2,
  readFirst: true,
  mayBeThere: () => true,
  refused: (lane: Lane, { row, refund: r }: Call, failure: CallFailure) => {
    if (r === undefined) return;
    const [shared] = lane.ctx.refundsElsewhere ?? [];
    const other =
      shared === undefined ? null : { refund: shared.refund, payment: shared.payment, invoice: shared.invoiceId };
    const fact = {
      code: 'mirror-refused',
      processorRefund: r.processorRefundId,
      other,
      ...refusalOf(row, failure),
    } as const;
    moveMirror(r, 'parked');
    askAgain(lane); // another credit note may have taken the room
    openCallReview(lane, row, fact, { refundId: r.id, paymentRowId: r.paymentRowId });
  },
  /** `retry` makes the call again from the refund, because the stored bytes may be erased by now. */
  chosen: (lane: Lane, item: ReviewRow, { resolution }: Choice) => {
    const r = lane.refunds.find((x) => x.id === item.refundId);
    if (resolution === 'retry' && r?.mirror === 'parked') moveMirror(r, 'waiting');
    return null;
  },
} as const;

export const reportRefundCall: CallRule<'report_refund'> = {
  ...mirrorCall,
  replied: (lane, { refund: r }) => {
    const p = lane.findPayment(r?.paymentRowId);
    if (r?.mirror === 'reporting' && p !== undefined) moveMirror(r, showNext(lane, p, r));
  },
};

export const creditNoteCall: CallRule<'issue_credit_note'> = {
  ...mirrorCall,
  replied: (lane, { refund: r }, { creditNoteId }) => {
    const p = lane.findPayment(r?.paymentRowId);
    if (r?.mirror !== 'crediting' || p === undefined) return;
    moveMirror(r, 'done', { creditNoteId });
    lane.post(refundMirrored(p, r, lane.now));
    lane.log('decision', `Stripe shows the refund: credit note ${creditNoteId}`, r);
  },
};
