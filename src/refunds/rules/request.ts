// Our request for a refund: the MoR's reply, and the end of a request without one.
import { isSameFact } from '../../domain/fact.js';
import { type LaneRows, type OutboxRow, type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { ownIdOf, paymentName } from '../../domain/payment-name.js';
import { type CallFailure, said } from '../../domain/ports/call.js';
import { type RefundAnswer } from '../../domain/ports/payment-gateway.js';
import { isRedirect, mayBeCutOff } from '../../engine/call.js';
import { asCallRule } from '../../engine/call-rule.js';
import { sendAgain } from '../../engine/change.js';
import { type Refusal, refuse } from '../../engine/commanded.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { moveRefund } from '../../engine/draft-moves.js';
import { itemRule } from '../../engine/items.js';
import { type Choice, type ChoiceRule } from '../../engine/subject.js';
import { ANSWER_PATIENCE_MS, DAY_MS, KEY_LIFE_MS, REFUND_PATIENCE_DAYS, REFUND_REMINDER_DAYS } from '../../policy.js';
import { isNameless, isRenamed, newRefund } from './refund.js';

type Refund = Draft<RefundRow>;

export const createRefundCall = asCallRule<'create_refund'>({
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
    moveRefund(r, r.status === 'unknown' || mayBeCutOff(row, lane.ctx) ? 'unknown' : 'failed', { failure });
  },
  replied: (lane, { refund: r }, { refund: a }) => {
    if (r !== undefined) takeAnswer(lane, r, a);
  },
  refused: (lane, { row, refund: r }, f) => {
    if (r?.status === 'succeeded' && f.status !== 409) tellRefusedBeside(lane, r, row, f);
    if (r !== undefined && isWaiting(r)) takeRefusal(lane, r, row, f);
  },
  silent: (lane, { row, refund: r }, f) => {
    const mayBeMade = mayBeCutOff(row, lane.ctx) || isRedirect(f) || f.kind === 'unknown';
    if (mayBeMade && r?.status === 'requested') moveRefund(r, 'unknown');
  },
});

/** Why a refund is not sent again: its request names another payment. */
const RENAMED = 'payment_renamed';

function isWaiting({ status }: RefundRow): boolean {
  return status === 'requested' || status === 'unknown';
}

/** Document 3, "Refund", as the answer to our request. The webhook may have told the same before. */
function takeAnswer(lane: Lane, r: Refund, a: RefundAnswer): void {
  const p = lane.findPayment(r.paymentRowId);
  if (p === undefined) return;
  const others = lane.findRefunds(p).filter((x) => x.id !== r.id);
  const known =
    others.find((x) => x.morRefundId === a.morRefundId) ??
    others.find((x) => a.processorRefundId !== null && x.processorRefundId === a.processorRefundId);
  if (a.amountMinor !== r.amount || a.currency !== r.currency || a.paymentId !== p.paymentId) {
    if (r.status === 'requested') moveRefund(r, 'unknown');
    if (known === undefined && a.paymentId === p.paymentId) r.morRefundId ??= a.morRefundId;
    const asked = { minor: r.amount, currency: r.currency };
    const answered = { minor: a.amountMinor, currency: a.currency };
    const fact = {
      code: 'answer-differs',
      payment: paymentName(p),
      asked,
      answered,
      answeredFor: a.paymentId,
    } as const;
    return lane.ask({ kind: 'refund_gap', subject: r.id, paymentRowId: p.id, refundId: r.id, fact });
  }
  const told = known ?? (isNameless(r, a.amountMinor) ? findTold(others, a) : undefined);
  if (told !== undefined) return join(lane, r, told, a);
  const isOther = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && one !== other;
  const isAnother = isOther(r.morRefundId, a.morRefundId) || isOther(r.processorRefundId, a.processorRefundId);
  // Another of ours of the same amount without a name: its event was taken for this one's.
  const twin = (): Refund =>
    others.find((x) => isNameless(x, r.amount)) ??
    lane.add('refunds', newRefund(lane.ctx, p, r.amount, r.reason, 'api'));
  settleBy(lane, isAnother ? twin() : r, a);
}

function settleBy(lane: Lane, r: Refund, a: RefundAnswer): void {
  const isSettled = r.status === 'succeeded';
  const status = (['succeeded', 'pending', 'failed'] as const).find((known) => known === a.status) ?? null;
  if (!isSettled) moveRefund(r, status ?? 'pending', { morStatus: status === null ? a.status : null });
  r.morRefundId = a.morRefundId;
  r.processorRefundId ??= a.processorRefundId;
  if (a.status === 'succeeded') r.succeededAt ??= a.createdAt ?? lane.now;
  const failure = { status: null, code: 'refund_failed', message: 'the MoR says that the refund failed' };
  r.failure = a.status === 'failed' && !isSettled ? failure : null;
}

/**
 * Event and answer may have no id in common (Document 3 asks for none in an event). An event here before our request can be of the answer's
 * refund, if the MoR made it no earlier than the refund; any refund for a new request is younger. The oldest fitting one counts: a later
 * answer may need a younger one.
 */
