// Decides if a subscription may move to the MoR or back, from the present state at Stripe and in our database. Pure.
import { type MovableSubscription, type MoveCall, type MoveWay } from '../../shared/domain/ports/billing-moves.js';
import { newerCode } from '../../shared/domain/sentence.js';
import { showTime } from '../../shared/domain/show-time.js';
import { isChargeable } from '../../shared/domain/ports/billing-reader.js';
import { MOVE_BEFORE_RENEWAL_MS } from './rules/limits.js';

export const MOVE_STATUSES = ['moving', 'moved', 'skipped', 'failed', 'returning', 'returned'] as const;
export type MoveStatus = (typeof MOVE_STATUSES)[number];

/** The reason to leave a subscription unchanged. */
export type MoveFact =
  | { readonly code: 'not_running'; readonly subscription_status: string }
  | { readonly code: 'not_charged'; readonly by: MoveWay }
  | { readonly code: 'method_missing' }
  | { readonly code: 'not_enrolled' }
  | { readonly code: 'still_enrolled' }
  | { readonly code: 'scheduled'; readonly schedule_id: string }
  | { readonly code: 'renews_soon'; readonly renews_at: string | null }
  | { readonly code: 'invoice_open'; readonly invoice_id: string; readonly invoice_status: string }
  | { readonly code: 'changed'; readonly method_id: string | null; readonly collection_method: string | null }
  | {
      readonly code: 'refused';
      readonly status: number | null;
      readonly error_code: string | null;
      readonly message: string;
      readonly request_id: string | null;
    };

/** The stored facts about a subscription's move. */
export type Remembered = {
  readonly status: MoveStatus;
  readonly way: MoveWay;
  readonly before: { readonly methodId: string | null; readonly collectionMethod: string | null } | null;
  readonly methodId: string | null;
};

export type Ground = {
  readonly now: Date;
  /** The MoR has a confirmed payment method of the customer. */
  readonly hasMethod: boolean;
  readonly isEnrolled: boolean;
};

export type Decided =
  /** The decision. `done`: Stripe already shows the wanted state, so there is nothing to send. */
  { readonly do: 'done' } | { readonly do: 'go' } | { readonly do: 'leave'; readonly fact: MoveFact };

const leave = (fact: MoveFact): Decided => ({ do: 'leave', fact });

/**
 * The subscription statuses with renewals. In other statuses Stripe makes no renewal, or a signup is still under way
 * (Stripe docs, "Subscription statuses").
 */
const RENEWS = new Set(['active', 'trialing', 'past_due']);

export function decideMove(subscription: MovableSubscription, row: Remembered | null, ground: Ground): Decided {
  if (row !== null && isMoved(subscription, row)) return { do: 'done' };
  if (!RENEWS.has(subscription.status)) return leave({ code: 'not_running', subscription_status: subscription.status });
  if (subscription.collectionMethod === 'send_invoice') return leave({ code: 'not_charged', by: 'send_invoice' });
  if (subscription.charged?.type === 'custom') return leave({ code: 'not_charged', by: 'custom_method' });
  if (!ground.hasMethod) return leave({ code: 'method_missing' });
  if (!ground.isEnrolled) return leave({ code: 'not_enrolled' });
  return decideTime(subscription, ground);
}

/**
 * Decides about the move back. An enrolled customer's subscription stays at the MoR: after the move back its invoices
 * would still go to the MoR.
 */
export function decideBack(subscription: MovableSubscription | null, row: Remembered, ground: Ground): Decided {
  if (subscription === null || !RENEWS.has(subscription.status))
    return leave({ code: 'not_running', subscription_status: subscription?.status ?? 'deleted' });
  if (row.before === null || isBack(subscription, row)) return { do: 'done' };
  if (!isMoved(subscription, row))
    return leave({
      code: 'changed',
      method_id: subscription.ownMethodId,
      collection_method: subscription.collectionMethod,
    });
  if (ground.isEnrolled) return leave({ code: 'still_enrolled' });
  return decideTime(subscription, ground);
}

