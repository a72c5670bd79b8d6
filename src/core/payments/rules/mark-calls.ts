// The calls of a mark: each reply leads to the next call.
import { type Mutable } from '../../../shared/domain/row.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { type CallRule, openCallReview, isCallOf, type Call, refusalOf } from '../../../engine/call.js';
import { applyRead } from '../../books/rules/invoice-facts.js';
import { said, type CallFailure } from '../../../shared/domain/ports/call.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { chooseMark } from './mark-choices.js';
import { standsStillUntil } from './withdraw-mark.js';
import { type BillingReply } from '../../../shared/domain/ports/billing-platform.js';
import { type Lane } from '../../../engine/lane.js';
import { paymentMarked } from '../../../shared/domain/postings.js';
import { MARK_TRIES } from '../../../shared/policy.js';
import { type ByHand } from '../../../shared/domain/facts/parts.js';

type Payment = Mutable<PaymentRow>;

/**
 * True if Stripe shows money on the invoice. The money may come from our own payment record: a restored database may
 * not know this record.
 */
const bearsMoney = ({ invoice }: LaneRows): boolean => (invoice?.amountPaid ?? 0n) > 0n;

/** Finalizes a draft invoice, so Crossbill can mark it. */
export const finalizeCall: CallRule<'finalize_invoice'> = {
  order: 0,
  readFirst: true,
  replied: (lane, { payment: p }, { invoice }) => {
    if (p?.mark === 'finalizing') moveMark(p, 'waiting');
    applyRead(lane, invoice);
  },
  // After Stripe's refusal the payment waits until Stripe has finalized the draft. Then Crossbill marks the invoice.
  refused: ({ invoice: i }, { payment: p }, f) => {
    if (p === undefined || i === null) return;
    Object.assign(i, { finalizationError: said(f), readAt: null });
    moveMark(p, 'waiting');
  },
};

export const reportPaymentCall: CallRule<'report_payment'> = {
  order: 0,
  readFirst: true,
  mayBeThere: bearsMoney,
  replied: (lane, { row, payment: p }, { paymentRecordId }) => {
    if (p?.mark !== 'reporting') return;
    moveMark(p, 'attaching', { paymentRecordId });
    lane.call({ kind: 'attach_payment', invoiceId: p.invoiceId, paymentRecordId }, row.subject, p);
  },
  refused: markRefused,
  // Stripe has too many payment records to search for our own record, and their number only grows. So Crossbill stops
  // searching, and a person looks for the reference.
  untraceable: (lane, { row, payment: p }, why) => {
    if (p === undefined) return;
    moveMark(p, 'parked');
    const reference = p.reference ?? effectName(p);
    const fact = { code: 'mark-untraceable', payment: effectName(p), reference, why } as const;
    openCallReview(lane, row, fact, { paymentRowId: p.id });
  },
  chosen: chooseMark,
};

export const setReferenceCall: CallRule<'set_reference'> = {
  order: 0,
  readFirst: true,
  replied: (lane, { row, payment: p }, { invoice }) => {
    if (p?.mark !== 'referencing') return;
    applyRead(lane, invoice);
    moveMark(p, 'paying');
    lane.call({ kind: 'pay_out_of_band', invoiceId: p.invoiceId }, row.subject, p);
  },
  refused: markRefused,
  chosen: chooseMark,
};

/** The last call of a mark makes the invoice paid: by the attached payment record, or as "paid out of band". */
export const endOfMarkCall: CallRule<'attach_payment' | 'pay_out_of_band'> = {
  order: 0,
  readFirst: true,
  mayBeThere: bearsMoney,
  replied: (lane, { payment: p }, reply) => {
    const before = lane.toState().invoice;
    applyRead(lane, reply.invoice);
    if (p === undefined) return;
    confirm(lane, p, `Stripe shows the invoice ${reply.invoice.status}`);
    reviewIfBeyond(lane, p, before, findOutOfBand(reply));
  },
  notBefore: (lane, { row: m }) => {
    const { payments, invoice } = lane;
    const p = payments.find((x) => isCallOf(m, x));
    return p === undefined || invoice === null ? null : standsStillUntil(p, invoice, m, lane);
  },
  refused: markRefused,
  withdrawn: (_, { payment: p }) => {
    if (p !== undefined) moveMark(p, 'waiting');
    return p !== undefined;
  },
  chosen: chooseMark,
};

