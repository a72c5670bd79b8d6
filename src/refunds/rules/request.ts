// Our request for a refund: checked, stored with its key and bytes, sent by the workers; the MoR's refusal, and a request without an end.
import { type Draft } from '../../domain/row.js';
import { isSameFact } from '../../domain/fact.js';
import {
  type LaneRows,
  type OutboxRow,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
  moveRefund,
} from '../../domain/model.js';
import { showMoney } from '../../domain/money.js';
import { morKey } from '../../domain/mor-key.js';
import { lostOf, returnOf } from '../../domain/mor-object.js';
import { HOW_TO_NAME, ownIdOf, paymentName } from '../../domain/payment-name.js';
import { type CallFailure, said } from '../../domain/ports/call.js';
import { refundable } from '../../domain/status.js';
import { isRedirect, mayBeCutOff, type CallRule } from '../../engine/call.js';
import {
  type Choice,
  type ChoiceRule,
  type Refusal,
  refuse,
  refuseInShadow,
  type Result,
} from '../../engine/commanded.js';
import { type Lane } from '../../engine/draft.js';
import { itemRule } from '../../engine/items.js';
import { ANSWER_PATIENCE_MS, DAY_MS, KEY_LIFE_MS, REFUND_PATIENCE_DAYS, REFUND_REMINDER_DAYS } from '../../policy.js';
import { newRefund, requestOf, takeAnswer } from './refund.js';

export type RefundRequest = {
  /** Smallest units; null: the rest of the payment. */
  readonly amount: bigint | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** The API key's name. */
  readonly by: string;
};

/**
 * Stores a refund with its key and bytes; its amount is reserved from here on.
 * @param scope names of this request alone, the same after a restored backup; null: the refund's own id makes its key
 */
export function requestRefund(
  lane: Lane,
  paymentRowId: string,
  req: RefundRequest,
  scope: readonly string[] | null = null,
): Result<RefundRow> {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (lane.settings.shadow === true) return refuseInShadow();
  if (p.paymentId === null) return refuse(409, 'payment_not_identified', HOW_TO_NAME);
  if (p.succeededAt === null || p.amount === null)
    return refuseRefund('This payment never succeeded: there is nothing to refund.');
  if (returnOf(lane, p.id) !== undefined)
    return refuseRefund(
      'The bank took the money of this payment back (a returned debit): a refund would pay the customer twice.',
    );
  const key = scope === null ? null : refundKey(p.paymentId, scope);
  const before = key === null ? undefined : lane.messages.find((m) => m.key === key);
  if (before !== undefined) {
    const made = refundById(lane, before.subject);
    if (made !== undefined && (req.amount === null || req.amount === made.amount)) return { ok: true, value: made };
    return refuse(409, 'idempotency_conflict', 'This Idempotency-Key was used for another refund of this payment.');
  }
  const show = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const lost = lostOf(p.id, lane.objects);
  const rest = refundable(p, lane.refunds, lost);
  const byBank = lost > 0n ? `The bank took ${show(lost)} of this payment: a dispute was lost.` : '';
  if (rest === 0n)
    return refuseRefund(
      lost > 0n ? `${byBank} Nothing is left to refund.` : 'All of this payment is refunded or being refunded.',
    );
  const amount = req.amount ?? rest;
  if (amount > rest) {
    const why = `The amount exceeds what remains of this payment: ${show(rest)}. ${byBank}`;
    return refuse(400, 'invalid_request', why.trim(), 'amount');
  }
  const refund = lane.add('refunds', newRefund(lane.ctx, p, amount, req.reason, 'api'));
  const { reason, metadata } = req;
  const kind = 'create_refund' as const;
  const wire = lane.ctx.encodeMor({ kind, paymentId: p.paymentId, amountMinor: amount, reason, metadata });
  lane.request({ peer: 'mor', kind, subject: refund.id, wire, ...(key === null ? {} : { key }) });
  lane.say('person', `${req.by} asked for a refund of ${show(amount)}`, refund);
  return { ok: true, value: refund };
}

function refuseRefund(why: string): Refusal {
  return refuse(422, 'payment_not_refundable', why);
}