/** Decides if the move must wait: no money may be under way at Stripe or the MoR at the time of the change. */
function decideTime(subscription: MovableSubscription, { now }: Ground): Decided {
  if (subscription.scheduleId !== null) return leave({ code: 'scheduled', schedule_id: subscription.scheduleId });
  if (subscription.renewsAt === null || subscription.renewsAt.getTime() - now.getTime() < MOVE_BEFORE_RENEWAL_MS)
    return leave({ code: 'renews_soon', renews_at: subscription.renewsAt?.toISOString() ?? null });
  if (subscription.unpaid !== null)
    return leave({
      code: 'invoice_open',
      invoice_id: subscription.unpaid.invoiceId,
      invoice_status: subscription.unpaid.status,
    });
  return { do: 'go' };
}

/** True if Stripe shows the result of our request. */
export function isMoved(subscription: MovableSubscription, row: Remembered): boolean {
  if (row.before === null) return false;
  if (row.way === 'send_invoice') return subscription.collectionMethod === 'send_invoice';
  return row.methodId !== null && subscription.ownMethodId === row.methodId;
}

export function isBack(subscription: MovableSubscription, { way, before }: Remembered): boolean {
  if (way === 'send_invoice') return subscription.collectionMethod === before?.collectionMethod;
  return subscription.ownMethodId === before?.methodId;
}

/** True if Stripe would charge the next invoice. */
export function mayCharge(subscription: MovableSubscription): boolean {
  return (
    RENEWS.has(subscription.status) &&
    subscription.collectionMethod !== 'send_invoice' &&
    isChargeable(subscription.charged)
  );
}

/** The first request of a move. */
export function firstCall(subscription: Pick<MovableSubscription, 'subscriptionId'>, way: MoveWay): MoveCall {
  if (way === 'custom_method') return { kind: 'make_method' };
  return { kind: 'set_collection', subscriptionId: subscription.subscriptionId, collectionMethod: 'send_invoice' };
}

/** The next request after a reply. Null: the move is complete. `id`: the object in the reply. */
export function nextCall(
  asked: MoveCall,
  id: string,
  row: { readonly subscriptionId: string; readonly customerId: string },
): MoveCall | null {
  switch (asked.kind) {
    case 'make_method':
      return { kind: 'attach_method', methodId: id, customerId: row.customerId };
    case 'attach_method':
      return { kind: 'set_method', subscriptionId: row.subscriptionId, methodId: asked.methodId };
    case 'set_method':
    case 'set_collection':
      return null;
  }
}

export function backCall(subscriptionId: string, { way, before }: Remembered): MoveCall {
  if (way === 'custom_method') return { kind: 'set_method', subscriptionId, methodId: before?.methodId ?? null };
  return { kind: 'set_collection', subscriptionId, collectionMethod: 'charge_automatically' };
}

/** Describes the fact, with a hint for a person. */
export function renderMoveFact(fact: MoveFact): string {
  const { code } = fact;
  switch (fact.code) {
    case 'not_running':
      return `Stripe shows the subscription as ${fact.subscription_status}: it does not renew`;
    case 'not_charged':
      return fact.by === 'send_invoice'
        ? 'Stripe mails its invoices and charges nothing'
        : 'its payment method is a custom one: Stripe cannot charge it';
    case 'method_missing':
      return 'Crossbill knows no confirmed payment method of the customer: let the customer confirm one first';
    case 'not_enrolled':
      return 'ENROLMENT excludes the customer: enrol the customer first';
    case 'still_enrolled':
      return 'its metadata on Stripe still enrols it (ENROLMENT): remove this metadata first';
    case 'scheduled':
      return `schedule ${fact.schedule_id} would set its collection again: release the schedule first`;
    case 'renews_soon':
      return fact.renews_at === null
        ? 'Stripe does not say when it renews'
        : `it renews at ${showTime(new Date(fact.renews_at))}, in less than 24 hours: run again after that`;
    case 'invoice_open':
      return `invoice ${fact.invoice_id} is ${fact.invoice_status} on Stripe: settle it first`;
    case 'changed':
      return 'somebody changed how Stripe charges it after the move, so Crossbill changed nothing';
    case 'refused':
      return `Stripe refused the change: ${fact.message}`;
  }
  return newerCode('fact', code);
}
