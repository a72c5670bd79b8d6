// Stands between a route and the MoR's client: checks the request, and turns a failure into a reply for the caller.
import { type CallOutcome } from '../../../shared/domain/ports/call.js';
import { type FieldError, morProblem, Problem } from './problem.js';

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly errors: readonly FieldError[] };

/**
 * Returns the request after the check. Throws 400 with the MoR's own error code if the request does not have the shape
 * from the MoR's documents.
 * @param within the field of the caller's body that contains the request for the MoR, for example `tax`; null: the
 * whole body is that request
 */
export function checkedRequest<T>(checked: Checked<T>, within: string | null = null): T {
  if (checked.ok) return checked.value;
  const errors = checked.errors.map(({ field, message }) => ({ field: fieldWithin(within, field), message }));
  const [first] = errors;
  const message = first === undefined ? 'The request is malformed.' : `${first.field}: ${first.message}`;
  throw new Problem(400, checked.code, message, errors);
}

/** The full name of an inner field: `customer` in `tax` is `tax.customer`. */
export function fieldWithin(within: string | null, field: string): string {
  if (within === null) return field;
  return field === 'body' || field === '' ? within : `${within}.${field}`;
}

/** Returns the MoR's reply. Throws the error for our caller if the MoR refused the request or gave no usable answer. */
export function answeredOrThrow<T>(outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw morProblem(outcome);
}
