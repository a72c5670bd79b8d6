// Sorts each answer into the four kinds of failure.
import { type Clock } from './options.js';
import { adviceFor, kindOf, type MorCallName } from './error-guide.js';
import { type Failure, type FailureKind } from './outcome.js';
import { type Exchange, type HttpReply, type NoReply } from './http-line.js';
import { safeRequestId, safeText } from './safe-text.js';

const MAX_NAMED_FIELDS = 50;
/** The longest accepted wait, in milliseconds. A longer `Retry-After` counts as one hour. */
export const RETRY_AFTER_LONGEST_MS = 3_600_000;

type Known = Partial<Omit<Failure, 'ok' | 'kind' | 'message'>>;

export function failure(kind: FailureKind, message: string, known: Known = {}): Failure {
  return {
    ok: false,
    kind,
    message,
    status: known.status ?? null,
    code: known.code ?? null,
    errors: known.errors ?? [],
    retryAfterMs: known.retryAfterMs ?? null,
    requestId: known.requestId ?? null,
    replayed: known.replayed ?? false,
  };
}

/** No answer came. Without a connection the request surely had no effect; with a connection nobody knows. */
export function failureWithoutReply(peer: string, nothing: NoReply): Failure {
  if (nothing.sent === 'never') return failure('refused', `a request to ${peer} could not be built (${nothing.why})`);
  if (nothing.sent === 'no') return failure('retry', `no connection to ${peer} (${nothing.why})`);
  return failure('unknown', `no answer from ${peer} (${nothing.why})`);
}

/** The client never follows a redirect: bearer token and body belong to the configured address alone. */
export function unexpectedRedirect(peer: string, reply: HttpReply, kind: FailureKind): Failure {
  return failure(kind, `${peer} answered ${reply.status}, a redirect, which is never followed`, {
    status: reply.status,
    code: 'unexpected_redirect',
    requestId: requestIdOf(reply),
  });
}

/** A 2xx with an unreadable body: the effect may exist. */
export function unreadableReply(peer: string, reply: HttpReply, what: string): Failure {
  return failure('unknown', `${peer} answered ${reply.status}, but ${what}`, {
    status: reply.status,
    requestId: requestIdOf(reply),
  });
}

/**
 * Turns a reply with status 300 or more into a failure. Removes `secrets` from the MoR's text. The message ends with
 * the advice from `ERROR_GUIDE`.
 */
export function failureOf(
  call: MorCallName,
  reply: HttpReply,
  { body, clock, secrets }: { readonly body: unknown; readonly clock: Clock; readonly secrets: readonly string[] },
): Failure {
  // A redirect is no refusal: a person must correct the address, and after a 303 the call may have had its effect.
  if (reply.status < 400) return unexpectedRedirect('the MoR', reply, 'stopped');
  const said = readErrorBody(body);
  const errors = said.errors.map(({ field, message }) => ({
    field: safeText(field, secrets),
    message: safeText(message, secrets),
  }));
  const fields = errors.map(({ field }) => field);
  const advice = adviceFor(call, reply.status, said.code, fields);
  const why = [said.code, said.message === null ? null : safeText(said.message, secrets)].filter(
    (part) => part !== null,
  );
  return failure(
    kindOf(call, reply.status, said.code),
    // The message includes the remedy: the caller, the timeline and a review item all show this text.
    `the MoR answered ${reply.status}${why.length > 0 ? `: ${why.join(', ')}` : ''}${advice === null ? '' : `. ${advice}`}`,
    {
      status: reply.status,
      code: said.code,
      errors,
      retryAfterMs: retryAfterMs(reply.header('retry-after'), clock),
      requestId: requestIdOf(reply),
      replayed: reply.header('idempotent-replayed') === 'true',
    },
  );
}

/**
 * Turns `Retry-After` (seconds or an HTTP date) into a wait of 0 ms to one hour, in milliseconds. Null: the header is
 * absent or unreadable.
 */
export function retryAfterMs(header: string | null, clock: Clock): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_LONGEST_MS);
  if (!/^[A-Za-z]{3,9},? .*GMT$/.test(text)) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  return Math.min(Math.max(at - clock.now().getTime(), 0), RETRY_AFTER_LONGEST_MS);
}

export function requestIdOf(exchange: Exchange): string | null {
  if (!exchange.answered) return null;
  return safeRequestId(exchange.header('x-request-id') ?? exchange.header('request-id'));
}

type SaidError = {
  readonly code: string | null;
  readonly message: string | null;
  readonly errors: readonly { readonly field: string; readonly message: string }[];
};

/**
 * Reads `{code, errors}` of Documents 1 and 2, and also `{error: …}`: Document 3 does not show the form of its error
 * bodies.
 */
function readErrorBody(body: unknown): SaidError {
  const outer = membersOf(body);
  const inner = membersOf(outer.error);
  const code = [outer.code, inner.code, outer.error].find(
    (one): one is string => typeof one === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(one),
  );
  const message = [outer.message, inner.message].find((one) => typeof one === 'string');
  const listed: unknown = outer.errors ?? inner.errors;
  const errors = (Array.isArray(listed) ? listed : []).slice(0, MAX_NAMED_FIELDS).flatMap((one: unknown) => {
    const { field, message: why } = membersOf(one);
    if (typeof field !== 'string' && typeof why !== 'string') return [];
    return [{ field: typeof field === 'string' ? field : '', message: typeof why === 'string' ? why : '' }];
  });
  return { code: code ?? null, message: message ?? null, errors };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? { ...value } : {};
}