/** Both ids of a payment, the MoR's and ours, are one scope: the MoR's makes the key, since no restore changes it. */
function refundKey(paymentId: string, scope: readonly string[]): string {
  return morKey('refund', [paymentId, ...scope]);
}

/** The refund under this id of ours: its own row, or the row in its place. */
export function refundById({ refunds }: LaneRows, id: string): RefundRow | undefined {
  return refunds.find((r) => r.askedAs === id) ?? refunds.find((r) => r.id === id);
}

/** Refunds a payment by a person's choice for an item. @param amount smallest units; null: the rest of the payment */
export function refundForItem(
  lane: Lane,
  { kind }: Pick<ReviewRow, 'kind'>,
  p: PaymentRow | undefined,
  amount: bigint | null,
  by: string,
): Refusal | null {
  if (p === undefined) return refuse(409, 'resolution_not_available', 'This item names no payment.', 'resolution');
  // After a restore it is the payment's first of its kind again. A further one follows a failed one only.
  const scopeOf = (n: number): readonly string[] => ['review', kind, String(n)];
  const isUsed = (n: number): boolean => lane.messages.some((m) => m.key === refundKey(p.paymentId ?? '', scopeOf(n)));
  let n = 1;
  while (isUsed(n)) n++;
  const request = { amount, reason: 'requested_by_customer', metadata: null, by };
  const asked = requestRefund(lane, p.id, request, scopeOf(n));
  return asked.ok ? null : asked;
}

type Refund = Draft<RefundRow>;

export const createRefundCall: CallRule<'create_refund'> = {
  order: 1,
  // A refund under the old name would give another payment back.
  unwanted: (lane, { refund: r }) => {
    const p = lane.findPayment(r?.paymentRowId);
    return isRenamed(p, r) ? `the MoR says that the payment is ${p?.paymentId ?? ''}` : null;
  },
  takenBack: (lane, { row, refund: r }) => {
    if (r === undefined || !isWaiting(r)) return;
    const message = 'its payment was named wrongly, and the MoR has named it since: ask for another refund';
    const failure = { status: null, code: RENAMED, message };
    moveRefund(r, r.status === 'unknown' || mayBeCutOff(row, lane) ? 'unknown' : 'failed', { failure });
  },
  replied: (lane, { refund: r }, { refund: a }) => {
    if (r !== undefined) takeAnswer(lane, r, a);
  },
  refused: (lane, { row, refund: r }, f) => {
    if (r?.status === 'succeeded' && f.status !== 409) tellRefusedBeside(lane, r, row, f);
    if (r !== undefined && isWaiting(r)) takeRefusal(lane, r, row, f);
  },
  silent: (lane, { row, refund: r }, f) => {
    const mayBeMade = mayBeCutOff(row, lane) || isRedirect(f) || f.kind === 'unknown';
    if (mayBeMade && r?.status === 'requested') moveRefund(r, 'unknown');
  },
};

/** Why a refund is not sent again: its request names another payment. */
const RENAMED = 'payment_renamed';

function isWaiting({ status }: RefundRow): boolean {
  return status === 'requested' || status === 'unknown';
}

/**
 * A refused first try gave nothing back, and its amount is free again; the refusal of a repeat says less. But if the MoR knows no such
 * payment (Document 3, 404 `payment_not_found`), no try under this name moved money. It must be a name from a person: of its own name the
 * MoR contradicts itself, and proves nothing.
 */
