// Watches: what should have happened by now and did not becomes a review item, and closes itself when it happens after all.
import { showMoney } from '../../domain/money.js';
import {
  type InvoiceRow,
  type LaneState,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../../domain/model.js';
import { isLiveProforma, type MorObjectRow } from '../../domain/mor-object.js';
import {
  closeReviews,
  type Ctx,
  note,
  openReview,
  openReviewOf,
  putInvoice,
  putMessage,
  putRefund,
} from '../../domain/lane/change.js';
import { DAY_MS, DRAFT_PATIENCE_MS, KEY_LIFE_MS, REFUND_PATIENCE_DAYS } from '../../policy.js';
import { dueDate } from '../../channels/rules/looks.js';
import { watchUnsettled } from '../../signups/rules/unsettled.js';

/** Ours, on a request that was taken back. */
const KEY_TOO_OLD = 'key_too_old';

export function settleWatches(s: LaneState, ctx: Ctx): LaneState {
  return watchFinalization(watchRefunds(watchUnsettled(watchRenewal(s, ctx), ctx), ctx), ctx);
}

/** True when nothing more is expected of the MoR for this invoice: it spoke, or the invoice is settled without it. */
export function hasVerdict(s: LaneState): boolean {
  const status = s.invoice?.platformStatus;
  return (
    s.payments.length > 0 ||
    status === 'paid' ||
    status === 'void' ||
    status === 'deleted' ||
    s.invoice?.amountDue === 0n
  );
}

/**
 * Until when the invoice may go without a word of the MoR; null: none is expected. A proforma invoice or a link that stands gives
 * the customer time of its own.
 */
export function verdictBy(i: InvoiceRow, objects: readonly MorObjectRow[]): Date | null {
  if (i.expectedBy === null) return null;
  const until = objects.flatMap((o) => {
    if (isLiveProforma(o)) return dueDate(o).getTime();
    return o.kind === 'payment_link' && o.status === 'PAYABLE' ? (o.deadline?.getTime() ?? []) : [];
  });
  return new Date(Math.max(i.expectedBy.getTime(), ...until));
}

/** The verdict is late, and whether the customer pays by bank debit was not looked up yet. */
export function mustAskDebit(s: LaneState, ctx: Ctx): boolean {
  const i = s.invoice;
  if (i === null || i.customerId === null || i.paysByDebit !== null || hasVerdict(s)) return false;
  const by = verdictBy(i, s.objects);
  return by !== null && by.getTime() <= ctx.now.getTime();
}

/** A debit takes days, and the MoR tells of none that is on its way: the alarm is set for when it should have come. */
export function applyDebit(s: LaneState, paysByDebit: boolean, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.expectedBy === null || i.paysByDebit !== null) return s;
  if (!paysByDebit) return putInvoice(s, { ...i, paysByDebit });
  const days = ctx.settings.bankDebitAlarmAfterDays;
  const by = new Date(Math.max(i.expectedBy.getTime(), i.firstSeenAt.getTime() + days * DAY_MS));
  const state = putInvoice(s, { ...i, paysByDebit, expectedBy: by });
  return note(state, ctx, 'decision', `this customer pays by bank debit: a verdict is expected by ${by.toISOString()}`);
}

function watchRenewal(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.expectedBy === null) return s;
  if (hasVerdict(s)) {
    return closeReviews(s, ctx, (r) => r.kind === 'renewal_overdue', {
      by: null,
      resolution: 'cleared',
      note: 'the verdict came',
    });
  }
  if (mustAskDebit(s, ctx)) return s;
  const by = verdictBy(i, s.objects);
  if (by === null || by.getTime() > ctx.now.getTime()) {
    const note = `the customer may pay until ${by?.toISOString() ?? 'later'}`;
    return closeReviews(s, ctx, (r) => r.kind === 'renewal_overdue', { by: null, resolution: 'cleared', note });
  }
  const due =
    i.amountDue === null || i.currency === null ? 'money' : showMoney({ minor: i.amountDue, currency: i.currency });
  return openReview(s, ctx, {
    kind: 'renewal_overdue',
    subject: i.invoiceId,
    summary: `no verdict of the MoR for ${due} since ${i.firstSeenAt.toISOString()}`,
    proposal:
      'Ask the MoR whether it charged the customer; bank debits take days. The invoice stays open until it says so.',
  });
}

