// What the MoR answered to our own request for a refund: done, pending, failed, or refused.
import { type LaneState, type OutboxRow, type RefundRow } from '../../domain/model.js';
import { isNameless, newRefund, refundOf } from './refund-names.js';
import { type RefundAnswer } from '../../domain/ports/payment-gateway.js';
import { type Ctx, note, openReview, putInvoice, putPayment, putRefund } from '../../engine/change.js';
import { showMoney } from '../../domain/money.js';
import { moveMark, moveRefund } from '../../engine/moves.js';
import { tellFailed } from './stuck-refund.js';
import { type CallFailure, said } from '../../domain/ports/call.js';
import { isRedirect, mayBeCutOff } from '../../engine/answer-parts.js';
import { PARKING } from '../../engine/payment.js';
import { type CallRule } from '../../engine/subject.js';
import { type AnswerTo } from '../../engine/answer.js';
import { ANSWER_PATIENCE_MS } from '../../policy.js';

/** Our own request for a refund. */
export const createRefundCall: CallRule<AnswerTo<'create_refund'>> = {
  order: 1,
  answered: (s, m, a, ctx) => {
    const r = refundOf(s, m);
    return r === undefined ? s : applyRefundAnswer(s, r, a.refund, ctx);
  },
  refused: refundRefused,
  silent: (s, m, f, ctx) => {
    const r = s.refunds.find((x) => x.id === m.subject);
    const isCut = mayBeCutOff(m, ctx);
    const mayBeMade = isCut || isRedirect(f) || f.kind === 'unknown';
    return mayBeMade && r?.status === 'requested' ? putRefund(s, moveRefund(r, 'unknown')) : s;
  },
};

/** Another refund of ours of the same amount without a name: the one whose event was taken for this one's. */
function twinOf(s: LaneState, r: RefundRow): RefundRow | undefined {
  return s.refunds.find((x) => x.id !== r.id && x.paymentRowId === r.paymentRowId && isNameless(x, r.amount));
}

/** Document 3, "Refund", as the answer to our request. The webhook may have told the same before. */
export function applyRefundAnswer(s: LaneState, r: RefundRow, a: RefundAnswer, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  if (p === undefined) return s;
  const others = s.refunds.filter((x) => x.id !== r.id && x.paymentRowId === r.paymentRowId);
  const known =
    others.find((x) => x.morRefundId === a.morRefundId) ??
    others.find((x) => a.processorRefundId !== null && x.processorRefundId === a.processorRefundId);
  if (a.amountMinor !== r.amount || a.currency !== r.currency || a.paymentId !== p.paymentId) {
    const told = `${showMoney({ minor: a.amountMinor, currency: a.currency })} of ${a.paymentId}`;
    return openReview(
      putRefund(s, {
        ...(r.status === 'requested' ? moveRefund(r, 'unknown') : r),
        morRefundId: r.morRefundId ?? (known !== undefined || a.paymentId !== p.paymentId ? null : a.morRefundId),
      }),
      ctx,
      {
        kind: 'refund_gap',
        subject: r.id,
        paymentRowId: p.id,
        refundId: r.id,
        summary: `${showMoney({ minor: r.amount, currency: r.currency })} of ${p.paymentId ?? p.id} was to be refunded; the MoR answered ${told}`,
        proposal: 'Ask the MoR what it refunded. Nothing was mirrored from this answer.',
      },
    );
  }
  const told = known ?? (isNameless(r, a.amountMinor) ? toldBefore(others, a) : undefined);
  if (told !== undefined) return join(s, r, told, a, ctx);
  const isAnother =
    (r.morRefundId !== null && r.morRefundId !== a.morRefundId) ||
    (r.processorRefundId !== null && a.processorRefundId !== null && r.processorRefundId !== a.processorRefundId);
  const base: RefundRow = isAnother ? (twinOf(s, r) ?? newRefund(ctx, p, r.amount, r.reason, 'api')) : r;
  const settled = base.status === 'succeeded';
  const standing = (['succeeded', 'pending', 'failed'] as const).find((known) => known === a.status) ?? null;
  const row: RefundRow = {
    ...(settled
      ? base
      : { ...moveRefund(base, standing ?? 'pending'), morStatus: standing === null ? a.status : null }),
    morRefundId: a.morRefundId,
    processorRefundId: base.processorRefundId ?? a.processorRefundId,
    succeededAt: a.status === 'succeeded' ? (base.succeededAt ?? a.createdAt ?? ctx.now) : base.succeededAt,
    failure:
      a.status === 'failed' && !settled
        ? { status: null, code: 'refund_failed', message: 'the MoR says that the refund failed' }
        : null,
  };
  const state = putRefund(s, row);
  if (a.status !== 'failed' || settled) return state;
  return tellFailed(decideAgain(state, p.id), row, ctx);
}

