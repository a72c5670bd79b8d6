// What people and the merchant's backend ask for: a refund, the settling of a review item.
import { showMoney } from '../../domain/money.js';
import {
  type LaneState,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  type Resolution,
  type ReviewRow,
} from '../../domain/model.js';
import { morKey } from '../../domain/mor-key.js';
import { lostOf } from '../../domain/mor-object.js';
import { refundable } from '../../domain/status.js';
import {
  addMessage,
  closeReviews,
  type Ctx,
  note,
  putInvoice,
  putMessage,
  putObject,
  putPayment,
  putRefund,
} from '../../domain/lane/change.js';
import { moveMark } from '../../domain/lane/moves.js';
import { newRefund } from './apply-event.js';
import { decideAnew } from './apply-refusal.js';
import { dismissTax, retryTax } from '../../tax/rules/tax-answer.js';
import { isTaxReview } from '../../tax/rules/tax-review.js';
import { closePayment, PARKING } from '../../domain/lane/payment.js';
import { proven } from './settle.js';
import { askAgain } from '../../domain/lane/facts.js';
import { isSurplus, surplusToRefund } from '../../renewals/rules/surplus.js';
import { isToldFailed } from '../../renewals/rules/alarms.js';
import { type Commanded, refuse, refuseInShadow } from '../../domain/lane/commanded.js';
import { HOUR_MS } from '../../policy.js';
import { returnOf } from '../../statements/rules/settle-return.js';

export type RefundRequest = {
  /** Null: all that remains. Smallest units. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Who asks: an API key's name. */
  readonly by: string;
};

/** Document 3 refunds by `pay_...` ids, which only its `payment.*` events name: how to name a payment without one. */
export const HOW_TO_NAME =
  "The MoR's id of this payment (pay_...) is not known here yet. Name it first: POST /v1/payments/{id}/identify, crossbill refund --payment-id, or the payment's page in the console; the MoR portal shows it. A payment that the MoR gives no such id is refunded in its portal.";

/**
 * Writes a refund down with its key and bytes; the amount is reserved from here on.
 * @param scope what makes this request one and no other, from names that survive a restored backup; null: nothing does, and the refund's
 *   own id makes its key
 */
export function requestRefund(
  s: LaneState,
  paymentRowId: string,
  req: RefundRequest,
  ctx: Ctx,
  scope: readonly string[] | null = null,
): Commanded<RefundRow> {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (ctx.settings.shadow === true) return refuseInShadow();
  if (p.paymentId === null) {
    return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  }
  if (p.succeededAt === null || p.amount === null) {
    return refuse(422, 'payment_not_refundable', 'This payment never succeeded: there is nothing to give back.');
  }
  if (returnOf(s, p.id) !== undefined) {
    const message =
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.';
    return refuse(422, 'payment_not_refundable', message);
  }
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : s.messages.find((m) => m.key === key);
  if (before !== undefined) {
    const made = s.refunds.find((r) => r.id === before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount))
      return { ok: true, state: s, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key was used for another refund of this payment.');
  }
  const lost = lostOf(p.id, s.objects);
  const rest = refundable(p, s.refunds, lost);
  const byBank = `The bank took ${showMoney({ minor: lost, currency: p.currency })} of this payment back: a dispute was lost.`;
  if (rest === 0n) {
    const why =
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment was given back or is on its way back.';
    return refuse(422, 'payment_not_refundable', why);
  }
  const amount = req.amount ?? rest;
  if (amount > rest) {
    const left = showMoney({ minor: rest, currency: p.currency });
    const why = `The amount exceeds what remains of this payment: ${left}.${lost > 0n ? ` ${byBank}` : ''}`;
    return refuse(400, 'invalid_request', why, 'amount');
  }
  const refund = newRefund(ctx, p, amount, req.reason, 'api');
  const wire = ctx.encodeMor({
    kind: 'create_refund',
    paymentId: p.paymentId,
    amountMinor: amount,
    reason: req.reason,
    metadata: req.metadata,
  });
  const call = {
    peer: 'mor',
    kind: 'create_refund',
    subject: refund.id,
    wire,
    ...(key === null ? {} : { key }),
  } as const;
  const state = addMessage(putRefund(s, refund), ctx, call);
  const said = `${req.by} asked for a refund of ${showMoney({ minor: amount, currency: p.currency })}`;
  return { ok: true, state: note(state, ctx, 'person', said, refund.id), value: refund };
}

/** Both ids of a payment, the MoR's and ours, are one scope: the key is made of the MoR's, which no restore changes. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** A refund chosen for a review item is the payment's first of that kind again after a restore; one more is asked for only when the last failed. */
function reviewScope(s: LaneState, paymentId: string | null, kind: ReviewRow['kind']): readonly string[] {
  for (let n = 1; ; n++) {
    const scope = ['review', kind, String(n)];
    if (!s.messages.some((m) => m.key === refundKey(paymentId ?? '', scope))) return scope;
  }
}

