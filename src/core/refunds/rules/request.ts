// Checks and stores our refund request; the workers send it. Also handles the MoR's refusal and a missing result.
import { type Mutable } from '../../../shared/domain/row.js';
import { isSameFact } from '../../../shared/domain/fact.js';
import {
  type LaneRows,
  type CallRow,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
  moveRefund,
} from '../../../shared/domain/model.js';
import { showMoney } from '../../../shared/domain/money.js';
import { morKey } from '../../../shared/domain/mor-key.js';
import { showUndecided, undecidedDisputes } from '../../../shared/domain/dispute-sum.js';
import { lostOf, objectId, returnOf } from '../../../shared/domain/mor-object.js';
import { HOW_TO_NAME, ownIdOf } from '../../../shared/domain/payment-name.js';
import { type CallFailure, said } from '../../../shared/domain/ports/call.js';
import { refundable } from '../../../shared/domain/status.js';
import { isRedirect, mayBeCutOff, type CallRule } from '../../../engine/call.js';
import { type Choice, type ChoiceRule, type Refusal, refuse, type Result } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import {
  REPLY_TIMEOUT_MS,
  DAY_MS,
  KEY_LIFE_MS,
  REFUND_TIMEOUT_DAYS,
  REFUND_REMINDER_DAYS,
} from '../../../shared/policy.js';
import { findWaiting, isRenamed, isWaiting, newRefund, requestOf, logWaiting, applyReply } from './refund.js';

export type RefundRequest = {
  /** The amount in smallest units. Null: the rest of the payment. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** The name of the API key or of the person. */
  readonly by: string;
  /** True: refuse a refund equal to one that still waits. The caller has no key, so it may be a repeat. */
  readonly unlessWaiting?: boolean;
  /** True: a person or the merchant's backend knows of the payment's open dispute, and wants the refund. */
  readonly despiteDispute?: boolean;
};

/**
 * Stores a refund with its key and bytes, and reserves its amount.
 * @param scope makes the key unique to this request, and is the same after a restored backup. Null: the refund's own id
 * makes the key unique
 */
export function requestRefund(
  lane: Lane,
  paymentRowId: string,
  req: RefundRequest,
  scope: readonly string[] | null = null,
): Result<RefundRow> {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.paymentId === null) return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  if (p.succeededAt === null || p.amount === null)
    return refuseRefund('This payment never succeeded: there is nothing to refund.');
  if (returnOf(lane, p.id) !== undefined)
    return refuseRefund(
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.',
    );
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : lane.calls.find((m) => m.key === key);
  if (before !== undefined) {
    const made = refundById(lane, before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount)) return { ok: true, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key belongs to another refund: use a new key.');
  }
  const show = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const lost = lostOf(p.id, lane.objects);
  const remaining = refundable(p, lane.refunds, lost);
  const waiting = req.unlessWaiting === true ? findWaiting(lane.findRefunds(p), req.amount, remaining) : undefined;
  if (waiting !== undefined) return refuse(409, REFUND_WAITING, logWaiting(waiting));
  const byBank = lost > 0n ? `The bank took ${show(lost)} of this payment: a dispute was lost.` : '';
  if (remaining === 0n)
    return refuseRefund(
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment is refunded or being refunded.',
    );
  const disputes = undecidedDisputes(p, lane.objects);
  if (disputes.length > 0 && req.despiteDispute !== true)
    return refuse(409, PAYMENT_DISPUTED, `${showUndecided(disputes)} ${HOW_TO_REFUND_DESPITE}`);
  const amount = req.amount ?? remaining;
  if (amount > remaining) {
    const why = `The amount exceeds the rest of this payment. Refund at most ${show(remaining)}. ${byBank}`;
    return refuse(400, 'invalid_request', why.trim(), 'amount');
  }
  const refund = lane.add('refunds', newRefund(lane.ctx, p, { amount, reason: req.reason, origin: 'api' }));
  const { reason, metadata } = req;
  const kind = 'create_refund' as const;
  const wire = lane.ctx.encodeMor({ kind, paymentId: p.paymentId, amountMinor: amount, reason, metadata });
  lane.request({ peer: 'mor', kind, subject: refund.id, wire, ...(key === null ? {} : { key }) });
  const despite = disputes.length > 0 ? `, despite dispute ${disputes.map(objectId).join(', ')}` : '';
  lane.log('person', `${req.by} asked for a refund of ${show(amount)}${despite}`, refund);
  return { ok: true, value: refund };
}

