// What follows a refused renewal: a retry, now or later, the end of the schedule, or nothing by itself. It asks no one.
import { type InvoiceRow, type LaneState } from '../../domain/model.js';
import { isLiveProforma, isPayableLink, type MorObjectRow, endOfLink } from '../../domain/mor-object.js';
import {
  type ConfirmedMethod,
  type RetryEnd,
  type RetryStep,
  type RetryTrail,
  untriedMethod,
} from '../../domain/retry.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import { type Ctx } from '../../engine/change.js';
import { moneyAnnounced } from '../../engine/open-money.js';
import { isUnread, openLook } from '../../links/rules/recovery.js';
import { RETRY_ASKED_AFTER_MS } from '../../policy.js';
import { awaitsRetry } from '../../engine/payment.js';
import { showTime } from '../../domain/show-time.js';

export type Means = RetryStep['do'];

/** `at`: since when, or from when on. For everything but `rest` the invoice is read before anything is done. */
export type Next =
  | { readonly do: 'rest' }
  /** `method`: the confirmed payment method that it is made for; left out: a step of the schedule. */
  | { readonly do: 'retry'; readonly means: Means; readonly at: Date; readonly method?: ConfirmedMethod }
  | { readonly do: 'end'; readonly how: RetryEnd; readonly at: Date };

const REST: Next = { do: 'rest' };

/** What Crossbill does next of its own accord: another payment method is tried at once, then the schedule counts. */
export function nextOf(s: LaneState, ctx: Ctx): Next {
  const { retrySchedule: schedule } = ctx.settings;
  const i = s.invoice;
  const trail = i?.retries ?? null;
  // In shadow mode nobody is asked, so no retry could be answered.
  if (i === null || trail === null || ctx.settings.shadow === true) return REST;
  if (trail.waitingSince !== null || s.reviews.some((r) => r.status === 'open')) return REST;
  const method = untriedMethod(i);
  if (method !== null) return withMethod(s, i, method, ctx);
  if (schedule === null || trail.ended !== null || obstacle(s, ctx) !== null || hasUnreadLink(s)) return REST;
  const since = lastTime(s, trail);
  const step = schedule[trail.refusal.kind][madeOf(s, trail)];
  const means = step === undefined ? null : meansFor(step.do, i, ctx);
  if (step === undefined || means === null) return { do: 'end', how: schedule.end, at: whenOpen(i, since, ctx) };
  const at = step.do === 'link' ? since : new Date(Math.min(since.getTime() + step.afterMs, askedAt(trail, since)));
  return { do: 'retry', means, at: means === 'link' ? whenOpen(i, at, ctx) : at };
}

/**
 * Whatever the decline and the schedule say: a charge, and a payment link only where none can be made. The customer gave the method to be
 * charged, so a payment link that can be paid does not stand in the way once a read shows it unpaid.
 */
function withMethod(s: LaneState, i: InvoiceRow, method: ConfirmedMethod, ctx: Ctx): Next {
  const means = meansFor('charge', i, ctx);
  if (means === null || methodObstacle(s, ctx) !== null) return REST;
  const isUnsure = (o: MorObjectRow): boolean => (isPayableLink(o, ctx.now) ? !isSeenUnpaid(o, ctx) : isUnread(s, o));
  if (s.objects.some((o) => o.kind === 'payment_link' && isUnsure(o))) return REST;
  const at = new Date(method.at);
  return { do: 'retry', means, at: means === 'link' ? whenOpen(i, at, ctx) : at, method };
}

/** Why a confirmed payment method is not tried now, as a person is told; null: nothing stands in its way. */
export function methodObstacle(s: LaneState, ctx: Ctx): string | null {
  return obstacle(s, ctx, s.invoice !== null && meansFor('charge', s.invoice, ctx) === 'charge');
}

/** Its last read was answered and no read is due: `takeMethod` asked for one. */
function isSeenUnpaid(o: MorObjectRow, ctx: Ctx): boolean {
  const isDue = o.readDueAt !== null && o.readDueAt.getTime() <= ctx.now.getTime();
  return o.morId !== null && o.detail.silentSince === undefined && !isDue;
}

/**
 * Why the renewal cannot be tried again now, as a person is told; null: it can.
 * @param besideLink true: a payment link that can be paid is no reason
 */
export function obstacle(s: LaneState, ctx: Ctx, besideLink = false): string | null {
  const i = s.invoice;
  const status = i?.platformStatus ?? 'unknown';
  if (status === 'paid') return 'the invoice is paid.';
  if (status === 'void' || status === 'deleted') return `the invoice is ${status}.`;
  if (status === 'uncollectible')
    return 'the invoice is marked uncollectible on Stripe. Make a payment link if the customer wants to pay it.';
  if (i?.billingReason === SIGNUP_REASON)
    return 'it is the first invoice of a subscription, which is paid by its signup.';
  const taken = s.payments.find((p) => p.mark !== 'none');
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
  if (meansFor('charge', i, ctx) === null)
    return ctx.settings.relay
      ? 'a part of it is paid, and the MoR charges whole invoices; for a payment link RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL are needed.'
      : 'no way is set up: MOR_RELAY_URL lets the MoR charge again, RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL allow payment links.';
  return null;
}

/** How a person's retry is made: as the schedule would do it next, or would have done without its waits. */
export function meansNow(s: LaneState, ctx: Ctx): Means | null {
  const i = s.invoice;
  const trail = i?.retries ?? null;
  if (i === null || trail === null) return null;
  const step = ctx.settings.retrySchedule?.[trail.refusal.kind][madeOf(s, trail)];
  return meansFor(step?.do ?? (trail.refusal.kind === 'soft' ? 'charge' : 'link'), i, ctx);
}

/** The other means where the wanted one is not there; null: neither is. The MoR charges what `amount_due` says, so never a rest. */
function meansFor(wanted: Means, i: InvoiceRow, ctx: Ctx): Means | null {
  const charge = ctx.settings.relay && (i.amountRemaining === null || i.amountRemaining === i.amountDue);
  const link = ctx.settings.recoveryLinks !== null;
  if (wanted === 'charge' ? charge : !link && charge) return 'charge';
  return link ? 'link' : null;
}

/** Steps of the schedule that were carried out for this kind of refusal. A link that was replaced by another does not count. */
function madeOf(s: LaneState, trail: RetryTrail): number {
  const replaced = (ref: string): boolean => s.objects.some((o) => o.id === ref && o.status === 'REPLACED');
  return trail.retries.filter((r) => r.kind === trail.refusal.kind && !r.withdrawn && !replaced(r.ref)).length;
}

/** The last thing that happened: the refusal, a retry of which no verdict is awaited any more, or the end of a link. */
function lastTime(s: LaneState, trail: RetryTrail): Date {
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

const hasUnreadLink = (s: LaneState): boolean => s.objects.some((o) => o.kind === 'payment_link' && isUnread(s, o));

/** When Stripe asked for another attempt, of its own schedule; Infinity: it did not since. */
function askedAt(trail: RetryTrail, since: Date): number {
  const at = trail.askedAt === null ? NaN : Date.parse(trail.askedAt);
  return at - since.getTime() >= RETRY_ASKED_AFTER_MS ? at : Infinity;
}

/** A link is made of a final invoice, and only such a one can be written off: a draft is waited for. */
function whenOpen(i: InvoiceRow, at: Date, ctx: Ctx): Date {
  const look = i.platformStatus === 'draft' ? openLook(i, ctx) : null;
  return look === null || look.getTime() < at.getTime() ? at : look;
}
