// The calls of a mark: each reply leads to the next call. Also carries out a person's choice for a parked payment.
import { type Mutable } from '../../../shared/domain/row.js';
import { type ByHand } from '../../../shared/domain/facts/parts.js';
import {
  type InvoiceRow,
  type LaneRows,
  type CallRow,
  type PaymentRow,
  type ReviewRow,
  moveMark,
} from '../../../shared/domain/model.js';
import { type Money } from '../../../shared/domain/money.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type BillingReply, type BillingCall } from '../../../shared/domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome, LIST_TOO_LONG, said } from '../../../shared/domain/ports/call.js';
import { isSurplus } from '../../../shared/domain/surplus.js';
import { openCallReview, type Call, refusalOf, type CallRule, isCallOf } from '../../../engine/call.js';
import { retryAt } from '../../../engine/context.js';
import { type Refusal, refuse, type Choice } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { askAgain, isFresh, requireRead, applyRead } from '../../books/rules/invoice-facts.js';
import { type Lookup } from '../../../engine/lookup.js';
import { observationsOf } from '../../books/rules/open-money.js';
import { awaitVerdict, closePayment, saysNothing } from '../../books/rules/payment-rows.js';
import { paymentMarked } from '../../../shared/domain/postings.js';
import { MARK_TRIES } from '../../../shared/policy.js';
import { ofPaid, type Parking } from './amount.js';
import { findToLookUp, referenceOf, reportOf, standsStillUntil } from './mark.js';
import { surplusToRefund } from './payment.js';

type Payment = Mutable<PaymentRow>;
type Checked = CallOutcome<{ readonly done: true; readonly reply: BillingReply } | { readonly done: false }>;

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

const findOutOfBand = (reply: BillingReply): bigint | undefined =>
  reply.kind === 'pay_out_of_band' ? reply.outOfBand : undefined;

