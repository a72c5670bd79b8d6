// What the webhook doors are told: secrets and limits from the settings, and whom to tell what was answered.
import { type Delivery, type InboxSource, type StoreOutcome } from '../domain/ports/inbox.js';
import { type BatchLimits } from './batcher.js';
import { type ReadingRoom } from './read-body.js';

/**
 * How one request at a door ended.
 * - 200: `stored`, `duplicate`, `conflict` (as the inbox said; whether it was parked or ignored stands in the delivery)
 * - nothing stored: `malformed` 400, `mismatch`, `too-large` 413, `method` 405, `slow` 503, `aborted` (no answer)
 * - 503: `unexpected` (an unknown Expect header), `stale` (a copy is in quarantine), `not-stored` (the database, or too much waiting), `closed` (starting or stopping)
 */
export type DoorOutcome =
  | StoreOutcome
  | 'malformed'
  | 'mismatch'
  | 'too-large'
  | 'method'
  | 'unexpected'
  | 'slow'
  | 'aborted'
  | 'stale'
  | 'not-stored'
  | 'closed';

/** Answered 200. Everything else is a refusal. */
export const TAKEN: ReadonlySet<DoorOutcome> = new Set<DoorOutcome>(['stored', 'duplicate', 'conflict']);

/** For counters, logs and alarms. `delivery` is null unless the request was authentic; its body must not be logged. */
export type AnswerListener = (
  door: InboxSource,
  outcome: DoorOutcome,
  about: {
    readonly delivery: Delivery | null;
    readonly error: unknown;
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
  /** `WEBHOOK_MISMATCH_STATUS`: 401, or 503 while secrets roll. */
  readonly mismatchStatus: number;
  /** How long a body may take to arrive. Default 8 s. */
  readonly bodyTimeoutMs?: number;
  /** Shared with all other bodies of the process; when it is full, the one that began first is answered 503. Default: one of its own. */
  readonly room?: ReadingRoom;
  readonly batch?: Partial<BatchLimits>;
  readonly onAnswer?: AnswerListener;
};
