// Refunds at rest: which of them count, what a payment's totals say, and their twins on Stripe.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type OutboxRow, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { refundMirrored, refundOfUnmarked, refundPaid } from '../../ledger/rules/postings.js';
import { paymentStatus } from '../../domain/status.js';
import {
  addCall,
  addEntry,
  closeReviews,
  type Ctx,
  note,
  openReview,
  putPayment,
  putRefund,
} from '../../domain/lane/change.js';
import { effectName } from '../../domain/lane/payment.js';

export function settleRefunds(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const p of s.payments) {
    state = countRefunds(state, p.id, ctx);
    state = checkTotals(state, p.id, ctx);
    state = mirrorRefunds(state, p.id, ctx);
  }
  return state;
}

/** By the MoR's own running total where it gave one, else by age: the same refunds count whatever order they came in. */
function inOrder(a: RefundRow, b: RefundRow): number {
  const total = (r: RefundRow): bigint => r.totalAfter ?? 1n << 62n;
  if (total(a) !== total(b)) return total(a) < total(b) ? -1 : 1;
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

/** Counts succeeded refunds as long as they fit into the payment. What does not fit stays visible and uncounted. */
function countRefunds(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  let state = s;
  let p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined || p.amount === null || p.succeededAt === null) return s; // a refund that overtook its payment waits
  const amount = p.amount;
  for (const r of s.refunds.filter((x) => x.paymentRowId === paymentRowId).toSorted(inOrder)) {
    if (r.status !== 'succeeded' || r.counted || r.currency !== p.currency) continue;
    // A running total beyond the payment cannot be true, whether or not the others have come yet.
    if (p.amountRefunded + r.amount > amount || (r.totalAfter ?? 0n) > amount) continue;
    const refunded: bigint = p.amountRefunded + r.amount;
    p = { ...p, amountRefunded: refunded, status: paymentStatus(p, refunded) };
    const counted: RefundRow = { ...r, counted: true, mirror: r.mirror === 'none' ? 'waiting' : r.mirror };
    state = addEntry(putRefund(putPayment(state, p), counted), refundPaid(p, counted, ctx.now, null));
  }
  return state;
}

/**
 * Compares the refunds we know with the cumulative total of Document 3. A total above their sum means that an event is missing,
 * refunds that do not fit into the payment or overlap mean that something is wrong. The item closes itself when it adds up.
 */
function checkTotals(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return s;
  const gap = gapOf(p, s.refunds);
  if (gap === null) {
    return closeReviews(s, ctx, (r) => r.kind === 'refund_gap' && r.subject === p.id, {
      by: null,
      resolution: 'cleared',
      note: 'the refunds add up',
    });
  }
  return openReview(s, ctx, { kind: 'refund_gap', subject: p.id, paymentRowId: p.id, ...gap });
}

function gapOf(p: PaymentRow, all: readonly RefundRow[]): { summary: string; proposal: string } | null {
  const known = all.filter((r) => r.paymentRowId === p.id && r.status === 'succeeded');
  if (known.length === 0 && p.refundedTotal === null) return null;
  const sum = known.reduce((n, r) => n + r.amount, 0n);
  const show = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const name = p.paymentId ?? p.id;
  if (p.succeededAt !== null && p.amount !== null && (sum > p.amount || known.some((r) => !r.counted))) {
    return {
      summary: `refunds of ${show(sum)} are known for payment ${name} of ${show(p.amount)}`,
      proposal: 'Ask the MoR which refunds are real. What does not fit is shown but neither counted nor mirrored.',
    };
  }
  if (p.refundedTotal !== null && p.refundedTotal > sum) {
    return {
      summary: `the MoR says ${show(p.refundedTotal)} of payment ${name} was given back; events for ${show(sum)} have come`,
      proposal: 'An event is missing. It is expected to come; if it does not, ask the MoR to send it again.',
    };
  }
  // Each event covers the stretch from its total minus its amount up to its total; two stretches must not overlap.
  const spans = known.filter((r) => r.totalAfter !== null).toSorted(inOrder);
  let end = 0n;
  for (const r of spans) {
    const start = (r.totalAfter ?? 0n) - r.amount;
    if (start < end) {
      return {
        summary: `the running totals of the refunds of payment ${name} do not add up at ${show(r.totalAfter ?? 0n)}`,
        proposal: 'Compare the refunds with the MoR. All of them are recorded as the events gave them.',
      };
    }
    end = r.totalAfter ?? end;
  }
  return null;
}

