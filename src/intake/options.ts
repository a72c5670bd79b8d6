// The webhook endpoints' input: secrets and limits from the settings, and the listener to each answer.
import { type Delivery, type InboxSource, type StoreOutcome } from '../domain/ports/inbox.js';
import { type Refusal } from '../domain/refusal.js';
import { type BatchLimits } from './batcher.js';
import { type ReadingRoom } from './read-body.js';

/**
 * The end of one request at an endpoint: stored (200; the delivery has the event's verdict, parked or ignored),
 * refused, or `aborted` (the sender left before the end of the body, and got no answer).
 */
export type DoorOutcome = StoreOutcome | Refusal | 'aborted';

const TAKEN: ReadonlySet<DoorOutcome> = new Set<DoorOutcome>(['stored', 'duplicate', 'conflict']);

export const isTaken = (outcome: DoorOutcome): outcome is StoreOutcome => TAKEN.has(outcome);

/**
 * For counters, logs and alarms. `delivery` is null unless the request was authentic; never log its body. `endpoint` is
 * null for an unreadable head.
 */
export type AnswerListener = (
  endpoint: InboxSource | null,
  outcome: DoorOutcome,
  about: {
    readonly delivery: Delivery | null;
    readonly error: unknown;
    /** The request has the endpoint's signature header: it looks authentic. */
    readonly signed: boolean;
    /** The peer's, for a refusal; empty for an accepted one or a lost connection. */
    readonly address: string;
  },
) => void;

/** The injection token of `IntakeOptions`. */
export const INTAKE_OPTIONS = Symbol('INTAKE_OPTIONS');

export type IntakeOptions = {
  /** `STRIPE_WEBHOOK_SECRETS`, `MOR_PAYMENT_WEBHOOK_SECRETS`, `MOR_EVENT_WEBHOOK_SECRETS`. */
  readonly secrets: Readonly<Record<InboxSource, readonly string[]>>;
  /** `WEBHOOK_TOLERANCE_SEC` */
  readonly toleranceSec: number;
  /** `WEBHOOK_BODY_LIMIT` in bytes: a body of exactly this size passes. */
  readonly bodyLimitBytes: number;
  /** How long a body may take to arrive. Default 8 s. */
  readonly bodyTimeoutMs?: number;
  /** Shared with all other bodies of the process; if full, the oldest one gets a 503. Default: its own room. */
  readonly room?: ReadingRoom;
  readonly batch?: Partial<BatchLimits>;
  readonly onAnswer?: AnswerListener;
  /** Sees the signature header of each delivery, and whether it was readable. It may not keep its values. */
  readonly onSignature?: (endpoint: InboxSource, header: string, isReadable: boolean) => void;
};
