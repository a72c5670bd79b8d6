// Takes in what came back from a call: the next step of a mark or a mirror, a retry, or an item for a person.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type OutboxRow, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { type BillingAnswer, type InvoiceFacts } from '../../domain/ports/billing-platform.js';
import { type CallOutcome, LIST_TOO_LONG } from '../../domain/ports/call.js';
import { type RefundAnswer } from '../../domain/ports/payment-gateway.js';
import { paymentMarked, refundMirrored } from '../../ledger/rules/postings.js';
import {
  addCall,
  addEntry,
  type Ctx,
  messageKey,
  note,
  openReview,
  putInvoice,
  putMessage,
  putPayment,
  putRefund,
  retryAt,
} from '../../domain/lane/change.js';
import { effectName } from '../../domain/lane/payment.js';
import { moveMark } from '../../domain/lane/moves.js';
import { paymentOf, said } from '../../domain/lane/answer-parts.js';
import { referenceIn, refundOf } from '../../refunds/rules/settle-refunds.js';
import { isNameless, newRefund } from './apply-event.js';
import { applyChannelAnswer, applyChannelSilence } from '../../channels/rules/channel-answer.js';
import { type Answer } from '../../domain/lane/answer.js';
import { applyRefused, decideAnew } from './apply-refusal.js';
import { applyTaxAnswer } from '../../tax/rules/tax-answer.js';
import { ensureInvoice, takeRead } from '../../domain/lane/facts.js';
import { tellFailed } from '../../renewals/rules/alarms.js';
import { FAILED_READS_SHOWN, FAILED_TRIES_SHOWN } from '../../policy.js';

/** A fresh read of the invoice came back, or did not. */
export function applyRead(s: LaneState, outcome: CallOutcome<InvoiceFacts | null>, ctx: Ctx): LaneState {
  if (outcome.ok) {
    const state = takeRead(s, ctx, outcome.value);
    const f = outcome.value;
    const text =
      f === null
        ? 'read from Stripe: there is no such invoice'
        : `read from Stripe: ${f.status}, ${showMoney({ minor: f.amountRemaining, currency: f.currency })} due`;
    return note(state, ctx, 'call', text, null, { call: 'read_invoice', requestId: outcome.requestId });
  }
  const { state, invoice } = ensureInvoice(s, ctx);
  const readAttempts = invoice.readAttempts + 1;
  const slow = outcome.kind === 'stopped' || outcome.kind === 'refused';
  const readDueAt = retryAt(ctx, readAttempts, outcome.retryAfterMs, slow);
  const later = putInvoice(state, { ...invoice, readAttempts, readDueAt });
  if (readAttempts > FAILED_READS_SHOWN) return later;
  return note(later, ctx, 'call', `read from Stripe failed: ${said(outcome)}`, null, {
    call: 'read_invoice',
    requestId: outcome.requestId,
  });
}