export const findOutOfBand = (reply: BillingReply): bigint | undefined =>
  reply.kind === 'pay_out_of_band' ? reply.outOfBand : undefined;

export function confirm(lane: Lane, payment: Payment, how: string): void {
  if (payment.amount === null || !['waiting', 'attaching', 'paying', 'parked'].includes(payment.mark)) return;
  moveMark(payment, 'confirmed');
  lane.post(paymentMarked(payment, payment.amount, lane.now));
  lane.log('decision', `payment ${effectName(payment)} is marked: ${how}`, payment);
}

/**
 * Opens an item if a mark "paid out of band" covers more than its payment. The mark pays the whole amount due, and this
 * amount may grow between our read and our mark. `outOfBand`: the marked amount, if Stripe shows it. `before`: the
 * invoice before the mark; after a lost reply to the mark, `before` already includes the mark.
 */
export function reviewIfBeyond(lane: Lane, payment: Payment, before: InvoiceRow | null, outOfBand?: bigint): void {
  const is = lane.invoice?.amountPaid ?? 0n;
  const known = before?.amountPaid ?? 0n;
  const others = lane.payments.filter((x) => x.id !== payment.id && x.mark === 'confirmed');
  const was = known < is ? known : others.reduce((sum, x) => sum + (x.amount ?? 0n), 0n);
  const minor = outOfBand ?? is - was;
  const { amount, currency } = payment;
  if (payment.markMode !== 'out_of_band' || amount === null || minor <= amount) return;
  const fact = { code: 'marked-beyond', shown: { minor, currency }, taken: { minor: amount, currency } } as const;
  lane.openReview({
    kind: 'amount_mismatch',
    subject: payment.id,
    paymentRowId: payment.id,
    fact,
    actions: ['dismiss'],
  });
}

/**
 * Handles Stripe's refusal of a call of the mark: Crossbill reads the invoice and decides again. After MARK_TRIES
 * refusals, or after a refused report of the payment, a person decides instead.
 */
function markRefused(lane: Lane, { row, payment: p }: Call, failure: CallFailure): void {
  if (p === undefined) return;
  p.markTries += 1;
  const i = lane.invoice;
  if (row.kind !== 'report_payment' && p.markTries < MARK_TRIES && i !== null) {
    moveMark(p, 'waiting');
    i.readAt = null; // read again: the invoice may be void or paid by now
    return;
  }
  moveMark(p, 'parked');
  const fact = { code: 'mark-refused', byHand: findWayByHand(row, p), ...refusalOf(row, failure) } as const;
  openCallReview(lane, row, fact, { paymentRowId: p.id });
}

/**
 * Describes how a person can make the mark by hand, so that Crossbill finds and books the mark. If a person dismisses
 * the item without such a mark, the ledger shows an unmarked payment, and Stripe never shows the payment's refunds.
 */
function findWayByHand({ asked }: CallRow, payment: PaymentRow): ByHand | null {
  // Offer no mark by hand for a part payment: the mark leaves the invoice unpaid, so a retry would mark the payment a
  // second time.
  if (asked === null || payment.amount === null || payment.waived.includes('amount_mismatch')) return null;
  switch (asked.kind) {
    case 'report_payment':
      return { how: 'report', amount: asked.amount, reference: asked.reference };
    case 'attach_payment':
      return { how: 'attach', record: asked.paymentRecordId };
    case 'set_reference':
      return { how: 'metadata', payment: asked.paymentId, reference: asked.reference };
    default:
      return { how: 'out-of-band' };
  }
}
