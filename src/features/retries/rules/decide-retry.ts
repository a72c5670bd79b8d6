// Decides what comes after a refusal: another charge, a payment link, a wait, or nothing more.
import { type Ctx } from '../../../engine/context.js';
import {
  type Means,
  type ConfirmedMethod,
  type RetryEnd,
  untriedMethod,
  type RetryOffer,
  type RetryHistory,
} from '../../../shared/domain/retry.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import {
  type MorObjectRow,
  isPayableLink,
  isLiveProforma,
  verdictBy,
  endOfLink,
} from '../../../shared/domain/mor-object.js';
import { isUnread, moneyAnnounced } from '../../../core/books/rules/open-money.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { mayBringMoney } from '../../../core/books/rules/payment-state.js';
import { awaitsRetry } from '../../../core/books/rules/awaited-verdict.js';
import { showTime } from '../../../shared/domain/show-time.js';
import { known } from '../../../shared/domain/sentence.js';
import { RETRY_ASKED_AFTER_MS } from './limits.js';
import { pollOpenAt } from '../../../core/books/rules/invoice-facts.js';

/** The time and the settings of a decision. A lane has both. */
export type Moment = Pick<Ctx, 'now' | 'settings'>;

/** The next step, and its due time (`at`). `rest`: no step. Before every other step Crossbill reads the invoice. */
export type Next =
  | { readonly do: 'idle' }
  /** `method`: the confirmed payment method behind the retry. Absent: a step of the schedule. */
  | { readonly do: 'retry'; readonly means: Means; readonly at: Date; readonly method?: ConfirmedMethod }
  | { readonly do: 'end'; readonly how: RetryEnd; readonly at: Date };

const IDLE: Next = { do: 'idle' };

/** Decides the next step: a try of a new payment method at once or, without a new method, the schedule's step. */
export function decideNext(lane: LaneRows, ctx: Moment): Next {
  const { retrySchedule: schedule } = ctx.settings;
  const i = lane.invoice;
  const history = i?.retries ?? null;
  // The MoR gets no request that Crossbill does not send, so a retry would get no verdict.
  if (i === null || history === null || ctx.settings.sendsNothing === true) return IDLE;
  if (history.waitingSince !== null || lane.reviews.some((r) => r.status === 'open')) return IDLE;
  const method = untriedMethod(i);
  if (method !== null) return decideWithMethod(lane, i, method, ctx);
  if (schedule === null || history.ended !== null || findObstacle(lane, ctx) !== null || hasUnreadLink(lane))
    return IDLE;
  const since = findLastTime(lane, history);
  const step = schedule[history.refusal.kind][countSteps(lane, history)];
  const means = step === undefined ? null : chooseMeans(step.do, i, ctx);
  if (step === undefined || means === null) return { do: 'end', how: schedule.end, at: waitForOpen(i, since, ctx) };
  const at =
    step.do === 'link' ? since : new Date(Math.min(since.getTime() + step.afterMs, parseAskedAt(history, since)));
  return { do: 'retry', means, at: means === 'link' ? waitForOpen(i, at, ctx) : at };
}

/**
 * Charges the new payment method, without regard to the last refusal and the schedule's wait. If no charge is possible,
 * makes a payment link. The customer gave the method for a charge. So a payable link is no obstacle, if a new read
 * shows the link as unpaid.
 */
function decideWithMethod(lane: LaneRows, invoice: InvoiceRow, method: ConfirmedMethod, ctx: Moment): Next {
  const means = chooseMeans('charge', invoice, ctx);
  if (means === null || findMethodObstacle(lane, ctx) !== null) return IDLE;
  const isUnsure = (object: MorObjectRow): boolean =>
    isPayableLink(object, ctx.now) ? !isSeenUnpaid(object, ctx) : isUnread(lane, object);
  if (lane.objects.some((o) => o.kind === 'payment_link' && isUnsure(o))) return IDLE;
  const at = new Date(method.at);
  return { do: 'retry', means, at: means === 'link' ? waitForOpen(invoice, at, ctx) : at, method };
}

