// A refused renewal: what its invoice remembers (refusals, Stripe's own request, another payment method), and the next step.
import { findRefusalKind } from '../../domain/decline-kind.js';
import { type InvoiceRow, type LaneRows } from '../../domain/model.js';
import { endOfLink, isLiveProforma, isPayableLink, type MorObjectRow } from '../../domain/mor-object.js';
import {
  type ConfirmedMethod,
  type Refusal,
  type Retry,
  type RetryEnd,
  type RetryStep,
  type RetryTrail,
  untriedMethod,
} from '../../domain/retry.js';
import { showTime } from '../../domain/show-time.js';
import { isOutside, isOver, SIGNUP_REASON } from '../../domain/status.js';
import { type Ctx } from '../../engine/context.js';
import { type Result } from '../../engine/commanded.js';
import { type Lane } from '../../engine/draft.js';
import { type PaymentEvent } from '../../engine/event.js';
import { awaitsRetry, mayBringMoney } from '../../engine/payment.js';
import { isUnread } from '../../engine/open-money.js';
import { moneyAnnounced } from '../../engine/open-money.js';
import { CLOCKS_APART_MS, RETRY_ASKED_AFTER_MS } from '../../policy.js';
import { openLook } from '../../engine/facts.js';

/**
 * The newest refusal counts, by the MoR's clock and in any order; it answers the retry in question. A payment known before the retry is an
 * earlier try and says nothing of the retry: the retry's own debit may still be on its way, and another charge would go out next to it.
 * Retries bring payments of their own (docs/retries.md, "What is proven").
 */
export function takeRefusal(lane: Lane, e: PaymentEvent): void {
  const i = lane.invoice;
  if (i === null) return;
  const outcome = e.type === 'payment.failed' ? 'failed' : 'requires_action';
  const refusal: Refusal = {
    at: e.at.toISOString(),
    heardAt: lane.now.toISOString(),
    eventId: e.eventId,
    outcome,
    kind: findRefusalKind(outcome, e.declineCode),
    code: e.declineCode,
  };
  const trail = i.retries;
  if (trail === null) {
    i.retries = { refusal, retries: [], waitingSince: null, askedAt: null, ended: null };
    return;
  }
  if (refusal.at < trail.refusal.at || isOfEarlierTry(lane, trail, e)) return;
  const newest = isLater(refusal, trail.refusal);
  i.retries = { ...trail, waitingSince: null, ...(newest && { refusal, askedAt: null }) };
}

/**
 * The payment is older than the last charge; or the MoR made it well before, while an earlier charge has no reply: a late delivery. Without
 * an earlier charge it is the reply: after a restored backup Crossbill orders a retry again, and the MoR has replied to the first order.
 */
function isOfEarlierTry(lane: Lane, trail: RetryTrail, e: PaymentEvent): boolean {
  const charge = trail.retries.findLast((r) => r.means === 'charge' && !r.withdrawn);
  if (charge === undefined) return false;
  const orderedAt = Date.parse(charge.at);
  const p = lane.payments.find((x) => x.paymentId === e.paymentId);
  if (p !== undefined && p.recordedAt.getTime() < orderedAt) return true;
  const hasNoReply = (r: Retry): boolean => r.means === 'charge' && !r.withdrawn && r.at > trail.refusal.at;
  return orderedAt - e.at.getTime() >= CLOCKS_APART_MS && trail.retries.some((r) => r !== charge && hasNoReply(r));
}

/** Within one second `failed` is the later one, as for the payment; then the ids decide, so the order of arrival does not count. */
function isLater(a: Refusal, b: Refusal): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.outcome !== b.outcome) return a.outcome === 'failed';
  return a.eventId > b.eventId;
}

/**
 * The customer has another payment method. The invoice takes it in once, however often it is named; also an invoice without a verdict keeps
 * it: a refusal on its way is about the method before. Crossbill reads a payment link before it charges next to the link.
 */
export function takeMethod(lane: Lane, method: ConfirmedMethod): Result<{ readonly id: string }> {
  const i = lane.invoice;
  const taken = { ok: true, value: { id: method.id } } as const;
  if (i === null || isOutside(lane) || isOver(i.platformStatus) || (i.method !== null && i.method.at >= method.at))
    return taken;
  if (lane.payments.some(mayBringMoney)) return taken;
  for (const o of lane.objects) if (isPayableLink(o, lane.now) && o.morId !== null) o.readDueAt = lane.now;
  const who = method.by === null ? 'a charge succeeded' : `${method.by} reported it`;
  const why = findMethodObstacle(lane, lane);
  const text = `another payment method of the customer is confirmed: ${who}${why === null ? '' : `. It is not tried now: ${why}`}`;
  lane.say(method.by === null ? 'decision' : 'person', text, method.id);
  i.method = method;
  return taken;
}

