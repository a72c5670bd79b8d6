// The alarm when no verdict of the MoR came: by when one is expected, and the item when it did not come.
import { type FactOf } from '../../domain/fact.js';
import { type InvoiceRow, type LaneRows, type LaneState } from '../../domain/model.js';
import { isLiveProforma, isStandingLink, type MorObjectRow, TRANSFERRED, dueDate } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, putInvoice } from '../../engine/change.js';
import { standingOf } from '../../enrolment/rules/enrolment.js';
import { DAY_MS, HOUR_MS } from '../../policy.js';
import { type Lane, type LookAgain } from '../../engine/draft.js';
import { type Lookup } from '../../engine/lookup.js';
import { isOver, SIGNUP_REASON } from '../../domain/status.js';
import { awaitsRetry, saysNothing } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { showTime } from '../../domain/show-time.js';

/**
 * Anything but the signup's invoice, with something due, is expected to be paid through the MoR, if its customer is enrolled. What a
 * person wrote and sent to be paid (a manual invoice by mail, a cheque) the customer pays in their own time: nobody is late.
 */
export function expectVerdict(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.expectedBy !== null) return s;
  if (i.platformStatus === 'unknown' || i.billingReason === SIGNUP_REASON) return s;
  if (i.amountDue === null || i.amountDue <= 0n || standingOf(s, ctx) !== 'enrolled') return s;
  if (i.billingReason === 'manual' && i.collectionMethod === 'send_invoice') return s;
  const by = i.firstSeenAt.getTime() + ctx.settings.renewalAlarmAfterHours * HOUR_MS;
  return putInvoice(s, { ...i, expectedBy: new Date(by) });
}

export function watchRenewal(s: LaneState, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const i = s.invoice;
  if (i === null || i.expectedBy === null) return s;
  if (hasVerdict(s)) {
    const unpaid = unpaidProforma(s, i, ctx, lookAgain);
    if (unpaid !== null) return openReview(s, ctx, { kind: 'renewal_overdue', subject: i.invoiceId, fact: unpaid });
    return closeReviews(s, ctx, (r) => r.kind === 'renewal_overdue', {
      by: null,
      resolution: 'cleared',
      note: 'the verdict came',
    });
  }
  if (mustAskDebit(s, ctx)) return s;
  const by = verdictBy(i, s.objects);
  if (by === null || by.getTime() > ctx.now.getTime()) {
    lookAgain(by);
    const note = `the customer may pay until ${by === null ? 'later' : showTime(by)}`;
    return closeReviews(s, ctx, (r) => r.kind === 'renewal_overdue', { by: null, resolution: 'cleared', note });
  }
  const p = s.payments.findLast(saysNothing);
  return openReview(s, ctx, {
    kind: 'renewal_overdue',
    subject: i.invoiceId,
    fact: {
      code: 'no-verdict',
      due: i.amountDue === null || i.currency === null ? null : { minor: i.amountDue, currency: i.currency },
      since: askedSince(s, i),
      letGo: p === undefined ? null : { payment: effectName(p), charge: p.processorChargeId },
    },
  });
}

/**
 * The MoR refused the renewal, and a proforma invoice that was not paid in its time stands for it: nothing else is tried beside that
 * (retries/rules/refusal.ts). Null: there is none, or its time is not over.
 */
function unpaidProforma(
  s: LaneState,
  i: InvoiceRow,
  ctx: Ctx,
  lookAgain: LookAgain,
): FactOf<'transfer-overdue'> | null {
  const o = s.objects.find((x) => isLiveProforma(x) && x.morId !== null && !TRANSFERRED.has(x.status));
  if (o === undefined || isOver(i.platformStatus) || i.amountDue === 0n || s.payments.some((p) => p.mark !== 'none'))
    return null;
  const by = verdictBy(i, s.objects);
  if (by === null || by.getTime() > ctx.now.getTime()) {
    lookAgain(by);
    return null;
  }
  return { code: 'transfer-overdue', proforma: o.number ?? o.morId ?? o.id, dueAt: dueDate(o).toISOString() };
}

/** Since when a verdict is awaited: the invoice was seen first, or the MoR was asked to charge it again. */
function askedSince(s: LaneRows, i: InvoiceRow): string {
  const since = awaitsRetry(s) ? (i.retries?.waitingSince ?? null) : null;
  return since ?? i.firstSeenAt.toISOString();
}

/** The verdict is late: does its customer pay by bank debit, which takes days? */
export const debitLookup: Lookup<string, boolean> = {
  name: 'ask-debit',
  wanted: (lane) => (mustAskDebit(lane, lane) ? (lane.invoice?.customerId ?? null) : null),
  ask: (customerId, { signups }) => signups.paysByDebit(customerId),
  take: takeDebit,
};

/** A debit takes days, and the MoR tells of none that is on its way: the alarm is set for when it should have come. */
function takeDebit(lane: Lane, paysByDebit: boolean): void {
  const i = lane.invoice;
  if (i === null || i.expectedBy === null || i.paysByDebit !== null) return;
  i.paysByDebit = paysByDebit;
  if (!paysByDebit) return;
  const since = Date.parse(askedSince(lane, i));
  const by = new Date(Math.max(i.expectedBy.getTime(), since + lane.settings.bankDebitAlarmAfterDays * DAY_MS));
  i.expectedBy = by;
  lane.say('decision', `this customer pays by bank debit: a verdict is expected by ${showTime(by)}`);
}

/** True when nothing more is expected of the MoR for this invoice: it has answered the last try, or the invoice is settled without it. */
export function hasVerdict(s: LaneRows): boolean {
  const i = s.invoice;
  const told = s.payments.some((p) => !saysNothing(p));
  return (told && !awaitsRetry(s)) || (i !== null && (isOver(i.platformStatus) || i.amountDue === 0n));
}

/**
 * Until when the invoice may go without a word of the MoR; null: none is expected. A proforma invoice or a link that stands gives
 * the customer time of its own.
 */
export function verdictBy(i: InvoiceRow, objects: readonly MorObjectRow[]): Date | null {
  if (i.expectedBy === null) return null;
  const until = objects.flatMap((o) => {
    if (isLiveProforma(o)) return dueDate(o).getTime();
    return isStandingLink(o) ? (o.deadline?.getTime() ?? []) : [];
  });
  return new Date(Math.max(i.expectedBy.getTime(), ...until));
}

/** The verdict is late, and whether the customer pays by bank debit was not looked up yet. */
export function mustAskDebit(s: LaneRows, ctx: Pick<Ctx, 'now'>): boolean {
  const i = s.invoice;
  if (i === null || i.customerId === null || i.paysByDebit !== null || hasVerdict(s)) return false;
  const by = verdictBy(i, s.objects);
  return by !== null && by.getTime() <= ctx.now.getTime();
}
