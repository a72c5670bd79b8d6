// Refunds at rest: which of them count, what a payment's totals say, and their twins on Stripe.
import { type Money } from '../../domain/money.js';
import { type LaneRows, type LaneState, type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { refundPaid } from '../../ledger/rules/postings.js';
import { paymentStatus } from '../../domain/status.js';
import { type Holds, itemRule } from '../../engine/items.js';
import { addEntry, type Ctx, putPayment, putRefund } from '../../engine/change.js';
import { mirrorRefunds } from './mirror.js';
import { moveMirror } from '../../engine/moves.js';

export function settleRefunds(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const p of s.payments) {
    state = countRefunds(state, p.id, ctx);
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
    const counted: RefundRow = { ...(r.mirror === 'none' ? moveMirror(r, 'waiting') : r), counted: true };
    state = addEntry(putRefund(putPayment(state, p), counted), refundPaid(p, counted, ctx.now, null));
  }
  return state;
}

/**
 * Compares the refunds we know with the cumulative total of Document 3. A total above their sum means a missing event; refunds beyond the
 * payment or with overlapping totals mean an error.
 */
export const gapItems = itemRule(
  { 'refunds-beyond-payment': whyGone, 'refund-event-missing': whyGone, 'totals-overlap': whyGone },
  function* (lane) {
    const { payments, refunds } = lane.toState();
    for (const p of payments) {
      const fact = gapOf(p, refunds);
      if (fact !== null) yield { kind: 'refund_gap', about: p, fact };
    }
  },
);

function whyGone({ payments, refunds }: LaneRows, { subject }: ReviewRow): string {
  const isOther = payments.some((p) => p.id === subject && gapOf(p, refunds) !== null);
  return isOther ? 'the refunds differ in another way' : 'the refunds add up';
}

type Gap = Holds<'refunds-beyond-payment' | 'refund-event-missing' | 'totals-overlap'>['fact'];

function gapOf(p: PaymentRow, all: readonly RefundRow[]): Gap | null {
  const known = all.filter((r) => r.paymentRowId === p.id && r.status === 'succeeded');
  if (known.length === 0 && p.refundedTotal === null) return null;
  const sum = known.reduce((n, r) => n + r.amount, 0n);
  const sumOf = (minor: bigint): Money => ({ minor, currency: p.currency });
  const payment = p.paymentId ?? p.id;
  if (p.succeededAt !== null && p.amount !== null && (sum > p.amount || known.some((r) => !r.counted))) {
    return { code: 'refunds-beyond-payment', payment, amount: sumOf(p.amount), refunded: sumOf(sum) };
  }
  if (p.refundedTotal !== null && p.refundedTotal > sum) {
    return { code: 'refund-event-missing', payment, reported: sumOf(p.refundedTotal), received: sumOf(sum) };
  }
  // Each event covers the stretch from its total minus its amount up to its total; two stretches must not overlap.
  const spans = known.filter((r) => r.totalAfter !== null).toSorted(inOrder);
  let end = 0n;
  for (const r of spans) {
    const start = (r.totalAfter ?? 0n) - r.amount;
    if (start < end) {
      return { code: 'totals-overlap', payment, at: sumOf(r.totalAfter ?? 0n) };
    }
    end = r.totalAfter ?? end;
  }
  return null;
}
