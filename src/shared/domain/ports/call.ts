// A call's result: a reply of the peer (Stripe, the MoR or the relay), or a failure of one of four kinds.
import { maskCards } from '../../masks/card-numbers.js';

/**
 * - `refused`: the peer understood the call and will not do it. The call surely had no effect. The same bytes would
 *   fail again.
 * - `retry`: the call surely had no effect, for a passing reason (429, lock timeout, connection refused, 503
 *   `psp_unavailable`). Crossbill sends the same key later.
 * - `unknown`: the call may have had its effect (timeout, reset, 5xx, an unreadable answer). Crossbill sends the same
 *   bytes with the same key.
 * - `stopped`: the peer does not accept our credentials or our account (401, 403). A person must act. Crossbill tries
 *   the same key again, slowly.
 */
export type FailureKind = 'refused' | 'retry' | 'unknown' | 'stopped';

export type CallFailure = {
  readonly ok: false;
  readonly kind: FailureKind;
  /** The HTTP status. Null: no reply arrived. */
  readonly status: number | null;
  /** The peer's own error code. Null: the peer gave none. */
  readonly code: string | null;
  /** A message for people and logs. It never contains a secret or a body. */
  readonly message: string;
  /** The fields with errors, named by the peer. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  /** The wait the peer asked for, in milliseconds. Null: none. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  /** True: the peer replayed a stored reply for this key (`Idempotent-Replayed: true`). */
  readonly replayed: boolean;
};

/** True if the same call may soon succeed. False: the reply is final, or a person must act first. */
export function mayPass({ kind }: CallFailure): boolean {
  return kind === 'retry' || kind === 'unknown';
}

/**
 * A failure in one line with the peer's words, for review items. If the message already contains status and code, the line
 * does not repeat them.
 */
export function said({ status, code, message }: Pick<CallFailure, 'status' | 'code' | 'message'>): string {
  return [status === null ? '' : String(status), code ?? '']
    .filter((x) => x !== '' && !message.includes(x))
    .concat(message)
    .join(' ')
    .trim();
}

/**
 * The status and the code of a failure, without the peer's words: for the timeline and the log. Without a reply the
 * message is our own and says why none came.
 */
export function codesOf({ status, code, message }: Pick<CallFailure, 'status' | 'code' | 'message'>): string {
  return status === null ? message : `${status} ${code ?? ''}`.trimEnd();
}

/** The failure with masked card numbers in the peer's words. Nothing else sees the words of a stored call before. */
export function withoutCards(failure: CallFailure): CallFailure {
  const errors = failure.errors.map(({ field, message }) => ({ field, message: maskCards(message) }));
  return { ...failure, message: maskCards(failure.message), errors };
}

export type CallSuccess<T> = {
  readonly ok: true;
  readonly value: T;
  readonly status: number;
  readonly requestId: string | null;
  /** The peer's own time at its reply. Absent or null: the peer named no time. */
  readonly answeredAt?: Date | null;
};

export type CallOutcome<T> = CallSuccess<T> | CallFailure;

/**
 * The code of a failed search: the peer lists more objects than the search may read. So if the search has not found the
 * object, the object may still exist.
 */
export const LIST_TOO_LONG = 'list_too_long';

// ---- Shadow mode: Crossbill decides and stores its calls, and sends nothing that changes Stripe or the MoR

/** A call of shadow mode: its error code, its message, and its status in the list of open calls. */
export const UNSENT = {
  code: 'shadow_mode',
  message: 'Shadow mode (CROSSBILL_SHADOW): Crossbill changes nothing at Stripe or the MoR.',
  listed: 'shadow',
} as const;

/** The failure of a request that shadow mode does not send. */
export function unsent(): CallFailure {
  return {
    ok: false,
    kind: 'stopped',
    message: UNSENT.message,
    status: null,
    code: UNSENT.code,
    errors: [],
    retryAfterMs: null,
    requestId: null,
    replayed: false,
  };
}

// ---- Requests

/** One request, as stored before Crossbill sends it. Every try sends the same bytes. */
export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the peer's base URL, for example `/v1/invoices/in_1/attach_payment`. */
  readonly path: string;
  /** The body as sent: a form for Stripe, JSON for the MoR. Null: no body, or Crossbill has erased it. */
  readonly body: string | null;
};
