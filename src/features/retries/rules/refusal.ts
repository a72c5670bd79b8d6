// A refused renewal. The invoice stores the refusals, Stripe's request for another try, and a new payment method.
import { type Lane } from '../../../engine/lane.js';
import { type PaymentEvent } from '../../../engine/event.js';
import { type Refusal, type RetryHistory, type Retry, type ConfirmedMethod } from '../../../shared/domain/retry.js';
import { findRefusalKind } from '../../../shared/domain/decline-kind.js';
import { CLOCKS_APART_MS } from './limits.js';
import { type Result } from '../../../engine/commanded.js';
import { isOutside, isOver } from '../../../shared/domain/status.js';
import { mayBringMoney } from '../../../core/books/rules/payment-state.js';
import { isPayableLink } from '../../../shared/domain/mor-object.js';
import { findMethodObstacle } from './decide-retry.js';

/**
 * Records a refusal. Several refusals may arrive in any order: the newest by the MoR's clock counts, as the verdict on
 * the last retry. But each retry makes a new payment at the MoR. If the refused payment is older than the last retry,
 * the refusal belongs to an earlier try. The debit of the last retry may then still be under way, so Crossbill must not
 * charge again (docs/retries.md, "What is proven").
 */
export function applyRefusal(lane: Lane, event: PaymentEvent): void {
  const i = lane.invoice;
  if (i === null) return;
  const outcome = event.type === 'payment.failed' ? 'failed' : 'requires_action';
  const refusal: Refusal = {
    at: event.at.toISOString(),
    heardAt: lane.now.toISOString(),
    eventId: event.eventId,
    outcome,
    kind: findRefusalKind(outcome, event.declineCode),
    code: event.declineCode,
  };
  const history = i.retries;
  if (history === null) {
    i.retries = { refusal, retries: [], waitingSince: null, askedAt: null, ended: null };
    return;
  }
  if (refusal.at < history.refusal.at || isOfEarlierTry(lane, history, event)) return;
  const newest = isLater(refusal, history.refusal);
  i.retries = { ...history, waitingSince: null, ...(newest && { refusal, askedAt: null }) };
}

/**
 * True if the refusal belongs to a try before the last charge. There are two cases. Either Crossbill recorded the
 * refused payment before the last charge. Or the MoR refused well before the last charge, and an earlier charge still
 * has no verdict. Without such an earlier charge, the refusal is the verdict on the last charge, even if the refusal is
 * older: after a restored backup Crossbill requests the same retry again.
 */
function isOfEarlierTry(lane: Lane, history: RetryHistory, event: PaymentEvent): boolean {
  const charge = history.retries.findLast((r) => r.means === 'charge' && !r.withdrawn);
  if (charge === undefined) return false;
  const orderedAt = Date.parse(charge.at);
  const p = lane.payments.find((x) => x.paymentId === event.paymentId);
  if (p !== undefined && p.recordedAt.getTime() < orderedAt) return true;
  const hasNoReply = (retry: Retry): boolean =>
    retry.means === 'charge' && !retry.withdrawn && retry.at > history.refusal.at;
  return (
    orderedAt - event.at.getTime() >= CLOCKS_APART_MS && history.retries.some((r) => r !== charge && hasNoReply(r))
  );
}

/**
 * Two refusals can happen in the same second. Then `failed` counts as the later one. If both outcomes are the same, the
 * greater event id counts as later. So the order of arrival does not matter.
 */
function isLater(one: Refusal, other: Refusal): boolean {
  if (one.at !== other.at) return one.at > other.at;
  if (one.outcome !== other.outcome) return one.outcome === 'failed';
  return one.eventId > other.eventId;
}

/**
 * Records the customer's new payment method on the invoice. A repeated or older report changes nothing. An invoice
 * still without a verdict also gets the new method: if the MoR then refuses, the refusal is about the old method. If
 * the customer can still pay a link, Crossbill reads the link before the charge.
 */
export function applyMethod(lane: Lane, method: ConfirmedMethod): Result<{ readonly id: string }> {
  const i = lane.invoice;
  const taken = { ok: true, value: { id: method.id } } as const;
  if (i === null || isOutside(lane) || isOver(i.platformStatus) || (i.method !== null && i.method.at >= method.at))
    return taken;
  if (lane.payments.some(mayBringMoney)) return taken;
  for (const o of lane.objects) if (isPayableLink(o, lane.now) && o.morId !== null) o.readDueAt = lane.now;
  const who = method.by === null ? 'a charge succeeded' : `${method.by} reported it`;
  const why = findMethodObstacle(lane, lane);
  const text = `another payment method of the customer is confirmed: ${who}${why === null ? '' : `; Crossbill does not try it now: ${why}`}`;
  lane.log(method.by === null ? 'decision' : 'person', text, method.id);
  i.method = method;
  return taken;
}
