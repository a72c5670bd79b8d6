// Turns the errors of the `stripe` package into failures that decide the next step.
import Stripe from 'stripe';
import { type CallFailure, type FailureKind } from '../../shared/domain/ports/call.js';
import { isCode } from '../../shared/domain/foreign-words.js';
import { NoHttpReply } from './http-client.js';
import { textOf } from '@crossbill/mor/read.js';

/** Makes a failure. Absent fields are unknown. */
export function failure(
  kind: FailureKind,
  code: string | null,
  message: string,
  more: Partial<CallFailure> = {},
): CallFailure {
  return {
    status: null,
    errors: [],
    retryAfterMs: null,
    requestId: null,
    replayed: false,
    ...more,
    ok: false,
    kind,
    code,
    message,
  };
}

/**
 * Sorts one error (Stripe docs, "Advanced error handling" and "Idempotent requests"). No connection, 409 and 429 →
 * `retry`. No reply, an unreadable reply, 5xx → `unknown`. 401, 403 and redirects → `stopped`. Other 4xx → `refused`.
 * `Stripe-Should-Retry: true` turns a refusal into `retry`. `false` does not turn a 5xx or a 429 into a refusal: it
 * means "no automatic retry now" and says nothing about the effect.
 */
export function toFailure(error: unknown, apiKey: string, nowMs: number): CallFailure {
  if (!(error instanceof Stripe.errors.StripeError)) {
    // The package threw before sending, for example because of an invalid header.
    const name = error instanceof Error ? error.name : typeof error;
    return failure('unknown', 'client_error', `the request could not be made (${name})`);
  }
  if (error.detail instanceof NoHttpReply) {
    const { sent, reason } = error.detail;
    return failure(sent ? 'unknown' : 'retry', reason, `Stripe: ${error.detail.message}`);
  }
  const status = error.statusCode ?? null;
  const headers = error.headers ?? {};
  const kind = status === null ? 'unknown' : kindOf(status, error, headers['stripe-should-retry'] === 'true');
  const limit = headers['stripe-rate-limited-reason'];
  // The package passes on the reply's value, whatever its type, so Crossbill parses it like other outside data.
  const said = textOf(error.message) ?? 'no message';
  const field = textOf(error.param);
  const message = safeText(`Stripe ${status ?? '-'}: ${said}${limit === undefined ? '' : ` [${limit}]`}`, apiKey);
  return failure(kind, codeOf(error, apiKey), message, {
    status,
    errors: field === null ? [] : [{ field: safeText(field, apiKey), message }],
    retryAfterMs: retryAfterMs(headers['retry-after'], nowMs),
    requestId: requestIdOf(headers['request-id']),
    replayed: headers['idempotent-replayed'] === 'true',
  });
}

/** The name of the limit behind a 429 (`Stripe-Rate-Limited-Reason`). Null: the reply does not name it. */
export function limitOf(error: unknown): string | null {
  return error instanceof Stripe.errors.StripeError ? (error.headers?.['stripe-rate-limited-reason'] ?? null) : null;
}

function kindOf(status: number, error: Stripe.errors.StripeError, shouldRetry: boolean): FailureKind {
  if (status === 401 || status === 403) return 'stopped';
  // A wrong base URL or a proxy redirects. Crossbill never sends the key to another address.
  if (status >= 300 && status < 400) return 'stopped';
  if (status === 409 || status === 429) return 'retry';
  if (status < 400 || status >= 500) return 'unknown';
  // A server between Crossbill and Stripe gave up, so the effect is unknown.
  if (status === 408 || status === 424 || status === 425) return 'unknown';
  if (error.code === 'lock_timeout' || error.code === 'rate_limit') return 'retry';
  if (rawTypeOf(error) === 'unreadable_answer') return 'unknown'; // not from Stripe: the page of a proxy
  return shouldRetry ? 'retry' : 'refused';
}

/**
 * Keeps `idempotency_error` (same key, other bytes) as the code, even if Stripe gives a more precise code: callers look
 * for `idempotency_error`.
 */
function codeOf(error: Stripe.errors.StripeError, apiKey: string): string | null {
  const type = rawTypeOf(error);
  if (type === 'idempotency_error' && error.statusCode !== 409) return 'idempotency_error';
  const code = textOf(error.code) ?? type;
  return code === null || !isCode(code) ? null : safeText(code, apiKey);
}

function rawTypeOf(error: Stripe.errors.StripeError): string | null {
  return textOf(error.rawType);
}

/**
 * Parses the header `Retry-After`, a number of seconds or an HTTP date. Returns milliseconds, at most one day. Null if
 * the header is missing or unreadable.
 */
function retryAfterMs(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}(\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), 86_400_000) : null;
}

/**
 * Returns Stripe's request id. Null if the id is missing, or is no plain short word: Crossbill writes the id unchanged
 * into the log and the timeline.
 */
export function requestIdOf(value: unknown): string | null {
  return typeof value === 'string' && /^[\w.:/+=-]{1,128}$/.test(value) ? value : null;
}

/** Makes Stripe's message safe for logs: one line, limited length, nothing like a key or a client secret. */
function safeText(text: string, apiKey: string): string {
  const hidden = apiKey === '' ? text : text.replaceAll(apiKey, '[key]');
  return hidden
    .replace(/\b(?:sk|rk|pk|ek|whsec)_[\w*]+/g, '[key]')
    .replace(/_secret_\w+/g, '_secret_[hidden]')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, 300);
}
