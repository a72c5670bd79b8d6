// The result of a call: a parsed answer, or a failure with a stable kind and the MoR's own words.
import { type ErrorCode, type FailureKind } from './error-guide.js';

export { type FailureKind } from './error-guide.js';

export type Failure = {
  readonly ok: false;
  readonly kind: FailureKind;
  /** HTTP status; null: no answer came. */
  readonly status: number | null;
  /** The MoR's error code; null: it gave none. Most are an `ErrorCode`. */
  readonly code: ErrorCode | (string & {}) | null;
  /** For people and logs. Holds no secret and no body. */
  readonly message: string;
  /** The fields of the MoR's answer. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  /** The wait of the MoR's `Retry-After`; null: none. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  /** The MoR replayed a stored answer for this key (`Idempotent-Replayed: true`). */
  readonly replayed: boolean;
};

export type Answer<T> = {
  readonly ok: true;
  readonly value: T;
  readonly status: number;
  readonly requestId: string | null;
};

export type Outcome<T> = Answer<T> | Failure;

/** A failure as an error, for code without a place for a failed outcome. */
export class MorError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = 'MorError';
  }
}

/** The value of an answer. Throws a `MorError` for a failure. */
export function orThrow<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new MorError(outcome);
}

/** One request, ready to store: the same bytes go out on every try. */
export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below `baseUrl`. */
  readonly path: string;
  /** JSON text; null: no body. */
  readonly body: string | null;
};