/** A stored call was sent and answered, or not. */
export function applyAnswer(s: LaneState, messageId: string, outcome: CallOutcome<Answer>, ctx: Ctx): LaneState {
  const m = s.messages.find((x) => x.id === messageId);
  if (m === undefined || m.status !== 'pending') return s;
  const tried: OutboxRow = {
    ...m,
    attempts: m.attempts + 1,
    firstTriedAt: m.firstTriedAt ?? ctx.now,
    lastStatus: outcome.status,
    lastRequestId: outcome.requestId,
    lastCode: outcome.ok ? null : outcome.code,
    lastMessage: outcome.ok ? null : outcome.message,
  };
  const detail = {
    call: m.kind,
    key: m.key,
    attempt: tried.attempts,
    status: outcome.status,
    requestId: outcome.requestId,
  };
  if (outcome.ok) {
    const state = putMessage(s, { ...tried, status: 'done', answeredAt: ctx.now });
    return applyDone(note(state, ctx, 'call', `${m.kind} done`, m.id, detail), tried, outcome.value, ctx);
  }
  const noted =
    tried.attempts > FAILED_TRIES_SHOWN && outcome.kind !== 'refused'
      ? s
      : note(s, ctx, 'call', `${m.kind}: ${said(outcome)}`, m.id, detail);
  if (outcome.kind === 'refused') {
    return applyRefused(putMessage(noted, { ...tried, status: 'refused', answeredAt: ctx.now }), tried, outcome, ctx);
  }
  const replaying = outcome.replayed && outcome.status !== null && outcome.status >= 500;
  const nextTryAt = retryAt(ctx, tried.attempts, outcome.retryAfterMs, outcome.kind === 'stopped');
  const state = putMessage(noted, { ...tried, nextTryAt, replaying });
  if (m.kind === 'create_proforma' || m.kind === 'create_payment_link') return applyChannelSilence(state, m, ctx);
  if (m.kind !== 'create_refund' || outcome.kind !== 'unknown') return state;
  const r = state.refunds.find((x) => x.id === m.subject);
  return r?.status === 'requested' ? putRefund(state, { ...r, status: 'unknown' }) : state;
}

/**
 * Looked whether an unanswered call had its effect. Done: as if answered. Surely absent: a next key is written down before
 * anything is sent again, unless the invoice cannot take it any more.
 */
export function applyProbe(
  s: LaneState,
  messageId: string,
  outcome: CallOutcome<{ readonly done: true; readonly answer: BillingAnswer } | { readonly done: false }>,
  ctx: Ctx,
): LaneState {
  const m = s.messages.find((x) => x.id === messageId);
  if (m === undefined || m.status !== 'pending') return s;
  if (!outcome.ok && outcome.code === LIST_TOO_LONG && m.kind === 'report_payment')
    return cannotBeFound(putMessage(s, { ...m, status: 'refused', answeredAt: ctx.now }), m, outcome.message, ctx);
  if (!outcome.ok)
    return putMessage(s, {
      ...m,
      nextTryAt: retryAt(ctx, m.attempts + 1, outcome.retryAfterMs),
      attempts: m.attempts + 1,
    });
  if (outcome.value.done) return applyAnswer(s, messageId, { ...outcome, value: outcome.value.answer }, ctx);
  const payable = s.invoice?.platformStatus === 'open' || s.invoice?.platformStatus === 'uncollectible';
  const p = paymentOf(s, m);
  if (!payable && p !== undefined && (m.kind === 'attach_payment' || m.kind === 'pay_out_of_band')) {
    const dropped = putMessage(s, { ...m, status: 'cancelled', answeredAt: ctx.now });
    return note(
      putPayment(dropped, moveMark(p, 'waiting')),
      ctx,
      'decision',
      `${m.kind} withdrawn: it had no effect and the invoice cannot take it`,
      m.id,
    );
  }
  const generation = m.generation + 1;
  const fresh: OutboxRow = {
    ...m,
    generation,
    key: messageKey(m.kind, m.subject, generation),
    attempts: 0,
    firstTriedAt: null,
    replaying: false,
    nextTryAt: ctx.now,
    createdAt: ctx.now,
  };
  return note(
    putMessage(s, fresh),
    ctx,
    'decision',
    `${m.kind} had no effect under its key: next key ${fresh.key}`,
    m.id,
  );
}

