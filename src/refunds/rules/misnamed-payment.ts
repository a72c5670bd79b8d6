// A person named a payment by the id of somebody else's: money that goes back under that name is not this payment's.
import { type Ctx, openReview, putRefund, takeCallBack } from '../../engine/change.js';
import { type LaneState, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { moveRefund } from '../../engine/moves.js';
import { mayBeCutOff } from '../../engine/call.js';
import { decideAgain } from './refund-answer.js';
import { tellFailed } from './stuck-refund.js';

/** What the MoR says of a payment by its id. */
type Said = {
  readonly eventId: string;
  readonly paymentId: string;
  readonly processorChargeId: string | null;
  readonly customerId: string;
  readonly amount: bigint;
  readonly currency: string;
};

export const MISNAMED = 'that id is of another payment than the one that a person named so: not applied';

/** The payment that a person called by this id, although its charge is another. */
export function misnamed(s: LaneState, e: Said): PaymentRow | undefined {
  const { processorChargeId: charge } = e;
  return s.payments.find(
    (p) =>
      p.paymentId === e.paymentId &&
      p.identifiedBy !== null &&
      p.processorChargeId !== null &&
      charge !== null &&
      p.processorChargeId !== charge,
  );
}

/** A refund that was asked for under this name went to the other payment's customer: only people can put that right. */
export function tellMisnamed(s: LaneState, e: Said, p: PaymentRow, ctx: Ctx): LaneState {
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: e.eventId,
    paymentRowId: p.id,
    fact: {
      code: 'payment-misnamed',
      by: p.identifiedBy ?? '',
      payment: e.paymentId,
      ownCharge: p.processorChargeId,
      charge: e.processorChargeId,
      customer: e.customerId,
      amount: { minor: e.amount, currency: e.currency },
    },
  });
}

/** Why a refund is not sent again: its request names another payment. */
export const RENAMED = 'payment_renamed';

/** The MoR has just named payments otherwise than people did: what was asked for under their names is not money of these payments. */
export function tellRenamed(before: LaneState, after: LaneState, ctx: Ctx): LaneState {
  return before.payments.reduce((state, was) => {
    const p = after.payments.find((x) => x.id === was.id);
    const isOther = was.paymentId !== null && was.identifiedBy !== null && p?.paymentId !== was.paymentId;
    return p === undefined || p.paymentId === null || !isOther ? state : renamed(state, was, p, ctx);
  }, after);
}

function renamed(s: LaneState, was: PaymentRow, p: PaymentRow, ctx: Ctx): LaneState {
  const asked = s.refunds.filter((r) => r.paymentRowId === p.id && r.origin === 'api');
  const state = asked.reduce((x, r) => notSentAnyMore(x, r, p, ctx), s);
  const made = state.refunds.filter(
    (r) => asked.some((a) => a.id === r.id) && r.status !== 'failed' && r.status !== 'joined',
  );
  if (made.length === 0) return state;
  const amount = { minor: made.reduce((sum, r) => sum + r.amount, 0n), currency: p.currency };
  const [old, name] = [was.paymentId ?? '', p.paymentId ?? ''];
  return openReview(state, ctx, {
    kind: 'conflicting_event',
    subject: `${p.id}:${old}`,
    paymentRowId: p.id,
    fact: { code: 'payment-renamed', by: was.identifiedBy ?? '', from: old, to: name, amount },
  });
}

/** What was not made yet would be made of the other payment. */
function notSentAnyMore(s: LaneState, r: RefundRow, p: PaymentRow, ctx: Ctx): LaneState {
  if (r.status !== 'requested' && r.status !== 'unknown') return s;
  const m = s.messages.find((x) => x.kind === 'create_refund' && x.subject === r.id && x.status === 'pending');
  const why = `the MoR says that the payment is ${p.paymentId ?? ''}`;
  const state = m === undefined ? s : takeCallBack(s, m, why, ctx);
  const isCut = m === undefined || mayBeCutOff(m, ctx);
  const message = 'its payment was named wrongly, and the MoR has named it since: ask for another refund';
  const failure = { status: null, code: RENAMED, message };
  if (r.status === 'unknown' || isCut) return putRefund(state, { ...moveRefund(r, 'unknown'), failure });
  const row: RefundRow = { ...moveRefund(r, 'failed'), failure };
  return tellFailed(decideAgain(putRefund(state, row), p.id), row, ctx);
}