function watchRefunds(s: LaneState, ctx: Ctx): LaneState {
  let state = withdrawStale(s, ctx);
  for (const r of state.refunds) {
    if (r.status !== 'pending' && r.status !== 'unknown' && r.status !== 'requested') {
      state = endOfWait(state, r, ctx);
      continue;
    }
    const withdrawn = requestOf(state, r)?.lastCode === KEY_TOO_OLD;
    if (!withdrawn && ctx.now.getTime() < r.createdAt.getTime() + REFUND_PATIENCE_DAYS[r.status] * DAY_MS) continue;
    state = openReview(state, ctx, {
      kind: 'refund_stuck',
      subject: r.id,
      paymentRowId: r.paymentRowId,
      refundId: r.id,
      summary: `refund ${r.id} of ${showMoney({ minor: r.amount, currency: r.currency })} is ${r.status} since ${r.createdAt.toISOString()}`,
      proposal: `Ask the MoR what became of it. The amount stays reserved until it is known: if the MoR says that it failed, \`apply\` with a note frees it.${withdrawn ? ' It is not sent again by itself; `retry` sends it once more, under the same key.' : ''}`,
    });
  }
  return state;
}

/** What was told of as waiting is not any more; that a refund failed after all is told anew, since its amount is free now. */
function endOfWait(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  const waited = openReviewOf(s, 'refund_stuck', r.id) !== undefined;
  const over = r.status === 'succeeded' ? [r.id, failedSubject(r)] : [r.id];
  const state = closeReviews(s, ctx, (x) => x.kind === 'refund_stuck' && over.includes(x.subject), {
    by: null,
    resolution: 'cleared',
    note: `the refund ${r.status}`,
  });
  return waited && r.status === 'failed' ? tellFailed(state, r, ctx) : state;
}

const FAILED = ':failed';
const failedSubject = (r: RefundRow): string => `${r.id}${FAILED}`;

/** An item about a refund that is known to have failed, not of one that is waited for. */
export function isToldFailed(r: ReviewRow): boolean {
  return r.kind === 'refund_stuck' && r.subject.endsWith(FAILED);
}

/** A refund that failed, for a person: nothing was given back. */
export function tellFailed(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  return openReview(s, ctx, {
    kind: 'refund_stuck',
    subject: failedSubject(r),
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    summary: `refund ${r.morRefundId ?? r.id} failed, nothing was given back: ${r.failure?.message ?? 'no reason given'}`,
    proposal: 'The amount is free again. Find out why before it is tried once more.',
  });
}

function requestOf(s: LaneState, r: RefundRow): OutboxRow | undefined {
  return s.messages.find((m) => m.kind === 'create_refund' && m.subject === r.id);
}

/**
 * A refund's request that nobody answered for so long that its key may be forgotten is not repeated by itself: money could go back
 * a second time. Its event still settles it, or a person does.
 */
function withdrawStale(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const r of s.refunds) {
    const m = requestOf(s, r);
    if (m?.status !== 'pending') continue;
    // While it is only `requested`, no try can have moved money but one that a crash cut off: made when it was due, or later.
    const tried = r.status === 'requested' ? m.nextTryAt : (m.firstTriedAt ?? m.nextTryAt);
    if (ctx.now.getTime() - tried.getTime() < KEY_LIFE_MS) continue;
    const settled = r.status !== 'requested' && r.status !== 'unknown';
    const status = settled ? 'cancelled' : 'refused';
    state = putMessage(state, { ...m, status, lastCode: KEY_TOO_OLD, answeredAt: ctx.now });
    if (r.status === 'requested') state = putRefund(state, { ...r, status: 'unknown' });
    state = note(state, ctx, 'decision', `the MoR may have forgotten key ${m.key} by now: it is not sent again`, r.id);
  }
  return state;
}

function watchFinalization(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null) return s;
  if (i.platformStatus !== 'draft') {
    return closeReviews(s, ctx, (r) => r.kind === 'finalization_failed', {
      by: null,
      resolution: 'cleared',
      note: `the invoice is ${i.platformStatus}`,
    });
  }
  if (i.finalizationError === null) return watchDraft(s, i, ctx);
  return openReview(s, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    summary: `Stripe could not finalize the invoice: ${i.finalizationError}`,
    proposal: 'Mend on Stripe what it names and finalize the invoice; a payment that waits is then marked by itself.',
  });
}

/** Money that waits for a draft which nobody makes final. */
function watchDraft(s: LaneState, i: InvoiceRow, ctx: Ctx): LaneState {
  const late = (p: PaymentRow): boolean => ctx.now.getTime() - p.recordedAt.getTime() >= DRAFT_PATIENCE_MS;
  const p = s.payments.find((x) => x.mark === 'held' && x.amount !== null && late(x));
  if (p === undefined || p.amount === null) return s;
  return openReview(s, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    paymentRowId: p.id,
    summary: `${showMoney({ minor: p.amount, currency: p.currency })} was taken on ${p.recordedAt.toISOString()}, and the invoice is still a draft`,
    proposal:
      'Finalize the invoice on Stripe (its auto_advance may be off); the payment that waits is then marked by itself.',
  });
}