/** There are more records than can be gone through, and each look would find more: a person looks for the reference. */
function cannotBeFound(s: LaneState, m: OutboxRow, why: string, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  if (p === undefined) return s;
  return openReview(putPayment(s, moveMark(p, 'parked')), ctx, {
    kind: 'effect_failed',
    subject: `${m.kind}:${m.subject}`,
    paymentRowId: p.id,
    summary: `whether payment ${effectName(p)} was reported cannot be found out: ${why}`,
    proposal: `Look for a payment record with reference ${p.reference ?? effectName(p)} on Stripe. There is none: retry. There is one: attach it by hand and dismiss this.`,
  });
}

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
  if (outcome.ok && outcome.value.done) {
    const { answer } = outcome.value;
    if (answer.kind === 'report_payment')
      return putPayment(s, { ...p, paymentRecordId: answer.paymentRecordId, markMode: 'payment_record' });
    if (answer.kind === 'set_reference') return putPayment(s, { ...p, markMode: 'out_of_band' });
    const markMode = answer.kind === 'attach_payment' ? 'payment_record' : 'out_of_band';
    return confirm(s, { ...p, markMode }, ctx, 'found on Stripe');
  }
  const what = p.amount === null ? 'money' : showMoney({ minor: p.amount, currency: p.currency });
  const record = p.paymentRecordId === null ? '' : ` (its payment record ${p.paymentRecordId} is not attached)`;
  return openReview(putPayment(s, moveMark(p, 'parked')), ctx, {
    kind: 'double_payment',
    subject: p.id,
    paymentRowId: p.id,
    summary: `${what} was taken although the invoice was already paid another way${record}`,
    proposal: `Refund ${what}.`,
  });
}

function applyDone(s: LaneState, m: OutboxRow, a: Answer, ctx: Ctx): LaneState {
  const p = paymentOf(s, m);
  const r = refundOf(s, m);
  switch (a.kind) {
    case 'finalize_invoice': {
      const state = takeRead(s, ctx, a.invoice);
      return p?.mark === 'finalizing' ? putPayment(state, moveMark(p, 'waiting')) : state;
    }
    case 'report_payment': {
      if (p?.mark !== 'reporting') return s;
      const reported = putPayment(s, { ...moveMark(p, 'attaching'), paymentRecordId: a.paymentRecordId });
      const call = { kind: 'attach_payment', invoiceId: p.invoiceId, paymentRecordId: a.paymentRecordId } as const;
      return addCall(reported, ctx, call, m.subject);
    }
    case 'set_reference': {
      if (p?.mark !== 'referencing') return s;
      const state = putPayment(takeRead(s, ctx, a.invoice), moveMark(p, 'paying'));
      return addCall(state, ctx, { kind: 'pay_out_of_band', invoiceId: p.invoiceId }, m.subject);
    }
    case 'attach_payment':
    case 'pay_out_of_band': {
      const state = takeRead(s, ctx, a.invoice);
      return p === undefined ? state : confirm(state, p, ctx, `Stripe shows it ${a.invoice.status}`);
    }
    case 'report_refund': {
      if (r?.mirror !== 'reporting') return s;
      const amount = { minor: r.amount, currency: r.currency };
      // The reference it was reported under: the refund may have got another id since.
      const reference = referenceIn(s, r, m.subject);
      const refunded = { paymentRecordId: a.paymentRecordId, reference };
      const call = {
        kind: 'issue_credit_note',
        invoiceId: r.invoiceId,
        refundId: reference,
        amount,
        refunded,
      } as const;
      return addCall(putRefund(s, { ...r, mirror: 'crediting' }), ctx, call, m.subject);
    }
    case 'issue_credit_note': {
      const of = s.payments.find((x) => x.id === r?.paymentRowId);
      if (r?.mirror !== 'crediting' || of === undefined) return s;
      const done = putRefund(s, { ...r, mirror: 'done', creditNoteId: a.creditNoteId });
      return note(
        addEntry(done, refundMirrored(of, r, ctx.now)),
        ctx,
        'decision',
        `the refund shows on Stripe: ${a.creditNoteId}`,
        r.id,
      );
    }
    case 'create_refund':
      return r === undefined ? s : applyRefundAnswer(s, r, a.refund, ctx);
    case 'create_proforma':
    case 'create_payment_link':
      return applyChannelAnswer(s, m, a, ctx);
    case 'calculate_tax':
    case 'commit_tax':
    case 'refund_tax':
      return applyTaxAnswer(s, m, a, ctx);
    case 'relay_event':
      return s;
  }
}

