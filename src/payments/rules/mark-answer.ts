// What Stripe answered to the calls of a mark: the next step of it, the mark itself, or an item for a person.
import { type LaneState, type OutboxRow, type PaymentRow } from '../../domain/model.js';
import { addCall, addEntry, type Ctx, note, openReview, putInvoice, putPayment, retryAt } from '../../engine/change.js';
import { moveMark } from '../../engine/moves.js';
import { paymentMarked } from '../../ledger/rules/postings.js';
import { effectName } from '../../domain/payment-name.js';
import { type ByHand } from '../../domain/facts/parts.js';
import { type Money } from '../../domain/money.js';
import { observationsOf } from '../../engine/open-money.js';
import { type CallFailure, type CallOutcome, LIST_TOO_LONG, said } from '../../domain/ports/call.js';
import { type BillingAnswer } from '../../domain/ports/billing-platform.js';
import { callFailed, paymentOf, refusalOf, type AnswerTo } from '../../engine/call.js';
import { type CallRule } from '../../engine/subject.js';
import { takeRead } from '../../engine/facts.js';
import { standsStillUntil } from './mark.js';
import { markReview } from './mark-review.js';
import { tellBeyond, tellRest } from './rest.js';
import { MARK_TRIES } from '../../policy.js';

/** A payment record of ours that a restored database forgot shows on the invoice as money paid, as it is attached only once reported. */
const bearsMoney = ({ invoice }: LaneState): boolean => (invoice?.amountPaid ?? 0n) > 0n;

/** A draft is made final, so that its payment can be marked. */
export const finalizeCall: CallRule<AnswerTo<'finalize_invoice'>> = {
  order: 0,
  readFirst: true,
  answered: (s, m, a, ctx) => {
    const p = paymentOf(s, m);
    const state = takeRead(s, ctx, a.invoice);
    return p?.mark === 'finalizing' ? putPayment(state, moveMark(p, 'waiting')) : state;
  },
  refused: finalizeRefused,
};

export const reportPaymentCall: CallRule<AnswerTo<'report_payment'>> = {
  order: 0,
  readFirst: true,
  mayBeThere: bearsMoney,
  answered: (s, m, a, ctx) => {
    const p = paymentOf(s, m);
    if (p?.mark !== 'reporting') return s;
    const reported = putPayment(s, { ...moveMark(p, 'attaching'), paymentRecordId: a.paymentRecordId });
    const call = { kind: 'attach_payment', invoiceId: p.invoiceId, paymentRecordId: a.paymentRecordId } as const;
    return addCall(reported, ctx, call, m.subject, p.id);
  },
  refused: markRefused,
  untraceable: cannotBeFound,
  resolve: markReview,
};

export const setReferenceCall: CallRule<AnswerTo<'set_reference'>> = {
  order: 0,
  readFirst: true,
  answered: (s, m, a, ctx) => {
    const p = paymentOf(s, m);
    if (p?.mark !== 'referencing') return s;
    const state = putPayment(takeRead(s, ctx, a.invoice), moveMark(p, 'paying'));
    return addCall(state, ctx, { kind: 'pay_out_of_band', invoiceId: p.invoiceId }, m.subject, p.id);
  },
  refused: markRefused,
  resolve: markReview,
};

/** The call that marks the invoice paid: the payment record is attached, or the invoice is paid out of band. */
export const endOfMarkCall: CallRule<AnswerTo<'attach_payment' | 'pay_out_of_band'>> = {
  order: 0,
  readFirst: true,
  mayBeThere: bearsMoney,
  answered: (s, m, a, ctx) => {
    const p = paymentOf(s, m);
    const state = takeRead(s, ctx, a.invoice);
    if (p === undefined) return state;
    return tellBeyond(confirm(state, p, ctx, `Stripe shows it ${a.invoice.status}`), p, s.invoice, outOfBandOf(a), ctx);
  },
  notBefore: (s, m, ctx) => {
    const p = paymentOf(s, m);
    return p === undefined || s.invoice === null ? null : standsStillUntil(p, s.invoice, m, ctx);
  },
  refused: markRefused,
  withdrawn: (s, m) => {
    const p = paymentOf(s, m);
    return p === undefined ? null : putPayment(s, moveMark(p, 'waiting'));
  },
  resolve: markReview,
};

const outOfBandOf = (a: BillingAnswer): bigint | undefined => (a.kind === 'pay_out_of_band' ? a.outOfBand : undefined);