function takeRefusal(lane: Lane, r: Refund, m: OutboxRow, f: CallFailure): void {
  // No status: the caller got 202, and an item reports the end.
  const failure = { status: r.status === 'requested' ? f.status : null, code: f.code, message: f.message };
  const p = lane.findPayment(r.paymentRowId);
  const isMissing = f.code === 'payment_not_found';
  const isUnknownName = isMissing && (p === undefined || ownIdOf(p) === null);
  // 409: its key is in use, or was used before. A crash may have lost the record of a try: nothing is free.
  // Nor after a late refusal: a try before it may have moved money.
  const isFirstTry = r.status === 'requested' && !mayBeCutOff(m, lane);
  if ((isFirstTry && f.status !== 409) || isUnknownName) {
    moveRefund(r, 'failed', { failure });
    if (isMissing && p !== undefined && p.identifiedBy !== null) removeName(lane, p);
  } else if (f.code === 'idempotency_conflict') {
    // Another body under the same key, as after a restore: it is never sent under another one.
    const message =
      'The MoR has another request under the same Idempotency-Key, perhaps from before a backup was restored. Nothing was sent under another key.';
    moveRefund(r, 'unknown', { failure: { ...failure, status: f.status, message } });
  } else moveRefund(r, 'unknown');
}

/** Removes a person's name for a payment, unknown to the MoR: the right one can follow. */
function removeName(lane: Lane, p: Draft<PaymentRow>): void {
  const [name, by] = [p.paymentId ?? '', p.identifiedBy ?? ''];
  lane.say('decision', `the MoR knows no payment ${name}, the name that ${by} gave: the name was removed`, p);
  p.paymentId = null;
  p.identifiedBy = null;
}

/**
 * An event took the row of our request for its refund, and now the MoR refuses the request. So the refund of the event was made
 * elsewhere, as in the MoR's portal, and nothing for ours; only an earlier try without an answer could have made it.
 */
function tellRefusedBeside(lane: Lane, r: Refund, m: OutboxRow, f: CallFailure): void {
  const other = r.morRefundId ?? r.processorRefundId;
  const nothingMade = m.attempts === 1 && !mayBeCutOff(m, lane);
  const name = other === null ? 'a refund' : `refund ${other}`;
  const message = `${f.message} (${name} of the same amount, made elsewhere, stands in its place)`;
  // The caller reads the refusal under the same key, unless an earlier try may have moved money.
  if (nothingMade) r.failure = { status: f.status, code: f.code, message };
  const amount = { minor: r.amount, currency: r.currency };
  const refusal = { status: f.status, error: f.code, said: said(f) };
  const fact = { code: 'request-refused', refund: r.id, amount, other, nothingMade, ...refusal } as const;
  lane.ask({ kind: 'refund_gap', subject: `${r.id}:refused`, paymentRowId: r.paymentRowId, refundId: r.id, fact });
}

/** Our code on a withdrawn request. */
const KEY_TOO_OLD = 'key_too_old';

/**
 * Crossbill does not repeat an unfinished request once the MoR may have forgotten its key: money could go back twice. Its event or a
 * person settles it. The age of the key counts from the request or from a person's last `retry`, never from a try: a lost process or
 * database may have sent an earlier one.
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
    lane.say('decision', `the MoR may have forgotten key ${m.key} by now: it is not sent again`, r);
  }
}

/** A refund without an end for too long, and a failed one after its caller was told to wait. */
export const stuckRefunds = itemRule(
  { 'refund-waits': 'the refund has its end, or its request is sent again', 'refund-failed': 'the refund succeeded' },
  function* (lane) {
    const { refunds, messages, reviews } = lane.toState();
    for (const r of refunds) {
      const m = requestOf({ messages }, r.id);
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
      // Nobody can say how long a status takes outside the documents: a person hears of it within the day.
      const patience = REFUND_PATIENCE_DAYS[r.morStatus === null ? r.status : 'unknown'];
      const isLate = lane.isPast(new Date(r.createdAt.getTime() + patience * DAY_MS));
      if (!withdrawn && refused === null && !isLate) continue;
      const amount = { minor: r.amount, currency: r.currency };
      const sent = { refund: r.id, amount, status: r.morStatus ?? r.status, since: r.createdAt.toISOString() };
      const fact = { code: 'refund-waits', ...sent, withdrawn, refused, dismissedAt: null } as const;
      // The amount stays reserved, and only an item can free it: a dismissed one comes back.
      const isSame = (x: ReviewRow): boolean => isSameFact({ ...x.fact, dismissedAt: null }, fact);
      const dismissed = reviews.findLast(
        (x) => x.subject === r.id && x.resolution === 'dismiss' && isSame(x),
      )?.resolvedAt;
      if (dismissed && !lane.isPast(new Date(dismissed.getTime() + REFUND_REMINDER_DAYS * DAY_MS))) continue;
      yield { kind: 'refund_stuck', about: r, fact: { ...fact, dismissedAt: dismissed?.toISOString() ?? null } };
    }
  },
);

