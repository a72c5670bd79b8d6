// The common form of all error replies, and functions to make such a reply.
import { HttpException } from '@nestjs/common';
import { type Refusal } from '../../../engine/commanded.js';
import { type CallFailure, mayPass, UNSENT } from '../../../shared/domain/ports/call.js';

export type FieldError = { readonly field: string; readonly message: string };

/** Throw this error to end a request with this reply. The caller reads the message, so it must contain no secret. */
export class Problem extends HttpException {
  constructor(
    status: number,
    readonly code: string,
    message: string,
    readonly errors: readonly FieldError[] = [],
    /** Whole seconds until another try may succeed. Null: unknown. */
    readonly retryAfterSec: number | null = null,
  ) {
    super({ code, message, errors }, status);
  }
}

export function invalid(field: string, message: string): Problem {
  return new Problem(400, 'invalid_request', `${field}: ${message}`, [{ field, message }]);
}

export function notFound(what: string): Problem {
  return new Problem(404, 'not_found', `There is no such ${what}.`);
}

/** Returns the value of a service's result, or throws the service's refusal as a reply. */
export function valueOrProblem<T>(done: { readonly ok: true; readonly value: T } | Refusal): T {
  if (!done.ok) throw refusalProblem(done);
  return done.value;
}

/** Turns a service's refusal into a reply. */
export function refusalProblem(refusal: Refusal): Problem {
  return new Problem(
    refusal.status,
    refusal.code,
    refusal.message,
    refusal.field === null ? [] : [{ field: refusal.field, message: refusal.message }],
  );
}

/**
 * Turns a failed call to the MoR into a reply. The MoR's refusal keeps its status and code. A fault at the MoR and a
 * missing reply become 502 `mor_unavailable`. Refused credentials become 502 `mor_unauthorized`: only the operator can
 * repair them.
 * @param rename turns the MoR's name of a field into the caller's name
 */
export function morProblem(failure: CallFailure, rename: (field: string) => string = (field) => field): Problem {
  const errors = failure.errors.map((e) => ({ field: rename(e.field), message: e.message }));
  const wait = failure.retryAfterMs === null ? null : Math.ceil(failure.retryAfterMs / 1000);
  if (failure.status === 401) {
    return new Problem(502, 'mor_unauthorized', "The MoR refuses Crossbill's credentials: check its MOR_… settings.");
  }
  if (failure.status === 429) {
    return new Problem(
      429,
      failure.code ?? 'rate_limited',
      'The MoR asks for a pause: try again later.',
      errors,
      wait ?? 1,
    );
  }
  if (failure.code === UNSENT.code) return new Problem(409, failure.code, failure.message);
  if (!mayPass(failure) && failure.status !== null && failure.status >= 400 && failure.status < 500) {
    return new Problem(failure.status, failure.code ?? 'mor_refused', failure.message, errors);
  }
  return new Problem(
    502,
    'mor_unavailable',
    'The MoR gave no usable answer. Send the same request again with the same Idempotency-Key.',
    [],
    wait,
  );
}

/** Stripe did not show an invoice, so Crossbill did nothing: 502 `billing_unavailable`. */
export function invoiceUnread({ retryAfterMs }: CallFailure): Problem {
  const wait = retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000);
  return new Problem(502, 'billing_unavailable', 'Stripe did not return the invoice: try again.', [], wait);
}