export const PAYMENT_DISPUTED = 'payment_disputed';

const HOW_TO_REFUND_DESPITE =
  'Answer the dispute first. If you want the refund despite it, request it for the payment: in the console, with `crossbill refund --despite-dispute`, or with `despite_dispute` in the API.';

export const REFUND_WAITING = 'refund_waiting';

function refuseRefund(why: string): Refusal {
  return refuse(422, 'payment_not_refundable', why);
}

/** The key contains the MoR's payment id, even if a caller used ours: a restore does not change the MoR's id. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** Finds a refund by our id: the refund's own row, or the row of the same refund after a join. */
export function refundById({ refunds }: LaneRows, id: string): RefundRow | undefined {
  return refunds.find((r) => r.askedAs === id) ?? refunds.find((r) => r.id === id);
}

/**
 * Refunds a payment because a person chose so in an item.
 * @param amount in smallest units; null: the rest of the payment
 */
export function refundForItem(
  lane: Lane,
  { kind }: Pick<ReviewRow, 'kind'>,
  payment: PaymentRow | undefined,
  { amount, by }: { readonly amount: bigint | null; readonly by: string },
): Refusal | null {
  if (payment === undefined)
    return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
  // The key contains the number `count`. Only after a failed refund does the next choice get the next number. After a
  // restored backup `count` starts at 1 again, so the same choice gets its old key.
  const scopeOf = (count: number): readonly string[] => ['review', kind, String(count)];
  const isUsed = (count: number): boolean =>
    lane.calls.some((m) => m.key === refundKey(payment.paymentId ?? '', scopeOf(count)));
  let n = 1;
  while (isUsed(n)) n++;
  const request = { amount, reason: 'requested_by_customer', metadata: null, by };
  const asked = requestRefund(lane, payment.id, request, scopeOf(n));
  return asked.ok ? null : asked;
}

type Refund = Mutable<RefundRow>;

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
const RENAMED = 'payment_renamed';

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
const KEY_TOO_OLD = 'key_too_old';

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

/** Items for a refund without a result for too long, and for a refund that failed after its caller received 202. */
export const stuckRefunds = itemRule(
  { 'refund-waits': 'the refund ended, or Crossbill sends it again', 'refund-failed': 'the refund succeeded' },
  function* (lane) {
    const { refunds, calls, reviews } = lane;
    for (const r of refunds) {
      const m = requestOf({ calls }, r.id);
      if (r.status === 'failed' && mustHear(r, m)) {
        const { code: error = null, message = null } = r.failure ?? {};
        const fact = { code: 'refund-failed', refund: r.morRefundId ?? r.id, error, said: message } as const;
        yield { kind: 'refund_stuck', about: r, fact, actions: ['dismiss'] };
      }
      if (r.status === 'succeeded' || r.status === 'failed' || r.status === 'joined') continue;
      const withdrawn = m?.lastCode === KEY_TOO_OLD;
      const { lastStatus: status = null, lastCode: error = null, lastMessage } = m ?? {};
      const isRefused = m?.status === 'refused' && !withdrawn;
      const refused = isRefused
        ? { status, error, said: said({ status, code: error, message: lastMessage ?? '' }) }
        : null;
      // The MoR's documents do not say how long a refund may have an unknown status, so an item opens within the day.
      const timeout = REFUND_TIMEOUT_DAYS[r.morStatus === null ? r.status : 'unknown'];
      const isLate = lane.isPast(new Date(r.createdAt.getTime() + timeout * DAY_MS));
      if (!withdrawn && refused === null && !isLate) continue;
      const amount = { minor: r.amount, currency: r.currency };
      const sent = { refund: r.id, amount, status: r.morStatus ?? r.status, since: r.createdAt.toISOString() };
      const fact = { code: 'refund-waits', ...sent, withdrawn, refused, dismissedAt: null } as const;
      // A dismissal leaves the amount reserved, so the item opens again after REFUND_REMINDER_DAYS.
      const isSame = (item: ReviewRow): boolean => isSameFact({ ...item.fact, dismissedAt: null }, fact);
      const dismissed = reviews.findLast(
        (x) => x.subject === r.id && x.resolution === 'dismiss' && isSame(x),
      )?.resolvedAt;
      if (dismissed && !lane.isPast(new Date(dismissed.getTime() + REFUND_REMINDER_DAYS * DAY_MS))) continue;
      yield { kind: 'refund_stuck', about: r, fact: { ...fact, dismissedAt: dismissed?.toISOString() ?? null } };
    }
  },
);