/** Why Crossbill may not try a new payment method now, as a sentence for a person. Null if Crossbill may. */
export function findMethodObstacle(lane: LaneRows, ctx: Moment): string | null {
  return findObstacle(lane, ctx, lane.invoice !== null && chooseMeans('charge', lane.invoice, ctx) === 'charge');
}

/** True if Crossbill has read the link since `applyMethod` requested a read: the MoR replied, and no read is due. */
function isSeenUnpaid(object: MorObjectRow, ctx: Moment): boolean {
  const isDue = object.readDueAt !== null && object.readDueAt.getTime() <= ctx.now.getTime();
  return object.morId !== null && object.detail.silent === undefined && !isDue;
}

/**
 * Why Crossbill may not try again now, as a sentence for a person. Null if Crossbill may.
 * @param besideLink true: a payable link is no obstacle
 */
export function findObstacle(lane: LaneRows, ctx: Moment, besideLink = false): string | null {
  const i = lane.invoice;
  const status = i?.platformStatus ?? 'unknown';
  if (status === 'paid') return 'the invoice is paid.';
  if (status === 'void' || status === 'deleted') return `the invoice is ${status}.`;
  if (status === 'uncollectible')
    return 'the invoice is marked uncollectible on Stripe. Make a payment link if the customer wants to pay it.';
  if (i?.billingReason === SIGNUP_REASON) return 'it is the first invoice of a subscription: the signup pays it.';
  const taken = lane.payments.find(mayBringMoney);
  if (taken !== undefined)
    return taken.succeededAt === null
      ? `payment ${taken.paymentId ?? taken.id} has not failed, so its money may still arrive.`
      : `the MoR already took money for it (payment ${taken.paymentId ?? taken.id}).`;
  if (lane.refunds.length > 0)
    return 'money was given back for it, so some was taken. Find that payment before you charge again.';
  if (i === null) return UNNOTIFIED;
  const history = i.retries;
  const early = history === null ? findWhyEarly(lane, i, ctx) : null;
  if (early !== null) return early;
  if (i.amountRemaining !== null && i.amountRemaining <= 0n) return 'nothing is due on it.';
  const sending = lane.calls.find((m) => m.kind === 'retry_charge' && m.status === 'pending');
  if (sending !== undefined) return `retry ${sending.generation} is on its way to the MoR.`;
  if (awaitsRetry(lane) && i.expectedBy !== null && i.expectedBy.getTime() > ctx.now.getTime())
    return `the MoR may be charging it. Crossbill has waited for the answer since ${history === null || history.waitingSince === null ? 'an unknown time' : showTime(new Date(history.waitingSince))} and expects it by ${showTime(i.expectedBy)}.`;
  const link = lane.objects.find((o) => isPayableLink(o, ctx.now));
  if (link !== undefined && !besideLink)
    return `a payment link can be paid until ${link.deadline === null ? 'later' : showTime(link.deadline)}. Another charge could take the money twice.`;
  const announced = moneyAnnounced(lane);
  if (announced !== null) return `${announced}.`;
  if (lane.objects.some(isLiveProforma))
    return "a proforma invoice for it is open: the customer can pay it. To charge instead, cancel it in the MoR's portal.";
  if (chooseMeans('charge', i, ctx) === null)
    return ctx.settings.relay !== null
      ? 'a part of it is paid, and the MoR charges whole invoices only. For a payment link, set RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL.'
      : 'no way is set up. For charges, set MOR_RELAY_URL. For payment links, set RECOVERY_LINK_JURISDICTION and RECOVERY_LINK_RETURN_URL.';
  return null;
}

const UNNOTIFIED = 'the MoR has reported no failed charge of it.';

/** Why the MoR may still charge a renewal that it has not reported on. Null: its verdict is overdue. */
function findWhyEarly(lane: LaneRows, invoice: InvoiceRow, ctx: Moment): string | null {
  if (invoice.platformStatus !== 'open') return 'it is not final yet, and the MoR has reported no failed charge of it.';
  if (invoice.expectedBy === null) return UNNOTIFIED;
  const by = verdictBy(invoice, lane.objects);
  if (by !== null && by.getTime() > ctx.now.getTime())
    return `the MoR may be charging it. Crossbill expects its first answer by ${showTime(by)}.`;
  if (invoice.paysByDebit === null && invoice.customerId !== null)
    return 'Crossbill is finding out whether the customer pays by bank debit.';
  return chooseMeans('charge', invoice, ctx) === 'charge'
    ? null
    : 'the MoR has reported no failed charge of it, and Crossbill cannot ask for one: it needs MOR_RELAY_URL and an invoice without a part payment. Make a payment link instead.';
}

