// The context of a decision: everything a decision needs besides the state. Equal state and context give an equal
// decision.
import { createHash } from 'node:crypto';
import { type LaneState } from '../shared/domain/model.js';
import { type BillingCall } from '../shared/domain/ports/billing-platform.js';
import { type WireRequest } from '../shared/domain/ports/call.js';
import { type MorCall } from '../shared/domain/ports/payment-gateway.js';
import { type DecisionSettings } from '../shared/domain/settings.js';
import {
  RETRY_AFTER_LONGEST_MS,
  RETRY_FIRST_PAUSE_MS,
  RETRY_LONGEST_PAUSE_MS,
  RETRY_SHORTEST_PAUSE_MS,
  RETRY_STOPPED_PAUSE_MS,
} from '../shared/policy.js';

/** What the core and features want from features. Filled in `ports.ts`: a port works on a lane, and a lane has a context. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- ports.ts extends it
export interface Ports {}

export type Ctx = {
  readonly now: Date;
  readonly settings: DecisionSettings;
  readonly newId: (prefix: string) => string;
  readonly encodeBilling: (call: BillingCall) => WireRequest;
  readonly encodeMor: (call: MorCall) => WireRequest;
  /** A random number in [0, 1). It spreads retries. */
  readonly jitter: () => number;
  /**
   * True: the code that decides has no claim on the lane, for example in an API request. Meanwhile a worker may work on
   * the lane and wait for a reply. Absent: the worker with the claim decides.
   */
  readonly beside?: true;
  /** What features do for others. Absent: no feature does it. */
  readonly ports?: Ports;
} & Elsewhere;

/**
 * Facts about other invoices. Crossbill reads these facts after the database refused a row of this lane, or after
 * Stripe or the MoR refused a call. Absent: there was no refusal.
 */
export type Elsewhere = {
  /** Charges of this lane that Crossbill has booked for payments of other invoices: charge id → that payment. */
  readonly chargesElsewhere?: ReadonlyMap<string, ChargeHolder>;
  /** The MoR's payment ids in this lane, recorded for other invoices: payment id → invoice id. */
  readonly paymentsElsewhere?: ReadonlyMap<string, string>;
  /** The refunds of other invoices that have the reference Stripe has just refused, oldest first. */
  readonly refundsElsewhere?: readonly RefundHolder[];
};

/** A payment of another invoice with a charge of this lane. */
export type ChargeHolder = { readonly invoiceId: string; readonly payment: string };

/** A refund of another invoice. `refund` and `payment` are the MoR's ids, or our ids until the MoR gives its own. */
export type RefundHolder = { readonly refund: string; readonly payment: string; readonly invoiceId: string };

export function emptyLane(lane: string): LaneState {
  return {
    lane,
    invoice: null,
    payments: [],
    attempts: [],
    refunds: [],
    objects: [],
    calls: [],
    reviews: [],
    entries: [],
    journal: [],
  };
}

/**
 * Makes the idempotency key of a call. The parts are the same after a restore, so the key is too. Stripe allows 255
 * characters, and an HTTP header carries visible ASCII only. If `subject`, such as an id of the MoR, breaks these
 * limits, the key contains a hash of `subject`.
 */
export function callKey(kind: string, subject: string, generation: number): string {
  const key = `crossbill:${kind}:${subject}:${generation}`;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  return `crossbill:${kind}:sha256-${createHash('sha256').update(subject).digest('hex')}:${generation}`;
}

/**
 * Makes an id from parts that never change. So after a restore Crossbill makes the same id again, and the receiver
 * recognises the object. The id is a hash, because a part may be a long id of Stripe or the MoR.
 */
export function lastingName(prefix: string, ...of: readonly (string | number)[]): string {
  return `${prefix}_${createHash('sha256').update(of.join(':')).digest('hex').slice(0, 32)}`;
}

/**
 * The time of the next try. The first pause is about one second; each further pause is twice as long, up to 15 minutes,
 * with jitter. Stripe or the MoR may ask for a longer pause, up to an hour. `attempts` counts the tries so far, at
 * least 1. `slow`: our credentials or configuration are wrong, so Crossbill waits at least a minute.
 */
export function retryAt(ctx: Ctx, attempts: number, retryAfterMs: number | null, slow = false): Date {
  const base = Math.min(RETRY_LONGEST_PAUSE_MS, RETRY_FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  const spread = base * (0.75 + 0.5 * ctx.jitter());
  const wait = Math.min(
    RETRY_LONGEST_PAUSE_MS,
    Math.max(spread, slow ? RETRY_STOPPED_PAUSE_MS : 0, RETRY_SHORTEST_PAUSE_MS),
  );
  return new Date(ctx.now.getTime() + Math.round(Math.max(wait, Math.min(retryAfterMs ?? 0, RETRY_AFTER_LONGEST_MS))));
}
