import { type KnownCode } from './generated/operations.js';

/** A code of the API, or one that the MoR answered. */
// `& {}` keeps the known ones in an editor's list.
export type ErrorCode = KnownCode | (string & {});

/** What is known of a call that was not done. */
export interface Refusal {
  readonly code: ErrorCode;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly message: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number | null;
  readonly idempotencyKey?: string | null;
  readonly cause?: unknown;
}

/** A field of the request that is wrong. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Every call that was not done ends with one of these: branch on `code`, show `message` to a person. */
export class CrossbillError extends Error {
  override readonly name = 'CrossbillError';
  readonly code: ErrorCode;
  /** The HTTP status; null: no answer came. */
  readonly status: number | null;
  /** The fields that are wrong; often empty. */
  readonly errors: readonly FieldError[];
  /** Seconds after which another try may help; null: the answer said nothing. */
  readonly retryAfterSeconds: number | null;
  /** The key that the request had: with it the same request can be sent again without doing anything twice. */
  readonly idempotencyKey: string | null;

  constructor(refusal: Refusal) {
    super(refusal.message, refusal.cause === undefined ? undefined : { cause: refusal.cause });
    this.code = refusal.code;
    this.status = refusal.status;
    this.errors = refusal.errors ?? [];
    this.retryAfterSeconds = refusal.retryAfterSeconds ?? null;
    this.idempotencyKey = refusal.idempotencyKey ?? null;
  }
}