export type Means = RetryStep['do'];

/** The time and the settings: a lane has both. */
export type Moment = Pick<Ctx, 'now' | 'settings'>;

/** `at`: since when, or from when on. Crossbill reads the invoice before everything but `rest`. */
export type Next =
  | { readonly do: 'rest' }
  /** `method`: the confirmed payment method that it is made for; left out: a step of the schedule. */
  | { readonly do: 'retry'; readonly means: Means; readonly at: Date; readonly method?: ConfirmedMethod }
  | { readonly do: 'end'; readonly how: RetryEnd; readonly at: Date };

const REST: Next = { do: 'rest' };

/** The next step of Crossbill's own accord: another payment method at once, then the schedule. */
export function decideNext(s: LaneRows, ctx: Moment): Next {
  const { retrySchedule: schedule } = ctx.settings;
  const i = s.invoice;
  const trail = i?.retries ?? null;
  // In shadow mode Crossbill asks nobody, so no retry would get a reply.
  if (i === null || trail === null || ctx.settings.shadow === true) return REST;
  if (trail.waitingSince !== null || s.reviews.some((r) => r.status === 'open')) return REST;
  const method = untriedMethod(i);
  if (method !== null) return decideWithMethod(s, i, method, ctx);
  if (schedule === null || trail.ended !== null || findObstacle(s, ctx) !== null || hasUnreadLink(s)) return REST;
  const since = findLastTime(s, trail);
  const step = schedule[trail.refusal.kind][countSteps(s, trail)];
  const means = step === undefined ? null : chooseMeans(step.do, i, ctx);
  if (step === undefined || means === null) return { do: 'end', how: schedule.end, at: waitForOpen(i, since, ctx) };
  const at =
    step.do === 'link' ? since : new Date(Math.min(since.getTime() + step.afterMs, parseAskedAt(trail, since)));
  return { do: 'retry', means, at: means === 'link' ? waitForOpen(i, at, ctx) : at };
}

/**
 * A charge, whatever the decline and the schedule say, or a payment link if no charge is possible. The customer gave the method for a
 * charge: a payable link is no obstacle once a read shows it unpaid.
 */
function decideWithMethod(s: LaneRows, i: InvoiceRow, method: ConfirmedMethod, ctx: Moment): Next {
  const means = chooseMeans('charge', i, ctx);
  if (means === null || findMethodObstacle(s, ctx) !== null) return REST;
  const isUnsure = (o: MorObjectRow): boolean => (isPayableLink(o, ctx.now) ? !isSeenUnpaid(o, ctx) : isUnread(s, o));
  if (s.objects.some((o) => o.kind === 'payment_link' && isUnsure(o))) return REST;
  const at = new Date(method.at);
  return { do: 'retry', means, at: means === 'link' ? waitForOpen(i, at, ctx) : at, method };
}

/** The reason against a try with a confirmed payment method, for a person; null: there is none. */
export function findMethodObstacle(s: LaneRows, ctx: Moment): string | null {
  return findObstacle(s, ctx, s.invoice !== null && chooseMeans('charge', s.invoice, ctx) === 'charge');
}

/** Its last read got a reply and no read is due: `takeMethod` asked for a read. */
function isSeenUnpaid(o: MorObjectRow, ctx: Moment): boolean {
  const isDue = o.readDueAt !== null && o.readDueAt.getTime() <= ctx.now.getTime();
  return o.morId !== null && o.detail.silent === undefined && !isDue;
}

/**
 * The reason against another try of the renewal now, for a person; null: there is none.
 * @param besideLink true: a payable link is no reason
 */
