// The result of a call: a parsed reply, or a failure with a stable kind and the MoR's message.
import { type ErrorCode, type FailureKind } from './error-guide.js';

export { type FailureKind } from './error-guide.js';

export type Failure = {
  readonly ok: false;
  readonly kind: FailureKind;
  /** The HTTP status. Null: no answer came. */
  readonly status: number | null;
  /** The MoR's error code. Null: the MoR gave none. Most codes are an `ErrorCode`. */
  readonly code: ErrorCode | (string & {}) | null;
  /** A message for people and logs, without secrets and without the body. */
  readonly message: string;
  /** The wrong fields from the MoR's answer. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  /** The wait from the MoR's `Retry-After`, in milliseconds. Null: none. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  /** The MoR replayed a stored answer for this key (`Idempotent-Replayed: true`). */
  readonly replayed: boolean;
};

export type Reply<T> = {
  readonly ok: true;
  readonly value: T;
  readonly status: number;
  readonly requestId: string | null;
  /** The MoR's own time, from the `Date` header of its reply (RFC 9110, 6.6.1). Absent or null: it named no time. */
  readonly answeredAt?: Date | null;
};

export type Outcome<T> = Reply<T> | Failure;

/** A failure as an error, for code that cannot return an outcome. */
export class MorError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = 'MorError';
  }
}

/** Returns the value of an answer. Throws a `MorError` for a failure. */
export function orThrow<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new MorError(outcome);
}

/** One request, ready to store. Every try sends the same bytes. */
export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below `baseUrl`. */
  readonly path: string;
  /** JSON text. Null: no body. */
  readonly body: string | null;
};
