// What the webhook endpoints are given: secrets and limits from the settings, and whom to tell of each answer.
import { type Delivery, type InboxSource, type StoreOutcome } from '../domain/ports/inbox.js';
import { type Refusal } from '../domain/refusal.js';
import { type BatchLimits } from './batcher.js';
import { type ReadingRoom } from './read-body.js';

/**
 * How one request at an endpoint ended: stored (200; whether the event is parked or ignored stands in the delivery), refused, or
 * `aborted` (the sender left before the end of the body, and got no answer).
 */
export type DoorOutcome = StoreOutcome | Refusal | 'aborted';

const TAKEN: ReadonlySet<DoorOutcome> = new Set<DoorOutcome>(['stored', 'duplicate', 'conflict']);

export const isTaken = (outcome: DoorOutcome): outcome is StoreOutcome => TAKEN.has(outcome);

/**
 * For counters, logs and alarms. `delivery` is null unless the request was authentic; its body must not be logged.
 * `endpoint` is null where the head of the request could not be read.
 */
export type AnswerListener = (
  endpoint: InboxSource | null,
  outcome: DoorOutcome,
  about: {
    readonly delivery: Delivery | null;
    readonly error: unknown;
    /** The request has the endpoint's signature header: it looks authentic. */
    readonly signed: boolean;
    /** The peer's, of a refusal; empty: it was taken, or the connection was gone. */
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
  /** `WEBHOOK_BODY_LIMIT` in bytes: a body of exactly this size is taken. */
  readonly bodyLimitBytes: number;
  /** How long a body may take to arrive. Default 8 s. */
  readonly bodyTimeoutMs?: number;
  /** Shared with all other bodies of the process; when it is full, the one that began first is answered 503. Default: one of its own. */
  readonly room?: ReadingRoom;
  readonly batch?: Partial<BatchLimits>;
  readonly onAnswer?: AnswerListener;
  /** Sees the signature header of each delivery, and whether it could be read. It may not keep its values. */
  readonly onSignature?: (endpoint: InboxSource, header: string, isReadable: boolean) => void;
};
