// A refund's twin on Stripe: the report on its payment record and the credit note, once its payment shows on the invoice.
import { type LaneState, type OutboxRow, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { addCall, addEntry, type Ctx, note, openReview, putRefund } from '../../engine/change.js';
import { moveMirror } from '../../engine/moves.js';
import { refundMirrored, refundOfUnmarked } from '../../ledger/rules/postings.js';
import { isAbout, referenceIn, refundOf } from './refund-names.js';
import { isCallOf, mayHaveSettled, PARKING } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { type CallRule } from '../../engine/subject.js';
import { type AnswerTo, callFailed, refusalOf } from '../../engine/call.js';
import { mirrorReview } from './refund-review.js';
import { type CallFailure } from '../../domain/ports/call.js';
import { saleOf, surplusIn } from '../../domain/surplus.js';
import { isPayable } from '../../domain/status.js';

/** Writes down the refund's report and credit note once its payment shows on the invoice. */
export function mirrorRefunds(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return s;
  let state = s;
  for (const r of s.refunds) {
    if (r.paymentRowId !== p.id || r.mirror !== 'waiting') continue;
    if (p.mark === 'closed') {
      state = addEntry(putRefund(state, moveMirror(r, 'not_needed')), refundOfUnmarked(p, r, ctx.now));
      state = tellUnshown(state, p, r, ctx);
    }
    // Part of the invoice may still be due, beside a part payment that a person let through. A credit note would lower what is due instead
    // of showing the refund (Stripe docs, "Credit notes"), so its twin waits until the invoice is paid.
    if (p.mark !== 'confirmed' || isPayable(state.invoice) || waitsForShadow(state, p, ctx)) continue;
    state = startMirror(state, p, { ...r, surplus: surplusIn(state, r) }, ctx);
    // Whoever marked the payment mirrors its refunds too: the call is written down, and the books follow.
    if (ctx.settings.shadow !== true || state.refunds.find((x) => x.id === r.id)?.mirror === 'not_needed') continue;
    state = addEntry(putRefund(state, moveMirror(r, 'not_needed')), refundMirrored(p, r, ctx.now));
  }
  return state;
}

/** A person set the payment aside, maybe since they had marked the invoice for it themselves: then its refund has no twin from here. */
function tellUnshown(s: LaneState, p: PaymentRow, r: RefundRow, ctx: Ctx): LaneState {
  const item = s.reviews.findLast((x) => x.paymentRowId === p.id && PARKING.has(x.kind));
  // One that was given back for its item closed by that: it paid for nothing. Given back in the portal, it may have been the only money.
  const isTwice = r.origin === 'event' && s.payments.some((x) => x.id !== p.id && x.mark === 'confirmed');
  if ((item?.resolution !== 'dismiss' && !isTwice) || !mayHaveSettled(s, p)) return s;
  return openReview(s, ctx, {
    kind: 'refund_gap',
    subject: `${r.id}:unshown`,
    paymentRowId: p.id,
    refundId: r.id,
    fact: { code: 'refund-unshown', payment: effectName(p), amount: { minor: r.amount, currency: r.currency } },
  });
}

export const reportRefundCall: CallRule<AnswerTo<'report_refund'>> = {
  order: 2,
  readFirst: true,
  mayBeThere: () => true,
  answered: (s, m, a, ctx) => {
    const r = refundOf(s, m);
    if (r?.mirror !== 'reporting') return s;
    const amount = { minor: saleOf(r), currency: r.currency };
    if (amount.minor === 0n) return shown(s, r, ctx);
    // The reference it was reported under: the refund may have got another id since.
    const reference = reportedAs(s, r, m);
    const refunded = { paymentRecordId: a.paymentRecordId, reference };
    const call = { kind: 'issue_credit_note', invoiceId: r.invoiceId, refundId: reference, amount, refunded } as const;
    return addCall(putRefund(s, moveMirror(r, 'crediting')), ctx, call, m.subject, r.paymentRowId);
  },
  refused: mirrorRefused,
  resolve: mirrorReview,
};

export const creditNoteCall: CallRule<AnswerTo<'issue_credit_note'>> = {
  order: 2,
  readFirst: true,
  mayBeThere: () => true,
  answered: (s, m, a, ctx) => {
    const r = refundOf(s, m);
    const of = s.payments.find((x) => x.id === r?.paymentRowId);
    if (r?.mirror !== 'crediting' || of === undefined) return s;
    const done = putRefund(s, { ...moveMirror(r, 'done'), creditNoteId: a.creditNoteId });
    const said = `the refund shows on Stripe: ${a.creditNoteId}`;
    return note(addEntry(done, refundMirrored(of, r, ctx.now)), ctx, 'decision', said, r.id);
  },
  refused: mirrorRefused,
  resolve: mirrorReview,
};

/** Shadow mode was switched on over a payment that we marked: nobody else shows its refunds, and they are shown when it ends. */
function waitsForShadow(s: LaneState, p: PaymentRow, ctx: Ctx): boolean {
  if (ctx.settings.shadow !== true) return false;
  const isPaid = (m: OutboxRow): boolean => m.kind === 'pay_out_of_band' && m.status === 'done' && isCallOf(m, p);
  return p.paymentRecordId !== null || s.messages.some(isPaid);
}

function startMirror(s: LaneState, p: PaymentRow, r: RefundRow, ctx: Ctx): LaneState {
  const reference = refundReference(r);
  // Reported before, and the credit note was refused: it goes on from there, under the reference it was reported with.
  const reported = s.messages.find((m) => m.kind === 'report_refund' && m.status === 'done' && isAbout(s, r, m));
  if (p.paymentRecordId === null || reported !== undefined) {
    const refunded =
      p.paymentRecordId === null || reported === undefined
        ? null
        : { paymentRecordId: p.paymentRecordId, reference: reportedAs(s, r, reported) };
    const amount = { minor: saleOf(r), currency: r.currency };
    if (amount.minor === 0n) return shown(s, reported === undefined ? r : moveMirror(r, 'reporting'), ctx);
    const name = refunded?.reference ?? reference;
    const call = { kind: 'issue_credit_note', invoiceId: p.invoiceId, refundId: name, amount, refunded } as const;
    const credited = addCall(s, ctx, call, reported?.subject ?? subjectOf(p, r), p.id);
    return note(
      putRefund(credited, moveMirror(r, 'crediting')),
      ctx,
      'decision',
      `mirror refund ${reference} as a credit note`,
      r.id,
    );
  }
  const call = {
    kind: 'report_refund',
    invoiceId: p.invoiceId,
    paymentRecordId: p.paymentRecordId,
    refundId: reference, // no id of ours: the bytes are the same after a restore, as their key is
    reference,
    amount: { minor: r.amount, currency: r.currency },
    refundedAt: r.succeededAt ?? ctx.now,
  } as const;
  const called = addCall(s, ctx, call, subjectOf(p, r), p.id);
  return note(
    putRefund(called, moveMirror(r, 'reporting')),
    ctx,
    'decision',
    `mirror refund ${reference} on ${p.paymentRecordId}`,
    r.id,
  );
}

/** All of it was paid beyond the amount due: with a payment record it is reported there, and the sale stays what it was. */
function shown(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  const of = s.payments.find((x) => x.id === r.paymentRowId);
  if (of === undefined) return s;
  const shows = moveMirror(r, r.mirror === 'reporting' ? 'done' : 'not_needed');
  const state = addEntry(putRefund(s, shows), refundMirrored(of, r, ctx.now));
  return note(
    state,
    ctx,
    'decision',
    'the refund gives back what was paid beyond the amount due: no credit note',
    r.id,
  );
}

/** The reference that the report went out with; calls that an older release wrote down are told by their names. */
function reportedAs(s: LaneState, r: RefundRow, { asked, subject }: OutboxRow): string {
  return asked?.kind === 'report_refund' ? asked.reference : referenceIn(s, r, subject);
}

/** Unique at Stripe: the processor's id, or the MoR's where it gave no other. */
function refundReference(r: RefundRow): string {
  return r.processorRefundId ?? r.morRefundId ?? r.id;
}

/** The name of the twin's calls: with the payment's, since two payments may be said to have one and the same refund. */
function subjectOf(p: PaymentRow, r: RefundRow): string {
  return `${effectName(p)}:${refundReference(r)}`;
}

function mirrorRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const r = refundOf(s, m);
  if (r === undefined) return s;
  const [other] = ctx.refundsElsewhere ?? [];
  const shared =
    other === undefined ? null : { refund: other.refund, payment: other.payment, invoice: other.invoiceId };
  const about = { refundId: r.id, paymentRowId: r.paymentRowId };
  const fact = {
    code: 'mirror-refused',
    processorRefund: r.processorRefundId,
    other: shared,
    ...refusalOf(m, f),
  } as const;
  return callFailed(putRefund(s, moveMirror(r, 'parked')), m, fact, about, ctx);
}