function findTold(others: readonly Refund[], a: RefundAnswer): Refund | undefined {
  const madeSec = a.createdAt === null ? null : Math.floor(a.createdAt.getTime() / 1_000); // events tell whole seconds
  if (madeSec === null) return undefined;
  const isNew = (r: Refund): boolean =>
    r.origin === 'event' && r.askedAs === null && r.morRefundId === null && r.processorRefundId === null;
  const at = (r: Refund): number => r.succeededAt?.getTime() ?? -1;
  return others
    .filter((r) => isNew(r) && r.amount === a.amountMinor && r.currency === a.currency && madeSec <= at(r) / 1_000)
    .toSorted((x, y) => at(x) - at(y))[0];
}

/**
 * The MoR answered with a refund of another row, as after a restore: its event came back before our request under its key. The other row is
 * the refund, under both of our ids, and ours reserves nothing (docs/decisions/0008).
 */
function join(lane: Lane, r: Refund, known: Refund, a: RefundAnswer): void {
  // One of ours without an answer took this event for its own: its answer puts it right.
  const awaits = requestOf(lane, known.id)?.status === 'pending';
  const same = isNameless(r, known.amount) && known.currency === r.currency;
  if (!same || awaits || known.status !== 'succeeded' || known.askedAs !== null) return;
  const own = lane.refunds.filter((x) => x.paymentRowId === r.paymentRowId);
  const isHeld = own.some((x) => x.processorRefundId === a.processorRefundId);
  moveRefund(r, 'joined');
  known.morRefundId ??= a.morRefundId;
  if (!isHeld) known.processorRefundId ??= a.processorRefundId;
  known.reason ??= r.reason;
  Object.assign(known, { origin: 'api', askedAs: r.id, askedOf: r.askedOf });
  lane.say('decision', `${r.id} is refund ${known.morRefundId}, which was known already: they are one`, known);
}

/**
 * A refused first try gave nothing back, and its amount is free again; the refusal of a repeat says less. But if the MoR knows no such
 * payment (Document 3, 404 `payment_not_found`), no try under this name moved money. It must be a name from a person: of its own name the
 * MoR contradicts itself, and proves nothing.
 */
function takeRefusal(lane: Lane, r: Refund, m: OutboxRow, f: CallFailure): void {
  // Without a status: the caller was told to wait, and an item tells the end.
  const failure = { status: r.status === 'requested' ? f.status : null, code: f.code, message: f.message };
  const p = lane.findPayment(r.paymentRowId);
  const isMissing = f.code === 'payment_not_found';
  const isUnknownName = isMissing && (p === undefined || ownIdOf(p) === null);
  // 409: its key is in use, or was used before. A crash may have lost the record of a try: nothing is free.
  // Nor after a late refusal: a try before it may have moved money.
  const isFirstTry = r.status === 'requested' && !mayBeCutOff(m, lane.ctx);
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
  const nothingMade = m.attempts === 1 && !mayBeCutOff(m, lane.ctx);
  const name = other === null ? 'a refund' : `refund ${other}`;
  const message = `${f.message} (${name} of the same amount, made elsewhere, stands in its place)`;
  // The caller reads the refusal under the same key, unless an earlier try may have moved money.
  if (nothingMade) r.failure = { status: f.status, code: f.code, message };
  const amount = { minor: r.amount, currency: r.currency };
  const refusal = { status: f.status, error: f.code, said: said(f) };
  const fact = { code: 'request-refused', refund: r.id, amount, other, nothingMade, ...refusal } as const;
  lane.ask({ kind: 'refund_gap', subject: `${r.id}:refused`, paymentRowId: r.paymentRowId, refundId: r.id, fact });
}

/** The request of a refund of ours: one, however often it is sent. */
function requestOf<M extends OutboxRow>(
  { messages }: { readonly messages: readonly M[] },
  refundId: string,
): M | undefined {
  return messages.find((m) => m.kind === 'create_refund' && m.subject === refundId);
}

/** Our code on a withdrawn request. */
const KEY_TOO_OLD = 'key_too_old';

/**
 * A request without an end is not repeated once the MoR may have forgotten its key: money could go back a second time. Its event still
 * settles it, or a person does. The age of the key counts from the request, or from a person's last `retry`, and never from a try: a lost
 * process or database may have known of an earlier one with money.
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
  { 'refund-waits': whyOver, 'refund-failed': 'the refund succeeded' },
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

function whyOver({ refunds }: LaneRows, { subject }: ReviewRow): string {
  const status = refunds.find((r) => r.id === subject)?.status;
  if (status === 'joined') return 'it is a refund that was known already';
  return status === 'succeeded' || status === 'failed' ? `the refund ${status}` : 'the request is sent again';
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
  lane.apply((s, ctx) => sendAgain(s, (x) => x.id === m?.id, ctx));
  return null;
};

const ANSWERED =
  'The MoR has answered this request, so it is not sent again. Ask the MoR for the end of the refund: if it failed, apply with a note.';

const TOLD_BY_PERSON = 'told_by_person';

/**
 * A person heard from the MoR of a failed refund (Document 3 has no event for it): its amount is free again. Only after the last try, and
 * with a name of the speaker: if the MoR made the refund after all, the next one gives the money back twice.
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
