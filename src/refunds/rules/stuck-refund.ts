// A refund that takes too long or failed: the item for a person, and the request whose key may be forgotten, which is not sent again.
import { type LaneState, type OutboxRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { closeReviews, type Ctx, note, openReview, openReviewOf, putMessage, putRefund } from '../../engine/change.js';
import { type LookAgain } from '../../engine/subject.js';
import { DAY_MS, KEY_LIFE_MS, REFUND_PATIENCE_DAYS, REFUND_REMINDER_DAYS } from '../../policy.js';
import { moveRefund } from '../../engine/moves.js';

/** Ours, on a request that was taken back. */
const KEY_TOO_OLD = 'key_too_old';

export function watchRefunds(s: LaneState, ctx: Ctx, lookAgain: LookAgain): LaneState {
  let state = withdrawStale(s, ctx);
  for (const r of state.refunds) {
    if (r.status !== 'pending' && r.status !== 'unknown' && r.status !== 'requested') {
      state = endOfWait(state, r, ctx);
      continue;
    }
    const withdrawn = requestOf(state, r.id)?.lastCode === KEY_TOO_OLD;
    // Nobody can say how long a status takes that the documents do not have: a person hears of it within the day.
    const late = new Date(
      r.createdAt.getTime() + REFUND_PATIENCE_DAYS[r.morStatus === null ? r.status : 'unknown'] * DAY_MS,
    );
    lookAgain(late);
    if (!withdrawn && ctx.now.getTime() < late.getTime()) continue;
    const status = r.morStatus ?? r.status;
    const dismissed = lastDismissal(state, r, status);
    const again = dismissed === null ? null : new Date(dismissed.getTime() + REFUND_REMINDER_DAYS * DAY_MS);
    lookAgain(again);
    if (again !== null && ctx.now.getTime() < again.getTime()) continue;
    state = openReview(state, ctx, {
      kind: 'refund_stuck',
      subject: r.id,
      paymentRowId: r.paymentRowId,
      refundId: r.id,
      fact: {
        code: 'refund-waits',
        refund: r.id,
        amount: { minor: r.amount, currency: r.currency },
        status,
        since: r.createdAt.toISOString(),
        withdrawn,
        dismissedAt: dismissed?.toISOString() ?? null,
      },
    });
  }
  return state;
}

/** When a person last dismissed the item: the amount stays reserved, and only an item can free it, so it comes back. Null: nobody did. */
function lastDismissal(s: LaneState, r: RefundRow, status: string): Date | null {
  const times = resolutions(s, r, 'dismiss').flatMap((x) =>
    x.fact.code === 'refund-waits' && x.fact.status === status ? (x.resolvedAt?.getTime() ?? []) : [],
  );
  return times.length === 0 ? null : new Date(Math.max(...times));
}

function resolutions(s: LaneState, r: RefundRow, how: 'dismiss' | 'retry'): readonly ReviewRow[] {
  return s.reviews.filter((x) => x.kind === 'refund_stuck' && x.subject === r.id && x.resolution === how);
}

/**
 * When the MoR may have forgotten the request's key. It counts from when the request was made, or from a person's last `retry`, and
 * never from a try: the record of an earlier one, which moved money, may have been lost with a process or with the database.
 */
function staleAt(s: LaneState, r: RefundRow, m: OutboxRow): Date {
  const retries = resolutions(s, r, 'retry').map((x) => x.resolvedAt?.getTime() ?? 0);
  return new Date(Math.max(m.createdAt.getTime(), ...retries) + KEY_LIFE_MS);
}

/**
 * A refund's request that is not done once its key may be forgotten is not repeated by itself: money could go back a second time. Its
 * event still settles it, or a person does.
 */
function withdrawStale(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const r of s.refunds) {
    const m = requestOf(s, r.id);
    if (m?.status !== 'pending') continue;
    if (ctx.now.getTime() < staleAt(s, r, m).getTime()) continue;
    const settled = r.status !== 'requested' && r.status !== 'unknown';
    const status = settled ? 'cancelled' : 'refused';
    state = putMessage(state, { ...m, status, lastCode: KEY_TOO_OLD, answeredAt: ctx.now });
    if (r.status === 'requested') state = putRefund(state, moveRefund(r, 'unknown'));
    state = note(state, ctx, 'decision', `the MoR may have forgotten key ${m.key} by now: it is not sent again`, r.id);
  }
  return state;
}

/** The request of a refund of ours: one, however often it is sent. */
export function requestOf({ messages }: LaneState, refundId: string | null): OutboxRow | undefined {
  return messages.find((m) => m.kind === 'create_refund' && m.subject === refundId);
}

/** An item about a waiting refund no longer holds; that it failed after all is a new item, since its amount is free now. */
function endOfWait(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  const waited = openReviewOf(s, 'refund_stuck', r.id) !== undefined;
  const over = r.status === 'succeeded' ? [r.id, failedSubject(r)] : [r.id];
  const state = closeReviews(s, ctx, (x) => x.kind === 'refund_stuck' && over.includes(x.subject), {
    by: null,
    resolution: 'cleared',
    note: r.status === 'joined' ? 'it is a refund that was known already' : `the refund ${r.status}`,
  });
  return waited && r.status === 'failed' ? tellFailed(state, r, ctx) : state;
}

const FAILED = ':failed';

const failedSubject = (r: RefundRow): string => `${r.id}${FAILED}`;

/** An item about a refund that is known to have failed, not of one that is waited for. */
export function isToldFailed(r: ReviewRow): boolean {
  return r.fact.code === 'refund-failed';
}

/** A refund that failed, for a person: nothing was given back. */
export function tellFailed(s: LaneState, r: RefundRow, ctx: Ctx): LaneState {
  return openReview(s, ctx, {
    kind: 'refund_stuck',
    subject: failedSubject(r),
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    fact: {
      code: 'refund-failed',
      refund: r.morRefundId ?? r.id,
      error: r.failure?.code ?? null,
      said: r.failure?.message ?? null,
    },
    actions: ['retry', 'dismiss'],
  });
}