function confirm(lane: Lane, payment: Payment, how: string): void {
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

/** Stripe shows the invoice as paid. This lookup searches Stripe for our own mark of the payment. */
export const identifyLookup: Lookup<{ readonly payment: string; readonly asked: BillingCall }, Checked> = {
  name: 'identify',
  wanted: (lane) => {
    const p = findToLookUp(lane);
    return p === undefined || !isFresh(lane.invoice, lane.now)
      ? null
      : { payment: p.id, asked: callToSearchFor(lane, p) };
  },
  ask: ({ asked }, { platform }) => platform.check(asked),
  apply: (lane, outcome, { payment }) => {
    const p = lane.findPayment(payment);
    const i = lane.invoice;
    if (p === undefined || i === null || p.mark !== 'waiting') return;
    // After most failures Crossbill searches again later. After two kinds of failure a later search would find no more,
    // so a person decides. 404: this Stripe account has no such list. LIST_TOO_LONG: Crossbill could search only the
    // invoice's own payments.
    if (!outcome.ok && outcome.status !== 404 && outcome.code !== LIST_TOO_LONG) {
      i.readAttempts += 1;
      i.readAt = null;
      i.readDueAt = retryAt(lane.ctx, i.readAttempts, outcome.retryAfterMs);
      return;
    }
    applyIdentified(lane, p, i, outcome.ok && outcome.value.done ? outcome.value.reply : null);
  },
};

function applyIdentified(lane: Lane, payment: Payment, invoice: InvoiceRow, reply: BillingReply | null): void {
  const taken: Money = { minor: payment.amount ?? 0n, currency: payment.currency };
  const park = (item: Parking): void => {
    moveMark(payment, 'parked');
    lane.openReview({ ...item, subject: payment.id, paymentRowId: payment.id });
  };
  if (reply === null) return park(ofPaid(invoice, taken, payment.paymentRecordId, observationsOf(lane)));
  if (reply.kind === 'set_reference') {
    payment.markMode = 'out_of_band';
    return;
  }
  if (reply.kind === 'report_payment') {
    const { paymentRecordId } = reply;
    // A payment record belongs to one payment. If two payments have the same record, the MoR reported one charge under
    // two ids.
    const twin = lane.payments.find((x) => x.id !== payment.id && x.paymentRecordId === paymentRecordId);
    if (twin !== undefined) {
      const fact = {
        code: 'named-again',
        taken,
        charge: payment.processorChargeId,
        payment: effectName(twin),
      } as const;
      return park({ kind: 'double_payment', fact });
    }
    Object.assign(payment, { paymentRecordId, markMode: 'payment_record' });
    return;
  }
  payment.markMode = reply.kind === 'attach_payment' ? 'payment_record' : 'out_of_band';
  confirm(lane, payment, 'found on Stripe');
  reviewIfBeyond(lane, payment, lane.invoice, findOutOfBand(reply));
}

/** The call that may have marked this paid invoice for us. Crossbill searches Stripe for the call's effect. */
function callToSearchFor(lane: Lane, payment: PaymentRow): BillingCall {
  const { invoiceId, paymentRecordId } = payment;
  if (paymentRecordId !== null) return { kind: 'attach_payment', invoiceId, paymentRecordId };
  // The invoice carries our reference. The search now shows if the invoice was paid out of band, or if Stripe collected
  // the money after all.
  if (payment.markMode === 'out_of_band') return { kind: 'pay_out_of_band', invoiceId };
  if (lane.settings.markMode !== 'out_of_band') return reportOf(payment, payment.amount ?? 0n, lane.now);
  // Search for the reference that Crossbill wrote: the payment may have another id by now.
  const written = lane.calls.findLast((m) => m.kind === 'set_reference' && isCallOf(m, payment))?.asked ?? null;
  return (
    written ?? { kind: 'set_reference', invoiceId, paymentId: effectName(payment), reference: referenceOf(payment) }
  );
}

const NOT_PROVEN =
  'Crossbill does not know yet whether this charge is real. Wait for the proof before you dismiss this, or complete the signup again with the right amount.';

/** Carries out a person's choice for a payment with an item: apply, retry or dismiss. `chooseRefund` makes refunds. */
export function chooseMark(lane: Lane, item: ReviewRow, { resolution }: Choice): Refusal | null {
  const p = lane.findPayment(item.paymentRowId);
  // Crossbill does not know yet if the MoR took any money for the signup. If a person dismissed the item now, the later
  // proof would start or drop the mark without asking.
  if (resolution === 'dismiss' && p?.mark === 'proving' && item.subject === p.signupId)
    return refuse(409, 'resolution_not_available', NOT_PROVEN, 'resolution');
  // Stripe already shows the payment on the invoice. `retry` reads the invoice again and checks each item.
  if (resolution === 'retry' && (isSurplus(item) || p?.mark === 'confirmed')) askAgain(lane);
  // For an unproven signup this choice settles only the amount. Another item asks a person if the MoR knows the charge.
  if (p === undefined || (item.kind === 'amount_mismatch' && p.mark === 'parked' && p.succeededAt === null))
    return null;
  if (resolution === 'dismiss') {
    if (p.mark !== 'parked') return null;
    closePayment(p);
    // The event of the dismissed payment named another invoice's charge. So the MoR may still give a verdict on this
    // invoice. If no verdict follows, an item opens.
    if (saysNothing(p) && lane.invoice?.retries?.waitingSince === null) awaitVerdict(lane, lane.now);
    return null;
  }
  if (resolution === 'apply' && p.mark === 'parked') {
    // with a choice about a signup's amount, the person does not accept a difference from the amount due
    if (item.subject !== p.signupId) p.waived = findWaived(lane, item, p);
  } else if (resolution === 'retry' && (p.mark === 'parked' || p.mark === 'held')) p.markTries = 0;
  else return null;
  moveMark(p, 'waiting');
  requireRead(lane);
  return null;
}

/**
 * The differences a person accepts by applying a payment. A part of a bank transfer always differs from the amount due.
 */
function findWaived(lane: Lane, { kind }: ReviewRow, payment: Payment): Payment['waived'] {
  const due = lane.invoice?.amountRemaining ?? null;
  const isMore = due !== null && payment.amount !== null && payment.amount > due;
  // If a person applies a payment above the amount due, the person accepts the surplus as a sale. If the payment has a
  // refund, the surplus is no sale, although Stripe credits it to the customer. So an item after the mark asks about
  // the surplus.
  const isRefunded = lane.findRefunds(payment).some((x) => x.status !== 'failed');
  const waived = [
    ...payment.waived.filter((x) => x !== 'surplus'),
    kind === 'partial_transfer' ? 'amount_mismatch' : kind,
  ];
  return isMore && !isRefunded ? [...waived, 'surplus'] : waived;
}

/**
 * Refunds a payment because a person chose so in an item. `amount` is in smallest units. Null: the rest of the payment.
 */
export type GiveBack = (
  lane: Lane,
  item: ReviewRow,
  payment: PaymentRow | undefined,
  wish: { readonly amount: bigint | null; readonly by: string },
) => Refusal | null;

const NOTHING_LEFT = 'The surplus is refunded, or its refund is under way. Nothing of it is left to refund.';

/** Refunds the payment, or the rest of a surplus, by a person's choice. */
export function chooseRefund(lane: Lane, item: ReviewRow, by: string, giveBack: GiveBack): Refusal | null {
  const surplus = surplusToRefund(lane, item);
  if (surplus === 0n) return refuse(409, 'resolution_not_available', NOTHING_LEFT, 'resolution');
  return giveBack(lane, item, lane.findPayment(item.paymentRowId), { amount: surplus, by });
}