/** The caller was told to wait. A person's own word is no news. */
function mustHear({ failure, createdAt }: RefundRow, m: OutboxRow | undefined): boolean {
  const waitedMs = (m?.answeredAt?.getTime() ?? Infinity) - createdAt.getTime();
  return failure?.code !== TOLD_BY_PERSON && ((failure?.status ?? null) === null || waitedMs >= ANSWER_PATIENCE_MS);
}

/** A person's choice for a stuck refund, or a failed one. */
export const takeStuckChoice: ChoiceRule = (lane, item, choice) => {
  const r = lane.refunds.find((x) => x.id === item.refundId);
  if (r === undefined) return null;
  const m = requestOf(lane, r.id);
  if (choice.resolution === 'apply') return endRefund(r, m, choice);
  // After a failure only a new refund follows: the amount is free.
  if (choice.resolution !== 'retry' || r.status === 'failed') return null;
  if (isRenamed(lane.findPayment(r.paymentRowId), r))
    return refuse(409, RENAMED, 'The request of this refund names another payment: it cannot be sent again.');
  if (m?.status === 'done') return refuse(409, 'refund_answered', ANSWERED);
  // Without its bytes the request would ask for the whole rest (Document 3): it must never leave.
  if (m?.wire.body === null)
    return refuse(409, 'request_erased', 'The request of this refund was erased or purged: it cannot be sent again.');
  lane.sendAgain(m?.id);
  return null;
};

const ANSWERED =
  'The MoR has answered this request, so it is not sent again. Ask the MoR for the end of the refund: if it failed, apply with a note.';

const TOLD_BY_PERSON = 'told_by_person';

/**
 * A person reports that a refund failed (Document 3 has no such event): its amount is free again. This needs the end of all tries and the
 * name of the MoR's speaker: if the MoR made the refund after all, the next one gives the money back twice.
 */
function endRefund(r: Refund, m: OutboxRow | undefined, { note, by }: Choice): Refusal | null {
  if (r.status === 'succeeded' || r.status === 'failed') return null;
  const word = note?.trim() ?? '';
  if (word === '')
    return refuse(400, 'note_required', 'The note must say who at the MoR told you that this refund failed.', 'note');
  if (m?.status === 'pending')
    return refuse(409, 'refund_being_sent', "This refund is still being sent: wait for the MoR's answer.");
  moveRefund(r, 'failed', {
    failure: { status: null, code: TOLD_BY_PERSON, message: `${by} says that it failed: ${word}` },
  });
  return null;
}

/** A person named the payment, the refund was asked for under that name, and the MoR names the payment otherwise. */
export function isRenamed(p: PaymentRow | undefined, r: RefundRow | undefined): boolean {
  const [asked, now] = [r?.askedOf ?? null, p?.paymentId ?? null];
  return asked !== null && now !== null && asked !== now;
}

/** Asked for under a name from a person, where the MoR names the payment otherwise: the money is not of this payment. */
export const renamedRefunds = itemRule(
  { 'payment-renamed': 'nothing was given back under that name' },
  function* (lane) {
    const { payments, refunds } = lane.toState();
    for (const p of payments) {
      const made = refunds.filter(
        (r) => r.paymentRowId === p.id && isRenamed(p, r) && r.status !== 'failed' && r.status !== 'joined',
      );
      for (const from of new Set(made.flatMap((r) => r.askedOf ?? []))) {
        const minor = made.reduce((sum, r) => (r.askedOf === from ? sum + r.amount : sum), 0n);
        const fact = {
          code: 'payment-renamed',
          from,
          to: paymentName(p),
          amount: { minor, currency: p.currency },
        } as const;
        yield { kind: 'conflicting_event', about: p, subject: `${p.id}:${from}`, fact };
      }
    }
  },
);
