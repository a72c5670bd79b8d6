import { type KnownCode } from './generated/operations.js';

/** An error code of Crossbill's API, or of the MoR. */
// `& {}` keeps the known codes among an editor's suggestions.
export type ErrorCode = KnownCode | (string & {});

/** Facts about a failed call. */
export interface Refusal {
  readonly code: ErrorCode;
  /** Null: no response came. */
  readonly status: number | null;
  readonly message: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number | null;
  readonly idempotencyKey?: string | null;
  readonly cause?: unknown;
}

/** A wrong field of the request. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Every failed call throws this: branch on `code`, show `message` to a person. */
export class CrossbillError extends Error {
  override readonly name = 'CrossbillError';
  readonly code: ErrorCode;
  /** The HTTP status. Null: no response came. */
  readonly status: number | null;
  /** The wrong fields; often empty. */
  readonly errors: readonly FieldError[];
  /** Seconds until another try may help. Null: the response names none. */
  readonly retryAfterSeconds: number | null;
  /** A repeat under this key does nothing twice. Null: the request had no Idempotency-Key. */
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
