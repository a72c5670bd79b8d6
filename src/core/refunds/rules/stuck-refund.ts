// The items for a refund without a result, or with a late failure, and what a person may choose.
import { itemRule } from '../../../engine/items.js';
import { requestOf, isRenamed, type Refund } from './refund.js';
import { said } from '../../../shared/domain/ports/call.js';
import { REFUND_TIMEOUT_DAYS, DAY_MS, REFUND_REMINDER_DAYS, REPLY_TIMEOUT_MS } from '../../../shared/policy.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type RefundRow, moveRefund } from '../../../shared/domain/refund-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { isSameFact } from '../../../shared/domain/fact.js';
import { KEY_TOO_OLD, RENAMED } from './refund-call.js';
import { type ChoiceRule, refuse, type Choice, type Refusal } from '../../../engine/commanded.js';

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