/** True if an item must report the failure: the caller received 202, and no person reported the failure. */
function mustHear({ failure, createdAt }: RefundRow, call: CallRow | undefined): boolean {
  const waitedMs = (call?.answeredAt?.getTime() ?? Infinity) - createdAt.getTime();
  return failure?.code !== REPORTED_BY_PERSON && ((failure?.status ?? null) === null || waitedMs >= REPLY_TIMEOUT_MS);
}

/** Carries out a person's choice for a stuck or failed refund. */
export const applyStuckChoice: ChoiceRule = (lane, item, choice) => {
  const r = lane.refunds.find((x) => x.id === item.refundId);
  if (r === undefined) return null;
  const m = requestOf(lane, r.id);
  if (choice.resolution === 'apply') return endRefund(r, m, choice);
  // After a failure the amount is free, so a person requests a new refund instead.
  if (choice.resolution !== 'retry' || r.status === 'failed') return null;
  if (isRenamed(lane.findPayment(r.paymentRowId), r))
    return refuse(409, RENAMED, 'The request has a wrong payment id, so Crossbill never sends it again.');
  if (m?.status === 'done') return refuse(409, 'refund_answered', ANSWERED);
  // A request without a body would refund the whole rest of the payment (Document 3), so Crossbill never sends it.
  if (m?.wire.body === null)
    return refuse(409, 'request_erased', 'Crossbill has erased the request and cannot send it again.');
  lane.sendAgain(m?.id);
  return null;
};

const ANSWERED =
  'The MoR has answered this request, so Crossbill does not send it again. Ask the MoR how the refund ended. If it failed, apply with a note.';

const REPORTED_BY_PERSON = 'told_by_person';

/**
 * Records a person's report of a failed refund (Document 3 has no such event). The refund's amount is free again. If
 * the MoR made the refund after all, the next refund pays the customer twice. So Crossbill refuses the report while it
 * still sends the request. Crossbill also refuses an empty note: the note must name a person at the MoR.
 */
function endRefund(refund: Refund, call: CallRow | undefined, { note, by }: Choice): Refusal | null {
  if (refund.status === 'succeeded' || refund.status === 'failed') return null;
  const word = note?.trim() ?? '';
  if (word === '')
    return refuse(400, 'note_required', 'The note must say who at the MoR told you that this refund failed.', 'note');
  if (call?.status === 'pending')
    return refuse(409, 'refund_being_sent', "Crossbill is still sending this refund: wait for the MoR's answer.");
  moveRefund(refund, 'failed', {
    failure: { status: null, code: REPORTED_BY_PERSON, message: `${by} says that it failed: ${word}` },
  });
  return null;
}
