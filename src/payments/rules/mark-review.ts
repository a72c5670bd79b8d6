// What a person may choose for a payment that is kept from its invoice, and what comes of it.
import { type LaneState, type ReviewRow } from '../../domain/model.js';
import { refuse } from '../../engine/commanded.js';
import { carriedOut, type ReviewRule } from '../../engine/subject.js';
import { letGo } from '../../ledger/rules/one-charge.js';
import { asReview } from '../../engine/adapter.js';
import { refundForItem } from '../../refunds/rules/refund-request.js';
import { isSurplus } from '../../domain/surplus.js';
import { surplusToRefund } from './surplus.js';
import { askAgain, lookAfresh } from '../../engine/facts.js';
import { type Ctx, putInvoice, putPayment } from '../../engine/change.js';
import { moveMark } from '../../engine/moves.js';
import { closePayment, verdictDueBy } from '../../engine/payment.js';
import { isOfSharedCharge } from '../../engine/open-money.js';

const NOTHING_LEFT = 'What was paid too much was refunded, or is being refunded. Nothing of it is left to give back.';

const NOT_PROVEN =
  'Whether this charge is real is not known yet. Dismiss this once it is, or complete the signup again with the right amount.';

/** A payment that waits for a person: applied, given back, tried again, or left aside. */
export const markReview: ReviewRule = (s, r, choice, ctx) => {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  // Only its number is settled: whether the MoR knows the charge at all is another item's question.
  const unproven = r.kind === 'amount_mismatch' && p?.mark === 'parked' && p.succeededAt === null;
  // Whether there is money at all is not known yet: closed now, its mark would begin, or be dropped, once it is proven, unasked.
  if (choice.resolution === 'dismiss' && p?.mark === 'proving' && r.subject === p.signupId)
    return refuse(409, 'resolution_not_available', NOT_PROVEN, 'resolution');
  if (unproven && choice.resolution !== 'refund') return carriedOut(s);
  switch (choice.resolution) {
    case 'refund': {
      const surplus = surplusToRefund(s, r);
      if (surplus === 0n) return refuse(409, 'resolution_not_available', NOTHING_LEFT, 'resolution');
      const refund = asReview((lane) => refundForItem(lane, r, p, surplus, choice.by));
      return refund(s, r, choice, ctx);
    }
    case 'apply': {
      // It is on the invoice already: there is nothing left to apply.
      if (p?.mark !== 'parked') return carriedOut(s);
      // Which number of a signup is right is settled by it, and nothing else: what is due is compared all the same.
      if (r.subject === p.signupId) return carriedOut(lookAfresh(putPayment(s, moveMark(p, 'waiting'))));
      const due = s.invoice?.amountRemaining ?? null;
      const isMore = due !== null && p.amount !== null && p.amount > due;
      // Once some was given back, that was the surplus and no sale, and Stripe credits it as well: told after the mark (surplus.ts).
      const isRefunded = s.refunds.some((x) => x.paymentRowId === p.id && x.status !== 'failed');
      const before = p.waived.filter((x) => x !== 'surplus');
      const waived = [...before, waivedBy(r), ...(isMore && !isRefunded ? (['surplus'] as const) : [])];
      return carriedOut(lookAfresh(putPayment(s, { ...moveMark(p, 'waiting'), waived })));
    }
    case 'retry': {
      // It is on the invoice already: what can be looked at is the invoice, and rest.ts or surplus.ts tells what is still so.
      if (isSurplus(s, r) || p?.mark === 'confirmed') return carriedOut(askAgain(s, ctx));
      if (p === undefined || (p.mark !== 'parked' && p.mark !== 'held')) return carriedOut(s);
      return carriedOut(lookAfresh(putPayment(s, { ...moveMark(p, 'waiting'), markTries: 0 })));
    }
    case 'dismiss':
      if (p?.mark !== 'parked') return carriedOut(s);
      if (!isOfSharedCharge(r)) return carriedOut(closePayment(s, p));
      // The MoR has named a charge of its own for it since, and that is booked: a payment like any other.
      if (p.succeededAt !== null) return carriedOut(lookAfresh(putPayment(s, moveMark(p, 'waiting'))));
      return carriedOut(awaitWord(letGo(s, p), ctx));
    case 'credit': // is of losses
      return carriedOut(s);
  }
};

/** A refusal of before is not the MoR's last word: nobody is charged for it until the MoR has spoken again, or a person acts on the alarm. */
function awaitWord(s: LaneState, ctx: Ctx): LaneState {
  const trail = s.invoice?.retries ?? null;
  if (s.invoice === null || trail === null) return s;
  // An end that was taken back because money came is decided again.
  const end = s.messages.findLast((m) => m.kind === 'mark_uncollectible' || m.kind === 'cancel_subscription');
  const ended = end?.status === 'cancelled' ? null : trail.ended;
  if (trail.waitingSince !== null) return putInvoice(s, { ...s.invoice, retries: { ...trail, ended } });
  const retries = { ...trail, ended, waitingSince: ctx.now.toISOString() };
  return putInvoice(s, { ...s.invoice, expectedBy: verdictDueBy(s.invoice, ctx), retries });
}

/** A part of a bank transfer differs from what is due, and that is known. */
function waivedBy(r: ReviewRow): ReviewRow['kind'] {
  return r.kind === 'partial_transfer' ? 'amount_mismatch' : r.kind;
}
