// The calls of a mark: each reply leads to the next step. And a person's choice for a payment that is kept from its invoice.
import { type Draft } from '../../domain/row.js';
import { type DoubleFact } from '../../domain/facts/money.js';
import { type ByHand } from '../../domain/facts/parts.js';
import {
  type InvoiceRow,
  type LaneRows,
  type OutboxRow,
  type PaymentRow,
  type ReviewRow,
  moveMark,
} from '../../domain/model.js';
import { type Money } from '../../domain/money.js';
import { effectName } from '../../domain/payment-name.js';
import { type BillingAnswer, type BillingCall } from '../../domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome, LIST_TOO_LONG, said } from '../../domain/ports/call.js';
import { isSurplus } from '../../domain/surplus.js';
import { askOfCall, type Call, refusalOf, type CallRule } from '../../engine/call.js';
import { retryAt } from '../../engine/context.js';
import { type Refusal, refuse, type Choice } from '../../engine/commanded.js';
import { type Lane } from '../../engine/draft.js';
import { askAgain, isFresh, requireRead, takeRead } from '../../engine/facts.js';
import { type Lookup } from '../../engine/lookup.js';
import { observationsOf } from '../../engine/open-money.js';
import { awaitVerdict, closePayment, isCallOf, saysNothing } from '../../engine/payment.js';
import { paymentMarked } from '../../domain/postings.js';
import { MARK_TRIES } from '../../policy.js';
import { findToLookUp, referenceOf, reportOf, standsStillUntil } from './mark.js';
import { surplusToRefund } from './payment.js';

type Payment = Draft<PaymentRow>;
type Probed = CallOutcome<{ readonly done: true; readonly answer: BillingAnswer } | { readonly done: false }>;

/** A payment record of ours that a restored database forgot shows as money paid: it is attached as soon as it is reported. */
const bearsMoney = ({ invoice }: LaneRows): boolean => (invoice?.amountPaid ?? 0n) > 0n;

/** A draft is made final, so that its payment can be marked. */
export const finalizeCall: CallRule<'finalize_invoice'> = {
  order: 0,
  readFirst: true,
  replied: (lane, { payment: p }, { invoice }) => {
    if (p?.mark === 'finalizing') moveMark(p, 'waiting');
    takeRead(lane, invoice);
  },
  // The payment waits: as soon as the invoice is final, it is marked.
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
  // There are more records than can be gone through, and each look would find more: a person looks for the reference.
  untraceable: (lane, { row, payment: p }, why) => {
    if (p === undefined) return;
    moveMark(p, 'parked');
    const reference = p.reference ?? effectName(p);
    const fact = { code: 'mark-untraceable', payment: effectName(p), reference, why } as const;
    askOfCall(lane, row, fact, { paymentRowId: p.id });
  },
  chosen: chooseMark,
};

export const setReferenceCall: CallRule<'set_reference'> = {
  order: 0,
  readFirst: true,
  replied: (lane, { row, payment: p }, { invoice }) => {
    if (p?.mark !== 'referencing') return;
    takeRead(lane, invoice);
    moveMark(p, 'paying');
    lane.call({ kind: 'pay_out_of_band', invoiceId: p.invoiceId }, row.subject, p);
  },
  refused: markRefused,
  chosen: chooseMark,
};

