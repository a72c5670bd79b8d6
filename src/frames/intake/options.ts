// The options of the webhook endpoints: secrets and limits from the settings, and a listener for each reply.
import { type Delivery, type InboxSource, type StoreOutcome } from '../../shared/domain/ports/inbox.js';
import { type Refusal } from '../../shared/domain/refusal.js';
import { type BatchLimits } from './batcher.js';
import { type ReadingRoom } from './read-body.js';

/**
 * The end of a request to an endpoint. A `StoreOutcome`: stored, with reply 200. A `Refusal`: refused, with the reason.
 * `aborted`: the sender left before the end of the body and got no reply.
 */
export type EndpointOutcome = StoreOutcome | Refusal | 'aborted';

const TAKEN: ReadonlySet<EndpointOutcome> = new Set<EndpointOutcome>(['stored', 'duplicate', 'conflict']);

export const isTaken = (outcome: EndpointOutcome): outcome is StoreOutcome => TAKEN.has(outcome);

/**
 * Called for each reply, for counters, logs and alarms. `delivery`: null unless the request was authentic; never log
 * its body. `endpoint`: null for a request with an unreadable head.
 */
export type ReplyListener = (
  endpoint: InboxSource | null,
  outcome: EndpointOutcome,
  about: {
    readonly delivery: Delivery | null;
    readonly error: unknown;
    /** True: the request has the signature header of the endpoint, so it looks authentic. */
    readonly signed: boolean;
    /** The sender's address, for a refusal. Empty for an accepted request or a lost connection. */
    readonly address: string;
  },
) => void;

/** The injection token of `IntakeOptions`. */
export const INTAKE_OPTIONS = Symbol('INTAKE_OPTIONS');

export type IntakeOptions = {
  /**
   * The secrets from the settings `STRIPE_WEBHOOK_SECRETS`, `MOR_PAYMENT_WEBHOOK_SECRETS`, `MOR_EVENT_WEBHOOK_SECRETS`.
   */
  readonly secrets: Readonly<Record<InboxSource, readonly string[]>>;
  /** The setting `WEBHOOK_TOLERANCE_SEC`. */
  readonly toleranceSec: number;
  /** The setting `WEBHOOK_BODY_LIMIT`, in bytes. A body of exactly this size is accepted. */
  readonly bodyLimitBytes: number;
  /** The time for the arrival of a body. Default: 8 s. */
  readonly bodyTimeoutMs?: number;
  /**
   * The memory limit for all bodies of the process. At the limit Crossbill refuses the oldest unfinished body with 503.
   * Default: a limit for these endpoints alone.
   */
  readonly room?: ReadingRoom;
  readonly batch?: Partial<BatchLimits>;
  readonly onReply?: ReplyListener;
  /**
   * Receives the signature header of each delivery, and true if the header was readable. The listener must not keep the
   * values.
   */
  readonly onSignature?: (endpoint: InboxSource, header: string, isReadable: boolean) => void;
};
