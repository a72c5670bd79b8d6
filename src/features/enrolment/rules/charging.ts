// Finds invoices both Stripe and the MoR would charge. An item warns a person while there is time to stop Stripe.
import { enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type ChargedFor, type ChargedMethod, isChargeable } from '../../../shared/domain/ports/billing-reader.js';
import { type CallOutcome, mayPass, codesOf } from '../../../shared/domain/ports/call.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { type Lookup } from '../../../engine/lookup.js';
import {
  CHARGE_POLL_AFTER_MS,
  CHARGE_POLL_DRAFT_MS,
  CHARGE_POLL_GOOD_MS,
  CHARGE_POLL_OPEN_MS,
  CHARGE_POLL_TRIES,
} from './limits.js';
import { FAILED_READS_SHOWN } from '../../../shared/policy.js';
import { type ChoiceRule } from '../../../engine/commanded.js';

/**
 * True if Stripe will collect the invoice at the end of the draft, or tries again (Stripe docs, "Collection methods",
 * "Automatic advancement"). Stripe charges nothing for a mailed invoice (`send_invoice`) or with `auto_advance: false`.
 */
export function isCollected(invoice: InvoiceRow): boolean {
  return (
    (invoice.platformStatus === 'draft' || invoice.platformStatus === 'open') &&
    invoice.collectionMethod === 'charge_automatically' &&
    invoice.autoAdvance !== false &&
    invoice.billingReason !== SIGNUP_REASON &&
    (invoice.amountRemaining ?? 0n) > 0n
  );
}

/** Returns the invoice if Stripe might charge it as well as the MoR. */
function findGuarded(lane: Lane): InvoiceRow | null {
  const isGuarded = lane.settings.guard === true && enrolmentStatus(lane) === 'enrolled';
  return isGuarded && lane.invoice !== null && isCollected(lane.invoice) ? lane.invoice : null;
}

type Question = {
  readonly of: ChargedFor;
  /** True: Crossbill asks Stripe, even if the database has a recent read of the payment method. */
  readonly fresh: boolean;
};

/**
 * Reads the payment method Stripe would charge. Crossbill repeats the read, because the customer may have saved or
 * removed a card since the last read.
 */
export const chargingLookup: Lookup<Question, CallOutcome<ChargedMethod | null>> = {
  name: 'look-at-charging',
  wanted: (lane) => {
    const i = findGuarded(lane);
    if (i === null || i.customerId === null) return null;
    const at = findNextPoll(i);
    if (at === null ? !isNews(i, lane.now) : !lane.isPast(at)) return null;
    const { customerId, subscriptionId, ownMethodId, charged } = i;
    return { of: { customerId, subscriptionId, ownMethodId }, fresh: isChargeable(charged) };
  },
  ask: ({ of, fresh }, { customers }) => customers.readCharging(of, fresh),
  apply: applyCharged,
};

/** The time of the next read of the payment method. Null if no read is planned. */
function findNextPoll({ lookDueAt, charged, chargeLookedAt, platformStatus, firstSeenAt }: InvoiceRow): Date | null {
  if (lookDueAt !== null) return lookDueAt;
  if (chargeLookedAt === null) return new Date(firstSeenAt.getTime() + CHARGE_POLL_AFTER_MS);
  if (!isChargeable(charged)) return null;
  const pause = platformStatus === 'draft' ? CHARGE_POLL_DRAFT_MS : CHARGE_POLL_OPEN_MS;
  return new Date(chargeLookedAt.getTime() + pause);
}

/**
 * True if the last read of the payment method is missing or old, or the invoice now has another payment method of its
 * own.
 */
function isNews({ chargeLookedAt, ownMethodId, charged }: InvoiceRow, now: Date): boolean {
  if (chargeLookedAt === null || now.getTime() - chargeLookedAt.getTime() >= CHARGE_POLL_GOOD_MS) return true;
  return ownMethodId !== (charged?.from === 'invoice' ? charged.id : null);
}

export function applyCharged(lane: Lane, outcome: CallOutcome<ChargedMethod | null>): void {
  const i = lane.invoice;
  if (i === null) return;
  const looked = { chargeLookedAt: lane.now, lookDueAt: null, lookAttempts: 0 };
  if (outcome.ok) return void Object.assign(i, looked, { charged: outcome.value });
  const why = `Crossbill could not read what Stripe would charge: ${codesOf(outcome)}`;
  i.lookAttempts += 1;
  if (!mayPass(outcome) || i.lookAttempts >= CHARGE_POLL_TRIES) {
    Object.assign(i, looked);
    return lane.log('call', `${why}; check the key with \`crossbill doctor\``);
  }
  i.lookDueAt = retryAt(lane.ctx, i.lookAttempts, outcome.retryAfterMs);
  if (i.lookAttempts <= FAILED_READS_SHOWN) lane.log('call', why);
}

/**
 * Yields a review item for an enrolled customer's invoice while Stripe would charge it too. The deadline is the end of
 * the draft. The item of an open invoice has no deadline.
 */
export const chargingItems = itemRule(
  { 'stripe-would-charge': 'Stripe would no longer charge the invoice' },
  function* (lane) {
    const i = findGuarded(lane);
    if (i === null || !isChargeable(i.charged)) return;
    const { invoiceId: invoice, customerId: customer, subscriptionId: subscription, charged } = i;
    const { id: method, type: methodType, from } = charged;
    const fact = { code: 'stripe-would-charge', invoice, customer, subscription, method, methodType, from } as const;
    const dueAt = i.platformStatus === 'draft' ? i.finalizesAt : null;
    const choices = { actions: ['retry', 'dismiss'], proposed: 'retry' } as const;
    yield { kind: 'double_charge_risk', about: { id: invoice }, fact, dueAt, ...choices };
  },
);

/** Carries out a person's choice. `retry`: Crossbill reads the payment method again now. */
export const chooseCharging: ChoiceRule = (lane, _, { resolution }) => {
  if (resolution === 'retry' && lane.invoice !== null)
    Object.assign(lane.invoice, { charged: null, chargeLookedAt: null });
  return null;
};