export function findObstacle(s: LaneRows, ctx: Moment, besideLink = false): string | null {
  const i = s.invoice;
  const status = i?.platformStatus ?? 'unknown';
  if (status === 'paid') return 'the invoice is paid.';
  if (status === 'void' || status === 'deleted') return `the invoice is ${status}.`;
  if (status === 'uncollectible')
    return 'the invoice is marked uncollectible on Stripe. Make a payment link if the customer wants to pay it.';
  if (i?.billingReason === SIGNUP_REASON)
    return 'it is the first invoice of a subscription, which is paid by its signup.';
  const taken = s.payments.find(mayBringMoney);
  if (taken !== undefined)
    return taken.succeededAt === null
      ? `payment ${taken.paymentId ?? taken.id} has not failed: whether its money came is not known yet.`
      : `money was taken for it already (payment ${taken.paymentId ?? taken.id}).`;
  if (s.refunds.length > 0)
    return 'money was given back for it, so some was taken. Find out what before it is charged again.';
  const trail = i?.retries ?? null;
  if (i === null || trail === null) return 'no charge of it has failed, as far as the MoR has said.';
  if (i.amountRemaining !== null && i.amountRemaining <= 0n) return 'nothing is due on it.';
  const sending = s.messages.find((m) => m.kind === 'retry_charge' && m.status === 'pending');
  if (sending !== undefined) return `retry ${sending.generation} is on its way to the MoR.`;
  if (awaitsRetry(s) && i.expectedBy !== null && i.expectedBy.getTime() > ctx.now.getTime())
    return `the MoR may be charging it; its answer has been awaited since ${trail.waitingSince === null ? 'an unknown time' : showTime(new Date(trail.waitingSince))}, and is due by ${showTime(i.expectedBy)}.`;
  const link = s.objects.find((o) => isPayableLink(o, ctx.now));
  if (link !== undefined && !besideLink)
    return `a payment link can be paid until ${link.deadline === null ? 'later' : showTime(link.deadline)}: with a charge beside it the customer may pay twice.`;
  const announced = moneyAnnounced(s);
  if (announced !== null) return `${announced}.`;
  if (s.objects.some(isLiveProforma)) return 'a proforma invoice for it stands: the customer may pay that.';
  if (chooseMeans('charge', i, ctx) === null)
    return ctx.settings.relay
      ? 'a part of it is paid, and the MoR charges whole invoices; for a payment link RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL are needed.'
      : 'no way is set up: MOR_RELAY_URL lets the MoR charge again, RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL allow payment links.';
  return null;
}

/** The means of a person's retry: the schedule's next one, without its wait. */
export function decideMeans(s: LaneRows, ctx: Moment): Means | null {
  const i = s.invoice;
  const trail = i?.retries ?? null;
  if (i === null || trail === null) return null;
  const step = ctx.settings.retrySchedule?.[trail.refusal.kind][countSteps(s, trail)];
  return chooseMeans(step?.do ?? (trail.refusal.kind === 'soft' ? 'charge' : 'link'), i, ctx);
}

/** The other means in place of a missing one; null: both are missing. The MoR charges the whole `amount_due`, never a rest. */
function chooseMeans(wanted: Means, i: InvoiceRow, ctx: Moment): Means | null {
  const charge = ctx.settings.relay && (i.amountRemaining === null || i.amountRemaining === i.amountDue);
  const link = ctx.settings.recoveryLinks !== null;
  if (wanted === 'charge' ? charge : !link && charge) return 'charge';
  return link ? 'link' : null;
}

/** Steps of the schedule behind us for this kind of refusal. A replaced link does not count. */
function countSteps(s: LaneRows, trail: RetryTrail): number {
  const replaced = (ref: string): boolean => s.objects.some((o) => o.id === ref && o.status === 'REPLACED');
  return trail.retries.filter((r) => r.kind === trail.refusal.kind && !r.withdrawn && !replaced(r.ref)).length;
}

/** The newest of: the refusal, a charge, the end of a link. */
function findLastTime(s: LaneRows, trail: RetryTrail): Date {
  const links = s.objects.filter((o) => o.kind === 'payment_link' && o.status !== 'REFUSED' && o.status !== 'REPLACED');
  const made = trail.retries.filter((r) => !r.withdrawn && r.means === 'charge');
  return new Date(
    Math.max(
      Date.parse(trail.refusal.heardAt),
      ...made.map((r) => Date.parse(r.at)),
      ...links.map((o) => endOfLink(o).getTime()),
    ),
  );
}

const hasUnreadLink = (s: LaneRows): boolean => s.objects.some((o) => o.kind === 'payment_link' && isUnread(s, o));

/** When Stripe asked for another attempt, of its own schedule; Infinity: it did not since. */
function parseAskedAt(trail: RetryTrail, since: Date): number {
  const at = trail.askedAt === null ? NaN : Date.parse(trail.askedAt);
  return at - since.getTime() >= RETRY_ASKED_AFTER_MS ? at : Infinity;
}

/** A link needs a final invoice, and so does a write-off: a draft waits. */
function waitForOpen(i: InvoiceRow, at: Date, ctx: Moment): Date {
  const look = i.platformStatus === 'draft' ? openLook(i, ctx) : null;
  return look === null || look.getTime() < at.getTime() ? at : look;
}