/**
 * Event and answer may name no id alike (Document 3 asks for none in an event). An event that the MoR made no earlier than the refund of
 * its answer, and that was here before we asked, can be that refund's; any refund that the MoR makes for a new request is younger.
 * Of several it is the oldest that fits: a younger one may be all that is left for the answer to a later request.
 */
function toldBefore(others: readonly RefundRow[], a: RefundAnswer): RefundRow | undefined {
  const madeSec = a.createdAt === null ? null : Math.floor(a.createdAt.getTime() / 1_000); // events tell whole seconds
  if (madeSec === null) return undefined;
  const made = (r: RefundRow): number => r.succeededAt?.getTime() ?? 0;
  const fitting = others.filter(
    ({ origin, askedAs, morRefundId, processorRefundId, amount, currency, succeededAt }) =>
      origin === 'event' &&
      askedAs === null &&
      morRefundId === null &&
      processorRefundId === null &&
      amount === a.amountMinor &&
      currency === a.currency &&
      succeededAt !== null &&
      madeSec <= succeededAt.getTime() / 1_000,
  );
  return fitting.toSorted((x, y) => made(x) - made(y))[0];
}

/**
 * The MoR answered with a refund that another row stands for, as after a restore: its event came back before it was asked for again
 * under its key. That row is the refund, under both of our ids, and ours reserves nothing (docs/decisions/0008).
 */
function join(s: LaneState, r: RefundRow, known: RefundRow, a: RefundAnswer, ctx: Ctx): LaneState {
  // One of ours that awaits its own answer took this one's event for its own: that answer puts it right.
  const awaits = s.messages.some((m) => m.kind === 'create_refund' && m.subject === known.id && m.status === 'pending');
  const same = isNameless(r, known.amount) && known.currency === r.currency;
  if (!same || awaits || known.status !== 'succeeded' || known.askedAs !== null) return s;
  const isHeld = s.refunds.some(
    (x) => x.paymentRowId === r.paymentRowId && x.processorRefundId === a.processorRefundId,
  );
  const stands: RefundRow = {
    ...known,
    morRefundId: known.morRefundId ?? a.morRefundId,
    processorRefundId: known.processorRefundId ?? (isHeld ? null : a.processorRefundId),
    origin: 'api',
    askedAs: r.id,
    reason: known.reason ?? r.reason,
  };
  const said = `${r.id} is refund ${stands.morRefundId ?? stands.id}, which was known already: they are one`;
  return note(putRefund(putRefund(s, moveRefund(r, 'joined')), stands), ctx, 'decision', said, stands.id);
}

/**
 * A first try that was refused gave nothing back, and its amount is free again; the refusal of a repeat says less. But where the MoR
 * knows no such payment (Document 3, 404 `payment_not_found`), no try under that name ever moved money: it has no word for a payment
 * that is gone. That goes for a name that people gave. Of one that the MoR gave itself it contradicts itself, and proves nothing.
 */