/** The call that marks the invoice paid: the payment record is attached, or the invoice is paid out of band. */
export const endOfMarkCall: CallRule<'attach_payment' | 'pay_out_of_band'> = {
  order: 0,
  readFirst: true,
  mayBeThere: bearsMoney,
  replied: (lane, { payment: p }, reply) => {
    const before = lane.toState().invoice;
    takeRead(lane, reply.invoice);
    if (p === undefined) return;
    confirm(lane, p, `Stripe shows it ${reply.invoice.status}`);
    askIfBeyond(lane, p, before, findOutOfBand(reply));
  },
  notBefore: (lane, { row: m }) => {
    const { payments, invoice } = lane.toState();
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

const findOutOfBand = (a: BillingAnswer): bigint | undefined =>
  a.kind === 'pay_out_of_band' ? a.outOfBand : undefined;

function confirm(lane: Lane, p: Payment, how: string): void {
  if (p.amount === null || !['waiting', 'attaching', 'paying', 'parked'].includes(p.mark)) return;
  moveMark(p, 'confirmed');
  lane.book(paymentMarked(p, p.amount, lane.now));
  lane.say('decision', `payment ${effectName(p)} is marked: ${how}`, p);
}

/**
 * Out of band Stripe takes all of the amount due for paid. More may have become due between our read and our mark. `before`: the invoice
 * before the mark. After a lost answer it shows the mark already; then `outOfBand` or the other payments give the marked amount.
 */
export function askIfBeyond(lane: Lane, p: Payment, before: InvoiceRow | null, outOfBand?: bigint): void {
  const is = lane.invoice?.amountPaid ?? 0n;
  const known = before?.amountPaid ?? 0n;
  const others = lane.payments.filter((x) => x.id !== p.id && x.mark === 'confirmed');
  const was = known < is ? known : others.reduce((sum, x) => sum + (x.amount ?? 0n), 0n);
  const minor = outOfBand ?? is - was;
  const { amount, currency } = p;
  if (p.markMode !== 'out_of_band' || amount === null || minor <= amount) return;
  const fact = { code: 'marked-beyond', shown: { minor, currency }, taken: { minor: amount, currency } } as const;
  lane.ask({ kind: 'amount_mismatch', subject: p.id, paymentRowId: p.id, fact, actions: ['dismiss'] });
}

/** Stripe refused a step of the mark: Crossbill looks at the invoice once more, then asks a person. */
function markRefused(lane: Lane, { row, payment: p }: Call, f: CallFailure): void {
  if (p === undefined) return;
  p.markTries += 1;
  const i = lane.invoice;
  if (row.kind !== 'report_payment' && p.markTries < MARK_TRIES && i !== null) {
    moveMark(p, 'waiting');
    i.readAt = null; // it may be void or paid by now
    return;
  }
  moveMark(p, 'parked');
  const fact = { code: 'mark-refused', byHand: findWayByHand(row, p), ...refusalOf(row, f) } as const;
  askOfCall(lane, row, fact, { paymentRowId: p.id });
}

/**
 * The way to mark the invoice by hand so that Crossbill finds and books this payment. Without it a dismissal leaves the money unmarked in
 * the books, and Stripe shows no refund of it.
 */
function findWayByHand({ asked }: OutboxRow, p: PaymentRow): ByHand | null {
  // With a part the invoice does not become paid: a retry would mark it a second time.
  if (asked === null || p.amount === null || p.waived.includes('amount_mismatch')) return null;
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

/** The invoice is paid: was it with this payment? Crossbill looks on Stripe. */
export const identifyLookup: Lookup<{ readonly payment: string; readonly asked: BillingCall }, Probed> = {
  name: 'identify',
  wanted: (lane) => {
    const p = findToLookUp(lane);
    return p === undefined || !isFresh(lane.invoice, lane.now)
      ? null
      : { payment: p.id, asked: callToLookFor(lane, p) };
  },
  ask: ({ asked }, { platform }) => platform.probe(asked),
  take: (lane, outcome, { payment }) => {
    const p = lane.findPayment(payment);
    const i = lane.invoice;
    if (p === undefined || i === null || p.mark !== 'waiting') return;
    // 404: this platform keeps no such list. Too long a list: the invoice's own payments were gone through. A person decides.
    if (!outcome.ok && outcome.status !== 404 && outcome.code !== LIST_TOO_LONG) {
      i.readAttempts += 1;
      i.readAt = null;
      i.readDueAt = retryAt(lane.ctx, i.readAttempts, outcome.retryAfterMs);
      return;
    }
    takeIdentified(lane, p, outcome.ok && outcome.value.done ? outcome.value.answer : null);
  },
};

function takeIdentified(lane: Lane, p: Payment, answer: BillingAnswer | null): void {
  const taken: Money = { minor: p.amount ?? 0n, currency: p.currency };
  const park = (fact: DoubleFact): void => {
    moveMark(p, 'parked');
    lane.ask({ kind: 'double_payment', subject: p.id, paymentRowId: p.id, fact });
  };
  if (answer === null)
    return park({ code: 'paid-otherwise', taken, record: p.paymentRecordId, observations: observationsOf(lane) });
  if (answer.kind === 'set_reference') {
    p.markMode = 'out_of_band';
    return;
  }
  if (answer.kind === 'report_payment') {
    const { paymentRecordId } = answer;
    // A record is one payment's, and the MoR may have named one charge twice.
    const twin = lane.payments.find((x) => x.id !== p.id && x.paymentRecordId === paymentRecordId);
    if (twin !== undefined)
      return park({ code: 'named-again', taken, charge: p.processorChargeId, payment: effectName(twin) });
    Object.assign(p, { paymentRecordId, markMode: 'payment_record' });
    return;
  }
  p.markMode = answer.kind === 'attach_payment' ? 'payment_record' : 'out_of_band';
  confirm(lane, p, 'found on Stripe');
  askIfBeyond(lane, p, lane.invoice, findOutOfBand(answer));
}

/** What this payment's own mark on an invoice that is paid would have been. */
function callToLookFor(lane: Lane, p: PaymentRow): BillingCall {
  const { invoiceId, paymentRecordId } = p;
  if (paymentRecordId !== null) return { kind: 'attach_payment', invoiceId, paymentRecordId };
  // The reference is there; was it paid out of band, or did Stripe collect it after all?
  if (p.markMode === 'out_of_band') return { kind: 'pay_out_of_band', invoiceId };
  if (lane.settings.markMode !== 'out_of_band') return reportOf(p, p.amount ?? 0n, lane.now);
  // The reference as it was written: the payment may have got another name since.
  const written = lane.messages.findLast((m) => m.kind === 'set_reference' && isCallOf(m, p))?.asked ?? null;
  return written ?? { kind: 'set_reference', invoiceId, paymentId: effectName(p), reference: referenceOf(p) };
}

const NOT_PROVEN =
  'Whether this charge is real is not known yet. Dismiss this once it is, or complete the signup again with the right amount.';

/** A payment that waits for a person: applied, given back, tried again, or left aside. */
export function chooseMark(lane: Lane, r: ReviewRow, { resolution }: Choice): Refusal | null {
  const p = lane.findPayment(r.paymentRowId);
  // Nobody knows yet whether there is money at all: closed now, its mark would begin, or be dropped, once it is proven, unasked.
  if (resolution === 'dismiss' && p?.mark === 'proving' && r.subject === p.signupId)
    return refuse(409, 'resolution_not_available', NOT_PROVEN, 'resolution');
  // It is on the invoice already: a retry reads the invoice again, and its items say what still holds.
  if (resolution === 'retry' && (isSurplus(r) || p?.mark === 'confirmed')) askAgain(lane);
  // Only the number of an unproven signup is settled: another item asks whether the MoR knows the charge at all.
  if (p === undefined || (r.kind === 'amount_mismatch' && p.mark === 'parked' && p.succeededAt === null)) return null;
  if (resolution === 'dismiss') {
    if (p.mark !== 'parked') return null;
    closePayment(p);
    // It named a charge of another invoice: an earlier refusal is not the MoR's last word on this one, and a silent MoR is an alarm.
    if (saysNothing(p) && lane.invoice?.retries?.waitingSince === null) awaitVerdict(lane, lane.now);
    return null;
  }
  if (resolution === 'apply' && p.mark === 'parked') {
    if (r.subject !== p.signupId) p.waived = findWaived(lane, r, p); // of a signup only its number is settled: the amounts are compared
  } else if (resolution === 'retry' && (p.mark === 'parked' || p.mark === 'held')) p.markTries = 0;
  else return null;
  moveMark(p, 'waiting');
  requireRead(lane);
  return null;
}

/** A person applies a payment and waives these differences. A part of a bank transfer differs from the amount due, as everybody knows. */
function findWaived(lane: Lane, { kind }: ReviewRow, p: Payment): Payment['waived'] {
  const due = lane.invoice?.amountRemaining ?? null;
  const isMore = due !== null && p.amount !== null && p.amount > due;
  // Once some was given back, that was the surplus and no sale, and Stripe credits it as well: an item after the mark says so.
  const isRefunded = lane.findRefunds(p).some((x) => x.status !== 'failed');
  const waived = [...p.waived.filter((x) => x !== 'surplus'), kind === 'partial_transfer' ? 'amount_mismatch' : kind];
  return isMore && !isRefunded ? [...waived, 'surplus'] : waived;
}

/** Refunds a payment by a person's choice for an item. `amount`: smallest units; null: the rest of the payment. */
export type GiveBack = (
  lane: Lane,
  item: ReviewRow,
  p: PaymentRow | undefined,
  amount: bigint | null,
  by: string,
) => Refusal | null;

const NOTHING_LEFT = 'What was paid too much was refunded, or is being refunded. Nothing of it is left to give back.';

/** A person gives the payment back, or of a surplus the rest. */
export function chooseRefund(lane: Lane, r: ReviewRow, by: string, giveBack: GiveBack): Refusal | null {
  const surplus = surplusToRefund(lane.toState(), r);
  if (surplus === 0n) return refuse(409, 'resolution_not_available', NOTHING_LEFT, 'resolution');
  return giveBack(lane, r, lane.findPayment(r.paymentRowId), surplus, by);
}