const NO_STEPS = { soft: [], hard: [], authentication: [] };

/** The retry that a person may make now, or the reason against it. */
export function offerRetry(lane: LaneRows, ctx: Moment): RetryOffer {
  const why = findObstacle(lane, ctx);
  if (why !== null) return { means: null, why };
  const means = decideMeans(lane, ctx);
  return means === null ? { means, why: 'neither a charge nor a payment link is possible.' } : { means, why: null };
}

/** Chooses a charge or a link for a person's retry: the means of the schedule's next step, without the step's wait. */
export function decideMeans(lane: LaneRows, ctx: Moment): Means | null {
  const i = lane.invoice;
  const history = i?.retries ?? null;
  if (i === null) return null;
  if (history === null) return chooseMeans('charge', i, ctx);
  const { soft, hard, authentication } = ctx.settings.retrySchedule ?? NO_STEPS;
  const step = known({ soft, hard, authentication }, history.refusal.kind)?.[countSteps(lane, history)];
  return chooseMeans(step?.do ?? (history.refusal.kind === 'soft' ? 'charge' : 'link'), i, ctx);
}

/**
 * Returns the wanted means: a charge or a payment link. If the wanted means is impossible, returns the other means.
 * Null: both are impossible. The MoR always charges the whole `amount_due`, so a charge of a partly paid invoice is
 * impossible.
 */
function chooseMeans(wanted: Means, invoice: InvoiceRow, ctx: Moment): Means | null {
  const charge =
    ctx.settings.relay !== null && (invoice.amountRemaining === null || invoice.amountRemaining === invoice.amountDue);
  const link = ctx.settings.recoveryLinks !== null;
  if (wanted === 'charge' ? charge : !link && charge) return 'charge';
  return link ? 'link' : null;
}

/** The number of finished steps for this kind of refusal. Withdrawn steps and replaced links do not count. */
function countSteps(lane: LaneRows, history: RetryHistory): number {
  const replaced = (ref: string): boolean => lane.objects.some((o) => o.id === ref && o.status === 'REPLACED');
  return history.retries.filter((r) => r.kind === history.refusal.kind && !r.withdrawn && !replaced(r.ref)).length;
}

/**
 * The start of the pause before the next step: the latest of the refusal, the last charge and the end of the last
 * payment link.
 */
function findLastTime(lane: LaneRows, history: RetryHistory): Date {
  const links = lane.objects.filter(
    (o) => o.kind === 'payment_link' && o.status !== 'REFUSED' && o.status !== 'REPLACED',
  );
  const made = history.retries.filter((r) => !r.withdrawn && r.means === 'charge');
  return new Date(
    Math.max(
      Date.parse(history.refusal.heardAt),
      ...made.map((r) => Date.parse(r.at)),
      ...links.map((o) => endOfLink(o).getTime()),
    ),
  );
}

const hasUnreadLink = (lane: LaneRows): boolean =>
  lane.objects.some((o) => o.kind === 'payment_link' && isUnread(lane, o));

/** When Stripe asked for another try, in Unix milliseconds. Infinity: not at all, or too soon after `since`. */
function parseAskedAt(history: RetryHistory, since: Date): number {
  const at = history.askedAt === null ? NaN : Date.parse(history.askedAt);
  return at - since.getTime() >= RETRY_ASKED_AFTER_MS ? at : Infinity;
}

/**
 * The earliest time for a payment link or a write-off. Both need a finalized invoice, so both wait while it is a draft.
 */
function waitForOpen(invoice: InvoiceRow, at: Date, ctx: Moment): Date {
  const poll = invoice.platformStatus === 'draft' ? pollOpenAt(invoice, ctx) : null;
  return poll === null || poll.getTime() < at.getTime() ? at : poll;
}
