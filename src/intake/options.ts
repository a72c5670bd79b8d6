// The options of the webhook endpoints: secrets and limits from the settings, and a listener for each answer.
import { type Delivery, type InboxSource, type StoreOutcome } from '../domain/ports/inbox.js';
import { type Refusal } from '../domain/refusal.js';
import { type BatchLimits } from './batcher.js';
import { type ReadingRoom } from './read-body.js';

/**
 * How a request at an endpoint ended. A `StoreOutcome`: stored, and answered with 200. A `Refusal`: refused, with the
 * reason. `aborted`: the sender left before the end of the body and got no answer.
 */
export type EndpointOutcome = StoreOutcome | Refusal | 'aborted';

const TAKEN: ReadonlySet<EndpointOutcome> = new Set<EndpointOutcome>(['stored', 'duplicate', 'conflict']);

export const isTaken = (outcome: EndpointOutcome): outcome is StoreOutcome => TAKEN.has(outcome);

/**
 * Called for each answer, for counters, logs and alarms. `delivery` is null unless the request was authentic. Never log
 * its body. `endpoint` is null for a request with an unreadable head.
 */
export type AnswerListener = (
  endpoint: InboxSource | null,
  outcome: EndpointOutcome,
  about: {
    readonly delivery: Delivery | null;
    readonly error: unknown;
    /** True: the request has the signature header of the endpoint, so it looks authentic. */
    readonly signed: boolean;
    /** The address of the peer, for a refusal. Empty for an accepted request or a lost connection. */
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
  /** `WEBHOOK_BODY_LIMIT` in bytes. A body of exactly this size is accepted. */
  readonly bodyLimitBytes: number;
  /** How long a body may take to arrive. Default: 8 s. */
  readonly bodyTimeoutMs?: number;
  /**
   * The memory all bodies of the process share. If it is full, the oldest body gets a 503. Default: a room for these
   * endpoints alone.
   */
  readonly room?: ReadingRoom;
  readonly batch?: Partial<BatchLimits>;
  readonly onAnswer?: AnswerListener;
  /** Sees the signature header of each delivery, and whether it was readable. It must not keep the values. */
  readonly onSignature?: (endpoint: InboxSource, header: string, isReadable: boolean) => void;
};
