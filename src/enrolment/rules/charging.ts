// What Stripe would charge by itself for an invoice that the MoR charges: a person is told while there is time to stop it.
import { type Ctx, closeReviews, note, openReview, putInvoice, retryAt } from '../../engine/change.js';
import { carriedOut, type ErrandRule, type ReviewRule, type SettleRule } from '../../engine/subject.js';
import { type InvoiceRow, type LaneState } from '../../domain/model.js';
import { type ChargedMethod } from '../../domain/ports/billing-reader.js';
import { type CallOutcome, mayPass, said } from '../../domain/ports/call.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import {
  CHARGE_LOOK_AFTER_MS,
  CHARGE_LOOK_DRAFT_MS,
  CHARGE_LOOK_GOOD_MS,
  CHARGE_LOOK_OPEN_MS,
  CHARGE_LOOK_TRIES,
  FAILED_READS_SHOWN,
} from '../../policy.js';
import { standingOf } from './enrolment.js';

/**
 * Stripe collects it when it is final, or tries again (Stripe docs, "Collection methods", "Automatic advancement"). What is mailed
 * (`send_invoice`) or stands still (`auto_advance: false`) it does not charge.
 */
export function isCollected(i: InvoiceRow): boolean {
  return (
    (i.platformStatus === 'draft' || i.platformStatus === 'open') &&
    i.collectionMethod === 'charge_automatically' &&
    i.autoAdvance !== false &&
    i.billingReason !== SIGNUP_REASON &&
    (i.amountRemaining ?? 0n) > 0n
  );
}

/** A custom payment method is the merchant's own: Stripe cannot charge it, and looks for no other one behind it. */
export function isChargeable(method: ChargedMethod | null): method is ChargedMethod {
  return method !== null && method.type !== 'custom';
}

/** Before anything is looked at, and again while Stripe would charge. A look of a day ago says nothing of a card that was saved since. */
export const chargingErrand: ErrandRule = (s, ctx, due) => {
  const i = s.invoice;
  if (i === null || !isGuarded(s, i, ctx)) return null;
  const { customerId, subscriptionId, ownMethodId, charged } = i;
  const at = nextLook(i);
  if (customerId === null || (at === null ? !isNews(i, ctx) : !due(at))) return null;
  return { do: 'look-at-charging', of: { customerId, subscriptionId, ownMethodId }, fresh: isChargeable(charged) };
};

function isGuarded(s: LaneState, i: InvoiceRow, ctx: Ctx): boolean {
  return ctx.settings.guard === true && standingOf(s, ctx) === 'enrolled' && isCollected(i);
}

/** The time of a look that is waited for; null: none is. */
function nextLook({ lookDueAt, charged, chargeLookedAt, platformStatus, firstSeenAt }: InvoiceRow): Date | null {
  if (lookDueAt !== null) return lookDueAt;
  if (chargeLookedAt === null) return new Date(firstSeenAt.getTime() + CHARGE_LOOK_AFTER_MS);
  if (!isChargeable(charged)) return null;
  const pause = platformStatus === 'draft' ? CHARGE_LOOK_DRAFT_MS : CHARGE_LOOK_OPEN_MS;
  return new Date(chargeLookedAt.getTime() + pause);
}

/** The look has grown old, or another method stands on the invoice itself. */
function isNews({ chargeLookedAt, ownMethodId, charged }: InvoiceRow, ctx: Ctx): boolean {
  if (chargeLookedAt === null || ctx.now.getTime() - chargeLookedAt.getTime() >= CHARGE_LOOK_GOOD_MS) return true;
  return ownMethodId !== (charged?.from === 'invoice' ? charged.id : null);
}

export function applyCharged(s: LaneState, outcome: CallOutcome<ChargedMethod | null>, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null) return s;
  const looked = { chargeLookedAt: ctx.now, lookDueAt: null, lookAttempts: 0 };
  if (outcome.ok) return putInvoice(s, { ...i, ...looked, charged: outcome.value });
  const lookAttempts = i.lookAttempts + 1;
  const why = `what Stripe would charge by itself could not be read: ${said(outcome)}`;
  if (!mayPass(outcome) || lookAttempts >= CHARGE_LOOK_TRIES) {
    return note(
      putInvoice(s, { ...i, ...looked }),
      ctx,
      'call',
      `${why}; \`crossbill doctor\` says what the key lacks`,
    );
  }
  const later = putInvoice(s, { ...i, lookAttempts, lookDueAt: retryAt(ctx, lookAttempts, outcome.retryAfterMs) });
  return lookAttempts > FAILED_READS_SHOWN ? later : note(later, ctx, 'call', why);
}

/** The item stands as long as Stripe would charge, with the time at which it would as its deadline. */
export const watchCharging: SettleRule = (s, ctx) => {
  const i = s.invoice;
  if (i === null) return s;
  if (!isGuarded(s, i, ctx) || !isChargeable(i.charged)) {
    const note = isCollected(i) ? 'Stripe would not charge it by itself any more' : `the invoice is ${saidOf(i)}`;
    return closeReviews(s, ctx, (r) => r.kind === 'double_charge_risk', { by: null, resolution: 'cleared', note });
  }
  const { charged, customerId } = i;
  return openReview(s, ctx, {
    kind: 'double_charge_risk',
    subject: i.invoiceId,
    fact: {
      code: 'stripe-would-charge',
      invoice: i.invoiceId,
      customer: customerId,
      subscription: i.subscriptionId,
      method: charged.id,
      methodType: charged.type,
      from: charged.from,
    },
    dueAt: i.platformStatus === 'draft' ? i.finalizesAt : null,
  });
};

const saidOf = (i: InvoiceRow): string =>
  i.autoAdvance === false ? 'not collected automatically any more' : i.platformStatus;

/** It is looked at once more, now. */
export const chargingReview: ReviewRule = (s, _, { resolution }) =>
  carriedOut(
    resolution === 'retry' && s.invoice !== null
      ? putInvoice(s, { ...s.invoice, charged: null, chargeLookedAt: null })
      : s,
  );
