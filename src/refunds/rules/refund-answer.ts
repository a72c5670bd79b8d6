// What the MoR answered to our own request for a refund: done, pending, failed, or refused.
import { type LaneState, type OutboxRow, type RefundRow } from '../../domain/model.js';
import { isNameless, newRefund, refundOf } from './refund-names.js';
import { type RefundAnswer } from '../../domain/ports/payment-gateway.js';
import { type Ctx, note, openReview, putInvoice, putPayment, putRefund } from '../../engine/change.js';
import { moveMark, moveRefund } from '../../engine/moves.js';
import { tellFailed } from './stuck-refund.js';
import { type CallFailure, said } from '../../domain/ports/call.js';
import { isRedirect, mayBeCutOff, type AnswerTo } from '../../engine/call.js';
import { PARKING } from '../../engine/payment.js';
import { type CallRule } from '../../engine/subject.js';
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
        fact: {
          code: 'answer-differs',
          payment: p.paymentId ?? p.id,
          asked: { minor: r.amount, currency: r.currency },
          answered: { minor: a.amountMinor, currency: a.currency },
          answeredFor: a.paymentId,
        },
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
      fact: { code: 'key-reused', refund: r.id, status: f.status, error: f.code, said: said(f) },
    });
  }
  // A refusal of the repeat does not say what became of the first try. One after a retry of what was refused so repeats what was said.
  const isNoRepeat =
    (r.status === 'requested' && f.status !== 409) ||
    s.reviews.some((x) => x.subject === r.id && x.fact.code === 'repeat-refused' && x.fact.mayBeMade);
  return openReview(putRefund(s, moveRefund(r, 'unknown')), ctx, {
    kind: 'refund_stuck',
    subject: r.id,
    paymentRowId: r.paymentRowId,
    refundId: r.id,
    fact: {
      code: 'repeat-refused',
      refund: r.id,
      mayBeMade: isNoRepeat,
      status: f.status,
      error: f.code,
      said: said(f),
    },
  });
}

/**
 * An event took the row of our request for its refund, and now the MoR refuses the request. What the event told of was made elsewhere
 * then, as in the MoR's portal, and nothing was given back for ours; only an earlier try without an answer could have made it.
 */
function refusedBeside(s: LaneState, r: RefundRow, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
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
    fact: {
      code: 'request-refused',
      refund: r.id,
      amount: { minor: r.amount, currency: r.currency },
      other: told,
      nothingMade: isFirstTry,
      status: f.status,
      error: f.code,
      said: said(f),
    },
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