/**
 * What a person may choose for an open item.
 * @param named the MoR's id of its payment is known: without one nothing can be refunded
 */
export function resolutionsOf(r: ReviewRow, named: boolean): readonly Resolution[] {
  return resolutionsOfKind(r).filter((x) => x !== 'refund' || named);
}

/** What is proposed, and how to come by a refund that cannot be chosen yet. */
export function proposalOf(r: ReviewRow, named: boolean): string {
  const missing = r.status === 'open' && r.paymentRowId !== null && !named && resolutionsOfKind(r).includes('refund');
  return missing ? `${r.proposal} \`refund\` can be chosen once the payment has its name. ${HOW_TO_NAME}` : r.proposal;
}

function resolutionsOfKind(r: ReviewRow): readonly Resolution[] {
  switch (r.kind) {
    case 'amount_mismatch':
    case 'customer_mismatch':
      return ['apply', 'refund', 'retry', 'dismiss'];
    case 'currency_mismatch':
    case 'invoice_not_payable':
    case 'double_payment':
      return ['refund', 'retry', 'dismiss'];
    case 'signup_unproven':
      return ['apply', 'retry', 'dismiss'];
    case 'refund_stuck':
      return isToldFailed(r) ? ['retry', 'dismiss'] : ['apply', 'retry', 'dismiss'];
    case 'effect_failed':
    case 'finalization_failed':
    case 'renewal_overdue':
      return ['retry', 'dismiss'];
    case 'partial_transfer':
      return ['apply', 'dismiss'];
    case 'dispute':
    case 'debit_returned':
    case 'conflicting_event':
    case 'refund_gap':
    case 'signup_overdue':
      return ['dismiss'];
  }
}

/** Settles an open review item as a person chose. The item is closed by this, whatever comes of what it starts. */
export function resolveReview(
  s: LaneState,
  reviewId: string,
  choice: { readonly resolution: Resolution; readonly note: string | null; readonly by: string },
  ctx: Ctx,
): Commanded<ReviewRow> {
  const r = s.reviews.find((x) => x.id === reviewId);
  if (r === undefined) return refuse(404, 'not_found', 'There is no such review item.');
  if (r.status === 'resolved') {
    if (r.resolution === choice.resolution) return { ok: true, state: s, value: r };
    return refuse(
      409,
      'review_already_resolved',
      `This item was already resolved (${r.resolution ?? ''}) by ${r.resolvedBy ?? ''}.`,
    );
  }
  const allowed = resolutionsOfKind(r); // a refund of a payment without a name is refused with how to name it
  if (!allowed.includes(choice.resolution)) {
    return refuse(
      409,
      'resolution_not_available',
      `A ${r.kind} item can be settled by: ${allowed.join(', ')}.`,
      'resolution',
    );
  }
  const acted = act(s, r, choice, ctx);
  if (!acted.ok) return acted;
  const state = closeReviews(acted.state, ctx, (x) => x.id === r.id, choice);
  return { ok: true, state, value: state.reviews.find((x) => x.id === r.id) ?? r };
}

function act(
  s: LaneState,
  r: ReviewRow,
  choice: { readonly resolution: Resolution; readonly note: string | null; readonly by: string },
  ctx: Ctx,
): Commanded<null> {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  const just = (state: LaneState): Commanded<null> => ({ ok: true, state, value: null });
  // Only its number is settled: whether the MoR knows the charge at all is another item's question.
  const unproven = r.kind === 'amount_mismatch' && p?.mark === 'parked' && p.succeededAt === null;
  if (unproven && choice.resolution !== 'refund') return just(s);
  switch (choice.resolution) {
    case 'refund': {
      if (p === undefined) return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
      const asked = requestRefund(
        s,
        p.id,
        { amount: surplusToRefund(s, r), reason: 'requested_by_customer', metadata: null, by: choice.by },
        ctx,
        reviewScope(s, p.paymentId, r.kind),
      );
      return asked.ok ? just(asked.state) : asked;
    }
    case 'apply': {
      if (r.kind === 'refund_stuck') return endRefund(s, r, choice);
      if (p === undefined) return just(s);
      if (r.kind === 'signup_unproven') return just(proven(s, p, ctx, `${choice.by} vouches for it`));
      if (p.mark !== 'parked') return just(s); // it is on the invoice already: there is nothing left to apply
      const due = s.invoice?.amountRemaining ?? null;
      const surplus = due !== null && p.amount !== null && p.amount > due ? (['surplus'] as const) : [];
      const waived = [...p.waived, waivedBy(r), ...surplus];
      return just(lookAgain(putPayment(s, { ...moveMark(p, 'waiting'), waived })));
    }
    case 'retry': {
      if (r.kind === 'double_payment' && p?.mark === 'parked' && p.succeededAt === null)
        return refuse(
          409,
          'charge_already_used',
          'The charge is booked for another invoice, which the item names: it cannot pay this one too.',
        );
      // Without its bytes a refund would be one of all that remains (Document 3): it must never leave.
      if (s.messages.some((m) => m.kind === 'create_refund' && m.subject === r.refundId && m.wire.body === null))
        return refuse(
          409,
          'request_erased',
          'What this refund asked for was erased or purged: it cannot be sent again.',
        );
      return just(retry(s, r, p, ctx));
    }
    case 'dismiss': {
      if (isTaxReview(r)) return just(dismissTax(s, r, ctx));
      const parked = p?.mark === 'parked' && PARKING.has(r.kind);
      return just(parked ? closePayment(s, p) : s);
    }
  }
}