/** The invoice is paid and nobody here knew by what: was it this payment? */
export function applyIdentified(
  s: LaneState,
  paymentRowId: string,
  outcome: CallOutcome<{ readonly done: true; readonly answer: BillingAnswer } | { readonly done: false }>,
  ctx: Ctx,
): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  const i = s.invoice;
  if (p === undefined || i === null || p.mark !== 'waiting') return s;
  // 404 means that this platform keeps no such list, and with too long a one the invoice's own payments were gone through: nothing more
  // can be found out, and a person decides.
  if (!outcome.ok && outcome.status !== 404 && outcome.code !== LIST_TOO_LONG)
    return putInvoice(s, {
      ...i,
      readAt: null,
      readAttempts: i.readAttempts + 1,
      readDueAt: retryAt(ctx, i.readAttempts + 1, outcome.retryAfterMs),
    });
  const taken: Money = { minor: p.amount ?? 0n, currency: p.currency };
  if (outcome.ok && outcome.value.done) {
    const { answer } = outcome.value;
    const twin =
      answer.kind === 'report_payment'
        ? s.payments.find((x) => x.id !== p.id && x.paymentRecordId === answer.paymentRecordId)
        : undefined;
    if (twin !== undefined) return parkTwin(s, p, twin, taken, ctx);
    if (answer.kind === 'report_payment')
      return putPayment(s, { ...p, paymentRecordId: answer.paymentRecordId, markMode: 'payment_record' });
    if (answer.kind === 'set_reference') return putPayment(s, { ...p, markMode: 'out_of_band' });
    const markMode = answer.kind === 'attach_payment' ? 'payment_record' : 'out_of_band';
    const row = { ...p, markMode } as const;
    return tellBeyond(confirm(s, row, ctx, 'found on Stripe'), row, i, outOfBandOf(answer), ctx);
  }
  return openReview(putPayment(s, moveMark(p, 'parked')), ctx, {
    kind: 'double_payment',
    subject: p.id,
    paymentRowId: p.id,
    fact: { code: 'paid-otherwise', taken, record: p.paymentRecordId, observations: observationsOf(s) },
  });
}

/** The record that bears its charge is another payment's: a record is one payment's, and the MoR may have named one charge twice. */
function parkTwin(s: LaneState, p: PaymentRow, twin: PaymentRow, taken: Money, ctx: Ctx): LaneState {
  return openReview(putPayment(s, moveMark(p, 'parked')), ctx, {
    kind: 'double_payment',
    subject: p.id,
    paymentRowId: p.id,
    fact: { code: 'named-again', taken, charge: p.processorChargeId, payment: effectName(twin) },
  });
}

function confirm(s: LaneState, p: PaymentRow, ctx: Ctx, how: string): LaneState {
  if (p.amount === null || p.mark === 'confirmed') return s;
  const at = p.mark === 'waiting' || p.mark === 'attaching' || p.mark === 'paying' || p.mark === 'parked';
  if (!at) return s;
  const row = moveMark(p, 'confirmed');
  let state = addEntry(putPayment(s, row), paymentMarked(row, p.amount, ctx.now));
  state = note(state, ctx, 'decision', `payment ${effectName(p)} is marked: ${how}`, p.id);
  return tellRest(state, row, ctx);
}

/** There are more records than can be gone through, and each look would find more: a person looks for the reference. */
function cannotBeFound(s: LaneState, m: OutboxRow, why: string, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  if (p === undefined) return s;
  return openReview(putPayment(s, moveMark(p, 'parked')), ctx, {
    kind: 'effect_failed',
    subject: `${m.kind}:${m.subject}`,
    paymentRowId: p.id,
    fact: { code: 'mark-untraceable', payment: effectName(p), reference: p.reference ?? effectName(p), why },
  });
}

/** The payment waits: as soon as the invoice is final, it is marked. */
function finalizeRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  const i = s.invoice;
  if (p === undefined || i === null) return s;
  const state = putPayment(putInvoice(s, { ...i, finalizationError: said(f), readAt: null }), moveMark(p, 'waiting'));
  return openReview(state, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    paymentRowId: p.id,
    fact: { code: 'finalization-failed', invoice: i.invoiceId, said: said(f) },
  });
}

/** Stripe refused a step of the mark: it is looked at afresh once, then a person is asked. */
function markRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  if (p === undefined) return s;
  const markTries = p.markTries + 1;
  const i = s.invoice;
  if (m.kind !== 'report_payment' && markTries < MARK_TRIES && i !== null) {
    const again = putPayment(s, { ...moveMark(p, 'waiting'), markTries });
    return putInvoice(again, { ...i, readAt: null }); // look again: it may be void or paid by now
  }
  const parked = putPayment(s, { ...moveMark(p, 'parked'), markTries });
  const fact = { code: 'mark-refused', byHand: byHand(m, p), ...refusalOf(m, f) } as const;
  return callFailed(parked, m, fact, { paymentRowId: p.id }, ctx);
}

/**
 * How a person marks the invoice so that Crossbill finds this payment on it and books it. Dismissed instead, the money would stay unmarked in
 * the books, and no refund of it would show on Stripe.
 */
function byHand({ asked }: OutboxRow, p: PaymentRow): ByHand | null {
  // Of a part the invoice does not become paid: a retry would mark it a second time.
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