export function refundRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const r = refundOf(s, m);
  if (r?.status === 'succeeded' && f.status !== 409) return refusedBeside(s, r, m, f, ctx);
  if (r === undefined || (r.status !== 'requested' && r.status !== 'unknown')) return s;
  const isUnknownName = f.code === 'payment_not_found' && !isNamedByMor(s, r.paymentRowId);
  // 409: its key is in use, or was used before. A try whose record a crash lost may be under way: nothing is freed on that.
  // Nor on a refusal so late that a try before it may have moved money.
  const isFirstTry = r.status === 'requested' && !mayBeCutOff(m, ctx);
  if ((isFirstTry && f.status !== 409) || isUnknownName) {
    const row = { ...moveRefund(r, 'failed'), failure: { status: f.status, code: f.code, message: f.message } };
    const freed = putRefund(s, row);
    const renamed = f.code === 'payment_not_found' ? nameless(freed, r.paymentRowId, ctx) : freed;
    const decided = decideAgain(renamed, r.paymentRowId);
    // Who asked for it has been told that its end is unknown: they wait for no answer that takes longer than this.
    const isLate = ctx.now.getTime() - r.createdAt.getTime() >= ANSWER_PATIENCE_MS;
    return r.status === 'unknown' || isLate ? tellFailed(decided, row, ctx) : decided;
  }
  if (f.code === 'idempotency_conflict') {
    // Another body under the same key, as after a restore: it is never sent under another one.
    const message =
      'The MoR has another request under the same Idempotency-Key, perhaps from before a backup was restored. Nothing was sent under another key.';
    const refused: RefundRow = { ...moveRefund(r, 'unknown'), failure: { status: f.status, code: f.code, message } };
    return openReview(putRefund(s, refused), ctx, {
      kind: 'refund_stuck',
      subject: r.id,
      paymentRowId: r.paymentRowId,
      refundId: r.id,
      summary: `refund ${r.id} was refused: the MoR knows its key with another body (${said(f)})`,
      proposal:
        'Ask the MoR what it refunded under this key; its payment.refunded event is recorded as it comes. The amount stays reserved: if the MoR refunded nothing for this request, `apply` with a note frees it.',
    });
  }
  // A refusal of the repeat does not say what became of the first try. One after a retry of what was refused so repeats what was said.
  const isNoRepeat =
    (r.status === 'requested' && f.status !== 409) ||
    s.reviews.some((x) => x.kind === 'refund_stuck' && x.subject === r.id && x.summary.endsWith(MAY_BE_MADE));
  return openReview(putRefund(s, moveRefund(r, 'unknown')), ctx, {
    kind: 'refund_stuck',
    subject: r.id,
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    summary: isNoRepeat
      ? `refund ${r.id} was refused: ${said(f)}${MAY_BE_MADE}`
      : `the first attempt of refund ${r.id} was not answered and the repeat was refused: ${said(f)}`,
    proposal:
      'Ask the MoR whether the money was refunded. Its webhook settles this; until then the amount stays reserved. If the MoR says that nothing was refunded, `apply` with a note frees it.',
  });
}

const MAY_BE_MADE = '; an attempt before, of which nothing is known, may have made it';

/**
 * An event took the row of our request for its refund, and now the MoR refuses the request. What the event told of was made elsewhere
 * then, as in the MoR's portal, and nothing was given back for ours; only an earlier try without an answer could have made it.
 */
function refusedBeside(s: LaneState, r: RefundRow, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const what = showMoney({ minor: r.amount, currency: r.currency });
  const told = r.morRefundId ?? r.processorRefundId;
  const other = told === null ? 'a refund' : `refund ${told}`;
  const isFirstTry = m.attempts === 1 && !mayBeCutOff(m, ctx);
  const message = `${f.message} (${other} of the same amount, made elsewhere, stands in its place)`;
  // Whoever asks under the same key is answered with the refusal; it is never said where a try before it may have moved money.
  const row = isFirstTry ? { ...r, failure: { status: f.status, code: f.code, message } } : r;
  return openReview(putRefund(s, row), ctx, {
    kind: 'refund_gap',
    subject: `${r.id}:refused`,
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    summary: `the MoR refused the request for refund ${r.id} of ${what}: ${said(f)}; ${other} of that amount, known by an event, stands in its place`,
    proposal: isFirstTry
      ? 'Nothing was refunded for this request. Ask for another refund if two were wanted. Then dismiss this.'
      : 'Ask the MoR whether that refund was made by this request or elsewhere, as in its portal. If elsewhere, nothing was refunded for this request: ask for another refund if two were wanted. Then dismiss this.',
  });
}

function isNamedByMor(s: LaneState, paymentRowId: string): boolean {
  const p = s.payments.find((x) => x.id === paymentRowId);
  return p !== undefined && p.paymentId !== null && p.identifiedBy === null;
}

/** A name that a person gave and the MoR does not know is taken back, so that the right one can be given. */
function nameless(s: LaneState, paymentRowId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined || p.identifiedBy === null) return s;
  const said = `the MoR knows no payment ${p.paymentId ?? ''}, the name that ${p.identifiedBy} gave: the name was removed`;
  return note(putPayment(s, { ...p, paymentId: null, identifiedBy: null }), ctx, 'decision', said, p.id);
}

/** A payment that was to be given back and was not waits for a person again: it is looked at afresh, and its item comes back. */
export function decideAgain(s: LaneState, paymentRowId: string): LaneState {
  const p = s.payments.find((x) => x.id === paymentRowId);
  const asked = s.reviews.some((r) => r.status === 'open' && r.paymentRowId === paymentRowId && PARKING.has(r.kind));
  if (p?.mark !== 'parked' || asked || s.invoice === null) return s;
  return putInvoice(putPayment(s, moveMark(p, 'waiting')), { ...s.invoice, readAt: null });
}