/**
 * A person has it from the MoR that a refund failed, of which no event tells (Document 3 names none): its amount is free again. Only
 * what is not being sent any more, and never without a word on who said so: a refund that was made after all would be made twice.
 */
function endRefund(
  s: LaneState,
  r: ReviewRow,
  choice: { readonly note: string | null; readonly by: string },
): Commanded<null> {
  const refund = s.refunds.find((x) => x.id === r.refundId);
  if (refund === undefined || refund.status === 'succeeded' || refund.status === 'failed')
    return { ok: true, state: s, value: null };
  const said = choice.note?.trim() ?? '';
  if (said === '')
    return refuse(400, 'note_required', 'Say in the note who at the MoR told you that this refund failed.', 'note');
  if (s.messages.some((m) => m.kind === 'create_refund' && m.subject === refund.id && m.status === 'pending')) {
    return refuse(409, 'refund_being_sent', 'This refund is still being sent: wait until the MoR has answered.');
  }
  const failure = { status: null, code: 'told_by_person', message: `${choice.by} says that it failed: ${said}` };
  return {
    ok: true,
    state: decideAnew(putRefund(s, { ...refund, status: 'failed', failure }), refund.paymentRowId),
    value: null,
  };
}

/** A part of a bank transfer differs from what is due, and that is known. */
function waivedBy(r: ReviewRow): ReviewRow['kind'] {
  return r.kind === 'partial_transfer' ? 'amount_mismatch' : r.kind;
}

function retry(s: LaneState, r: ReviewRow, p: PaymentRow | undefined, ctx: Ctx): LaneState {
  if (r.kind === 'renewal_overdue' && s.invoice !== null) {
    const by = new Date(ctx.now.getTime() + ctx.settings.renewalAlarmAfterHours * HOUR_MS);
    return putInvoice(s, { ...s.invoice, expectedBy: by });
  }
  if (r.kind === 'signup_unproven' && p !== undefined) {
    // As for the first time: money that is still on its way is waited for as long again.
    return putPayment(s, { ...moveMark(p, 'proving'), status: 'processing', proveDueAt: ctx.now, pendingSince: null });
  }
  if (r.kind === 'finalization_failed' && s.invoice !== null) {
    // Every payment that waits for it; the old error must not bring the item back before the new try.
    const again = s.payments.map((x) => (x.mark === 'held' ? moveMark(x, 'waiting') : x));
    return lookAgain(putInvoice({ ...s, payments: again }, { ...s.invoice, finalizationError: null }));
  }
  if (isTaxReview(r)) return retryTax(s, r, ctx);
  if (isSurplus(s, r)) return askAgain(s, ctx);
  const refund = s.refunds.find((x) => x.id === r.refundId);
  if (refund?.mirror === 'parked') return putRefund(s, { ...refund, mirror: 'waiting' });
  // One that failed is asked for anew, as another refund: its amount is reserved no more.
  if (r.kind === 'refund_stuck' && refund?.status === 'failed') return s;
  if (r.kind === 'refund_stuck' && refund !== undefined)
    return sendAgain(s, (m) => m.kind === 'create_refund' && m.subject === refund.id, ctx);
  if (r.kind === 'effect_failed' && r.subject.startsWith('relay_event:')) {
    return sendAgain(s, (m) => r.subject === `relay_event:${m.subject}`, ctx);
  }
  const link = s.objects.find((o) => r.subject === `create_payment_link:${o.id}`);
  // Set aside, so that settle-recovery.ts asks for another under a new key.
  if (link?.status === 'REFUSED') return putObject(s, { ...link, status: 'REPLACED', updatedAt: ctx.now });
  if (p !== undefined && (p.mark === 'parked' || p.mark === 'held'))
    return lookAgain(putPayment(s, { ...moveMark(p, 'waiting'), markTries: 0 }));
  return s;
}

/** The same key and the same bytes once more: what was done is not done twice. */
function sendAgain(s: LaneState, match: (m: OutboxRow) => boolean, ctx: Ctx): LaneState {
  const m = s.messages.find(match);
  if (m === undefined || m.status === 'done') return s;
  return putMessage(s, {
    ...m,
    status: 'pending',
    lastCode: null,
    firstTriedAt: null, // how old its key may be counts from a person's word on
    answeredAt: null,
    nextTryAt: ctx.now,
  });
}

function lookAgain(s: LaneState): LaneState {
  return s.invoice === null ? s : putInvoice(s, { ...s.invoice, readAt: null, readDueAt: null });
}