function confirm(s: LaneState, p: PaymentRow, ctx: Ctx, how: string): LaneState {
  if (p.amount === null || p.mark === 'confirmed') return s;
  const at = p.mark === 'waiting' || p.mark === 'attaching' || p.mark === 'paying' || p.mark === 'parked';
  if (!at) return s;
  const row = moveMark(p, 'confirmed');
  let state = addEntry(putPayment(s, row), paymentMarked(row, p.amount, ctx.now));
  state = note(state, ctx, 'decision', `payment ${effectName(p)} is marked: ${how}`, p.id);
  const i = state.invoice;
  if (i === null || i.platformStatus === 'paid' || i.amountRemaining === 0n || p.waived.includes('amount_mismatch'))
    return state;
  return openReview(state, ctx, {
    kind: 'amount_mismatch',
    subject: p.id,
    paymentRowId: p.id,
    summary: `the payment is attached, and the invoice is still ${i.platformStatus} with ${showMoney({ minor: i.amountRemaining ?? 0n, currency: p.currency })} due`,
    proposal: 'The invoice changed while it was being marked. Collect the rest, or credit it on Stripe.',
  });
}

/** Another refund of ours of the same amount without a name: the one whose event was taken for this one's. */
function twinOf(s: LaneState, r: RefundRow): RefundRow | undefined {
  return s.refunds.find((x) => x.id !== r.id && x.paymentRowId === r.paymentRowId && isNameless(x, r.amount));
}

/** Document 3, "Refund", as the answer to our request. The webhook may have told the same before. */
function applyRefundAnswer(s: LaneState, r: RefundRow, a: RefundAnswer, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  if (p === undefined) return s;
  const known = s.refunds.some(
    (x) =>
      x.id !== r.id &&
      x.paymentRowId === r.paymentRowId &&
      (x.morRefundId === a.morRefundId ||
        (a.processorRefundId !== null && x.processorRefundId === a.processorRefundId)),
  );
  if (a.amountMinor !== r.amount || a.currency !== r.currency || a.paymentId !== p.paymentId) {
    const told = `${showMoney({ minor: a.amountMinor, currency: a.currency })} of ${a.paymentId}`;
    return openReview(
      putRefund(s, {
        ...r,
        status: r.status === 'requested' ? 'unknown' : r.status,
        morRefundId: r.morRefundId ?? (known || a.paymentId !== p.paymentId ? null : a.morRefundId),
      }),
      ctx,
      {
        kind: 'refund_gap',
        subject: r.id,
        paymentRowId: p.id,
        refundId: r.id,
        summary: `${showMoney({ minor: r.amount, currency: r.currency })} of ${p.paymentId ?? p.id} was asked to be given back; the MoR answered ${told}`,
        proposal: 'Ask the MoR what it gave back. Nothing was mirrored from this answer.',
      },
    );
  }
  if (known) return s; // the webhook brought it as a refund of its own: the sums are right
  const isAnother =
    (r.morRefundId !== null && r.morRefundId !== a.morRefundId) ||
    (r.processorRefundId !== null && a.processorRefundId !== null && r.processorRefundId !== a.processorRefundId);
  const base: RefundRow = isAnother ? (twinOf(s, r) ?? newRefund(ctx, p, r.amount, r.reason, 'api')) : r;
  const settled = base.status === 'succeeded';
  const row: RefundRow = {
    ...base,
    morRefundId: a.morRefundId,
    processorRefundId: base.processorRefundId ?? a.processorRefundId,
    status: settled ? base.status : a.status,
    succeededAt: a.status === 'succeeded' ? (base.succeededAt ?? a.createdAt ?? ctx.now) : base.succeededAt,
    failure:
      a.status === 'failed' && !settled
        ? { status: null, code: 'refund_failed', message: 'the MoR says that the refund failed' }
        : null,
  };
  const state = putRefund(s, row);
  if (a.status !== 'failed' || settled) return state;
  return tellFailed(decideAnew(state, p.id), row, ctx);
}
