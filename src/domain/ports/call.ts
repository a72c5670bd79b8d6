// The result of a call to somebody else's API: a parsed answer, or a failure with the next step.

/**
 * - `refused`: the peer understood and will not do it; the effect is surely absent. Another try of the same bytes is
 *   useless.
 * - `retry`: surely not done, for a passing reason (429, lock timeout, connection refused, 503 `psp_unavailable`). Same
 *   key later.
 * - `unknown`: perhaps done (timeout, reset, 5xx, an unreadable answer). Same key, same bytes.
 * - `stopped`: the peer does not accept our credentials or our account (401, 403). A person must act; try again slowly,
 *   same key.
 */
export type FailureKind = 'refused' | 'retry' | 'unknown' | 'stopped';

export type CallFailure = {
  readonly ok: false;
  readonly kind: FailureKind;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The peer's own error code; null when it gave none. */
  readonly code: string | null;
  /** For people and logs. Never a secret, never a body. */
  readonly message: string;
  /** Fields the peer named. */
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  /** The wait the peer asked for, in milliseconds; null if it said nothing. */
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  /** The peer replayed a stored answer for this key (`Idempotent-Replayed: true`). */
  readonly replayed: boolean;
};

/** The peer may soon answer otherwise; else it has spoken, or a person must act first. */
export function mayPass({ kind }: CallFailure): boolean {
  return kind === 'retry' || kind === 'unknown';
}

/** A failure in one line, for the timeline and review items. Most messages name status and code: this repeats neither. */
export function said({ status, code, message }: Pick<CallFailure, 'status' | 'code' | 'message'>): string {
  return [status === null ? '' : String(status), code ?? '']
    .filter((x) => x !== '' && !message.includes(x))
    .concat(message)
    .join(' ')
    .trim();
}

export type CallAnswer<T> = {
  readonly ok: true;
  readonly value: T;
  readonly status: number;
  readonly requestId: string | null;
};

export type CallOutcome<T> = CallAnswer<T> | CallFailure;

/** The code of a look above its limit of objects. It proves nothing about the wanted object. */
export const LIST_TOO_LONG = 'list_too_long';

/** The code of everything shadow mode prevents. */
export const SHADOW_MODE = 'shadow_mode';
export const SHADOW_MESSAGE = 'Shadow mode: nothing is changed at Stripe or the MoR (CROSSBILL_SHADOW).';

/** One request as stored before its sending. The same bytes go out on every try. */
export type WireRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the peer's base URL, for example `/v1/invoices/in_1/attach_payment`. */
  readonly path: string;
  /** The body as it leaves the socket: a form to Stripe, JSON to the MoR. Null: none, or purged. */
  readonly body: string | null;
};