/** Writes down the refund's report and credit note once its payment shows on the invoice. */
function mirrorRefunds(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return s;
  let state = s;
  for (const r of s.refunds) {
    if (r.paymentRowId !== p.id || r.mirror !== 'waiting') continue;
    if (p.mark === 'closed') {
      state = addEntry(putRefund(state, { ...r, mirror: 'not_needed' }), refundOfUnmarked(p, r, ctx.now));
    }
    if (p.mark !== 'confirmed' || hasRest(state)) continue;
    state = startMirror(state, p, r, ctx);
    // Whoever marked the payment mirrors its refunds too: the call is written down, and the books follow.
    if (ctx.settings.shadow !== true) continue;
    state = addEntry(putRefund(state, { ...r, mirror: 'not_needed' }), refundMirrored(p, r, ctx.now));
  }
  return state;
}

/**
 * Part of the invoice is still due, beside a part payment that a person let through. A credit note would lower what is due instead of
 * showing the refund (Stripe docs, "Credit notes"), so its twin waits until the invoice is paid.
 */
function hasRest({ invoice }: LaneState): boolean {
  return invoice?.platformStatus === 'open' || invoice?.platformStatus === 'uncollectible';
}

function startMirror(s: LaneState, p: PaymentRow, r: RefundRow, ctx: Ctx): LaneState {
  const amount = { minor: r.amount, currency: r.currency };
  const reference = refundReference(r);
  // Reported before, and the credit note was refused: it goes on from there, under the reference it was reported with.
  const reported = s.messages.find(
    (m) => m.kind === 'report_refund' && m.status === 'done' && namesOf(s, r).includes(m.subject),
  );
  if (p.paymentRecordId === null || reported !== undefined) {
    const refunded =
      p.paymentRecordId === null || reported === undefined
        ? null
        : { paymentRecordId: p.paymentRecordId, reference: referenceIn(s, r, reported.subject) };
    const name = refunded?.reference ?? reference;
    const call = { kind: 'issue_credit_note', invoiceId: p.invoiceId, refundId: name, amount, refunded } as const;
    const credited = addCall(s, ctx, call, reported?.subject ?? subjectOf(p, r));
    return note(
      putRefund(credited, { ...r, mirror: 'crediting' }),
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
    amount,
    refundedAt: r.succeededAt ?? ctx.now,
  } as const;
  const called = addCall(s, ctx, call, subjectOf(p, r));
  return note(
    putRefund(called, { ...r, mirror: 'reporting' }),
    ctx,
    'decision',
    `mirror refund ${reference} on ${p.paymentRecordId}`,
    r.id,
  );
}

/** Unique at Stripe: the processor's id, or the MoR's where it gave no other. */
function refundReference(r: RefundRow): string {
  return r.processorRefundId ?? r.morRefundId ?? r.id;
}

/** The name of the twin's calls: with the payment's, since two payments may be said to have one and the same refund. */
function subjectOf(p: PaymentRow, r: RefundRow): string {
  return `${effectName(p)}:${refundReference(r)}`;
}

/** Every name that a call about this refund may bear; refund and payment may have got ids since. Older releases left the payment out. */
export function namesOf(s: LaneState, r: RefundRow): readonly string[] {
  const own = [r.id, r.processorRefundId, r.morRefundId].filter((name) => name !== null);
  return [...own, ...prefixesOf(s, r).flatMap((prefix) => own.map((name) => `${prefix}${name}`))];
}

/** The reference under which a call of this name reported the refund. */
export function referenceIn(s: LaneState, r: RefundRow, subject: string): string {
  const prefix = prefixesOf(s, r).find((x) => subject.startsWith(x));
  return prefix === undefined ? subject : subject.slice(prefix.length);
}

function prefixesOf(s: LaneState, r: RefundRow): readonly string[] {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  return p === undefined ? [] : [p.paymentId, p.id].filter((name) => name !== null).map((name) => `${name}:`);
}

/** The refund that a stored call is about. */
export function refundOf(s: LaneState, m: OutboxRow): RefundRow | undefined {
  return s.refunds.find((r) => namesOf(s, r).includes(m.subject));
}
