// The call for our refund: the MoR's reply, its refusal, and a key too old for another try.
import { type Mutable } from '../../../shared/domain/row.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { moveRefund } from '../../../shared/domain/refund-row.js';
import { type CallRule, mayBeCutOff, isRedirect } from '../../../engine/call.js';
import { isRenamed, isWaiting, requestOf, type Refund } from './refund.js';
import { applyReply } from './refund-reply.js';
import { type Lane } from '../../../engine/lane.js';
import { type CallFailure, said } from '../../../shared/domain/ports/call.js';
import { ownIdOf } from '../../../shared/domain/payment-name.js';
import { KEY_LIFE_MS } from '../../../shared/policy.js';

export const createRefundCall: CallRule<'create_refund'> = {
  send: async ({ gateway }, { wire, key }) => {
    const made = await gateway.createRefund(wire, key);
    return made.ok ? { ...made, value: { refund: made.value } } : made;
  },
  order: 1,
  // Withdraws a call with a wrong payment id: under this id the MoR would refund another payment.
  unwanted: (lane, { refund: r }) => {
    const p = lane.findPayment(r?.paymentRowId);
    return isRenamed(p, r) ? `the MoR's id of the payment is ${p?.paymentId ?? ''}` : null;
  },
  takenBack: (lane, { row, refund: r }) => {
    if (r === undefined || !isWaiting(r)) return;
    const message = 'a person entered a wrong payment id, and the MoR sent the right id: request another refund';
    const failure = { status: null, code: RENAMED, message };
    moveRefund(r, r.status === 'unknown' || mayBeCutOff(row, lane) ? 'unknown' : 'failed', { failure });
  },
  replied: (lane, { refund: r }, { refund: a }) => {
    if (r !== undefined) applyReply(lane, r, a);
  },
  refused: (lane, { row, refund: r }, f) => {
    if (r?.status === 'succeeded' && f.status !== 409) tellRefusedBeside(lane, r, row, f);
    if (r !== undefined && isWaiting(r)) applyRefusal(lane, r, row, f);
  },
  silent: (lane, { row, refund: r }, f) => {
    const mayBeMade = mayBeCutOff(row, lane) || isRedirect(f) || f.kind === 'unknown';
    if (mayBeMade && r?.status === 'requested') moveRefund(r, 'unknown');
  },
};

/** Our code for a refund with a wrong payment id. Crossbill does not send it again. */
export const RENAMED = 'payment_renamed';

/**
 * Records the MoR's refusal of a refund. If the MoR refuses the first try, no money moved and the amount is free again.
 * The refusal of a repeat proves less, because an earlier try may have moved money. One exception: if the MoR knows no
 * such payment (Document 3, 404 `payment_not_found`), no try under this id moved money. The exception is only for an id
 * entered by a person, because the MoR knows the ids from its own events.
 */
function applyRefusal(lane: Lane, refund: Refund, call: CallRow, refusal: CallFailure): void {
  // After a late refusal the status is null: the caller has already received 202, and an item reports the failure.
  const failure = {
    status: refund.status === 'requested' ? refusal.status : null,
    code: refusal.code,
    message: refusal.message,
  };
  const p = lane.findPayment(refund.paymentRowId);
  const isMissing = refusal.code === 'payment_not_found';
  const isUnknownName = isMissing && (p === undefined || ownIdOf(p) === null);
  // The amount stays reserved if a try may have moved money: after a 409 (the key is in use, or another request used
  // it), after an earlier try without a reply, or after a crash that may have lost the record of a try.
  const isFirstTry = refund.status === 'requested' && !mayBeCutOff(call, lane);
  if ((isFirstTry && refusal.status !== 409) || isUnknownName) {
    moveRefund(refund, 'failed', { failure });
    if (isMissing && p !== undefined && p.identifiedBy !== null) removeName(lane, p);
  } else if (refusal.code === 'idempotency_conflict') {
    // The MoR knows this key with another body, as after a restored backup. A new key could refund the money twice.
    const message =
      'The MoR knows this Idempotency-Key from another request, perhaps from before a restored backup. Crossbill sent nothing under another key.';
    moveRefund(refund, 'unknown', { failure: { ...failure, status: refusal.status, message } });
  } else moveRefund(refund, 'unknown');
}

/** Removes a person's payment id, because the MoR does not know the id. The person can then enter the right id. */
function removeName(lane: Lane, payment: Mutable<PaymentRow>): void {
  const [name, by] = [payment.paymentId ?? '', payment.identifiedBy ?? ''];
  lane.log('decision', `the MoR knows no payment ${name}: Crossbill removed this id, entered by ${by}`, payment);
  payment.paymentId = null;
  payment.identifiedBy = null;
}

/**
 * Opens an item: the MoR refused our request, but an event of a refund had already settled the request's row. So
 * somebody else made this refund, for example in the MoR's portal. If our request had an earlier try without a reply,
 * this try may have moved money too.
 */
function tellRefusedBeside(lane: Lane, refund: Refund, call: CallRow, failure: CallFailure): void {
  const other = refund.morRefundId ?? refund.processorRefundId;
  const nothingMade = call.attempts === 1 && !mayBeCutOff(call, lane);
  const name = other === null ? 'a refund' : `refund ${other}`;
  const message = `${failure.message} (${name} of the same amount was made elsewhere; this request refunded nothing)`;
  // If the caller repeats the request, Crossbill returns the refusal, unless an earlier try may have moved money.
  if (nothingMade) refund.failure = { status: failure.status, code: failure.code, message };
  const amount = { minor: refund.amount, currency: refund.currency };
  const refusal = { status: failure.status, error: failure.code, said: said(failure) };
  const fact = { code: 'request-refused', refund: refund.id, amount, other, nothingMade, ...refusal } as const;
  lane.openReview({
    kind: 'refund_gap',
    subject: `${refund.id}:refused`,
    paymentRowId: refund.paymentRowId,
    refundId: refund.id,
    fact,
  });
}

/** Our code for a request that Crossbill withdrew because of its age. */
export const KEY_TOO_OLD = 'key_too_old';

/**
 * Withdraws an unfinished request when the MoR may have forgotten its key: a repeat could pay the money twice. Then an
 * event or a person settles the refund. The key's age counts from the request or from a person's last `retry`, not from
 * the first recorded try: a crash or a restore may have lost the record of an earlier try.
 */
export function withdrawStale(lane: Lane): void {
  for (const r of lane.refunds) {
    const m = requestOf(lane, r.id);
    if (m?.status !== 'pending') continue;
    const retries = lane.reviews.filter(
      (x) => x.kind === 'refund_stuck' && x.subject === r.id && x.resolution === 'retry',
    );
    const since = Math.max(m.createdAt.getTime(), ...retries.map((x) => x.resolvedAt?.getTime() ?? 0));
    if (lane.age(new Date(since)) < KEY_LIFE_MS) continue;
    Object.assign(m, { status: isWaiting(r) ? 'refused' : 'cancelled', lastCode: KEY_TOO_OLD, answeredAt: lane.now });
    if (r.status === 'requested') moveRefund(r, 'unknown');
    lane.log('decision', `the MoR may have forgotten key ${m.key} by now: Crossbill does not repeat the request`, r);
  }
}
