// A signup's completion: the charge that the browser's result names becomes the payment of the first invoice.
import { isSameFact } from '../../domain/fact.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { money, type Money, sameMoney, showMoney } from '../../domain/money.js';
import { type Commanded, refuse } from '../../engine/commanded.js';
import { asCommand } from '../../engine/adapter.js';
import { identifyPayment, newPayment } from '../../engine/payment.js';
import { type Ctx, note, openReview, putPayment } from '../../engine/change.js';
import { moveMark } from '../../engine/moves.js';
import { ensureInvoice } from '../../engine/facts.js';
import { decide } from '../../engine/adapter.js';
import { believe, settleAmount } from '../../payments/rules/payment.js';

export type Completion = {
  readonly signupId: string;
  readonly customerId: string;
  readonly morCustomerId: string | null;
  readonly paymentIntentId: string | null;
  readonly chargeId: string;
  /** The MoR's id of the payment, where the browser's result names it; null or left out: not known. */
  readonly paymentId?: string | null;
  /** What the signup's intent was made for: that and nothing else is what the MoR takes. */
  readonly asked: Money;
  /** What the merchant's backend says was taken. */
  readonly said: Money;
};

/**
 * The first invoice's payment. It is only believed once the MoR has charged it (`psp_reference`), unless the check is off. An
 * event of the same charge or intent that came first is the proof. Nothing at the MoR tells a charge's amount (Document 3), so a
 * backend that says another one than the signup asked for is a difference that a person settles before anything is marked.
 */
export function completeSignup(s: LaneState, c: Completion, ctx: Ctx): Commanded<PaymentRow> {
  const done = takeCompletion(s, c, ctx);
  if (!done.ok || c.paymentId === undefined || c.paymentId === null) return done;
  const { paymentId } = c;
  const act = asCommand((lane) => identifyPayment(lane, done.value.id, paymentId, `signup ${c.signupId}`));
  return act(done.state, ctx);
}

function takeCompletion(s: LaneState, c: Completion, ctx: Ctx): Commanded<PaymentRow> {
  const { state } = ensureInvoice(s, ctx);
  const known = state.payments.find(
    (p) =>
      p.processorChargeId === c.chargeId ||
      (c.paymentIntentId !== null && p.processorPaymentIntentId === c.paymentIntentId),
  );
  const { minor: amount, currency } = c.asked;
  if (known !== undefined) {
    if (known.signupId !== null && known.signupId !== c.signupId) {
      return refuse(409, 'charge_already_used', 'This charge is already the payment of another signup.', 'charge_id');
    }
    const linked: PaymentRow = { ...known, signupId: c.signupId };
    // An earlier try of the same intent was declined: that proves nothing of this charge.
    if (known.succeededAt === null && known.mark === 'none') {
      const ids = {
        processorChargeId: c.chargeId,
        reference: c.chargeId,
        origin: 'signup',
        status: 'processing',
      } as const;
      const p: PaymentRow = { ...moveMark(linked, 'proving'), ...ids, amount, currency, recordedAt: ctx.now };
      return toBeProven(state, p, c, ctx);
    }
    const compared = compareAmounts(putPayment(state, linked), linked, c, ctx);
    return { ok: true, state: compared, value: paymentOf(compared, linked) };
  }
  const p = newPayment(ctx, {
    invoiceId: s.lane,
    customerId: c.customerId,
    currency,
    origin: 'signup',
    amount,
    processorChargeId: c.chargeId,
    processorPaymentIntentId: c.paymentIntentId,
    reference: c.chargeId,
    signupId: c.signupId,
    status: 'processing',
    mark: 'proving',
  });
  return toBeProven(state, p, c, ctx);
}

function toBeProven(state: LaneState, p: PaymentRow, c: Completion, ctx: Ctx): Commanded<PaymentRow> {
  const said = `signup ${c.signupId} names charge ${c.chargeId} of ${showMoney(c.said)}`;
  const added = compareAmounts(note(putPayment(state, p), ctx, 'person', said, p.id), p, c, ctx);
  if (ctx.settings.signupChargeCheck === 'psp_reference') return { ok: true, state: added, value: p };
  const believed = decide(added, ctx, (lane) => {
    const known = lane.findPayment(p.id);
    if (known !== undefined) believe(lane, known, 'the check is off');
  });
  return { ok: true, state: believed, value: paymentOf(believed, p) };
}

/** Said otherwise than recorded: a person is asked, and the mark waits for it. Said rightly after all: the item is closed. */
function compareAmounts(s: LaneState, p: PaymentRow, c: Completion, ctx: Ctx): LaneState {
  if (p.amount === null) return s;
  const recorded = money(p.amount, p.currency);
  if (!sameMoney(recorded, c.said)) {
    const facts = { signup: c.signupId, charge: c.chargeId, stated: c.said, asked: recorded };
    const fact = { code: 'completed-otherwise', ...facts, failed: null } as const;
    // A person has settled the same before: a repeated request asks nothing new.
    const isSettled = (r: ReviewRow): boolean =>
      r.fact.code === 'completed-otherwise' && isSameFact({ ...r.fact, failed: null }, fact);
    if (s.reviews.some((r) => isSettled(r) && r.resolution !== 'cleared')) return s;
    return openReview(s, ctx, { kind: 'amount_mismatch', subject: c.signupId, paymentRowId: p.id, fact });
  }
  return decide(s, ctx, (lane) => {
    const known = lane.findPayment(p.id);
    if (known !== undefined) settleAmount(lane, known, 'the signup was completed with the right amount');
  });
}

function paymentOf(s: LaneState, p: PaymentRow): PaymentRow {
  return s.payments.find((x) => x.id === p.id) ?? p;
}
